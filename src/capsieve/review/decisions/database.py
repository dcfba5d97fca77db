"""Where decisions are kept: a file of SQLite, or a centre's PostgreSQL."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsieve.errors import FileError, MissingExtraError
from capsieve.review.decisions.refusals import UnreachableError
from capsieve.review.decisions.schema import (
    ENTRIES,
    SCHEMA,
    create_missing,
    is_complete,
    stored_schema,
)
from capsieve.review.decisions.sql import event, exc, sa

__all__ = ["Database", "open_database"]

_WAIT_S = 10.0  # for another writer; a write takes milliseconds
_WRITES = "capsieve_writes"
_SETUP_LOCK = 7_316_518_294  # any number that no other program uses for its lock
_ONE_WRITER = (
    f"LOCK TABLE {ENTRIES.name} IN SHARE ROW EXCLUSIVE MODE",
    # What is acknowledged must be on the disk, whatever the server does for others.
    "SELECT set_config('synchronous_commit', 'on', true) "
    "WHERE current_setting('synchronous_commit') = 'off'",
)


@dataclass(frozen=True, slots=True)
class Database:
    """An open database of decisions; threads may share it.

    Attributes
    ----------
    engine
        SQLAlchemy's.
    where
        The file or the address, without a password, for messages.
    """

    engine: sa.Engine
    where: str

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Yield a connection that sees the database as it was at one moment.

        Raises
        ------
        UnreachableError
            The database cannot be read.
        """
        with _told(self.where), self.engine.connect() as connection:
            if self.engine.dialect.name == "postgresql":
                connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with connection.begin():
                yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Yield a connection of the only writer; what it wrote is on the disk afterwards.

        One lock over all tables is taken before anything is read, and held until the commit can
        be seen by others. So numbers appear in their order: without it, PostgreSQL could show
        entry 8 before entry 7, and who asks for what came after 8 would never see 7.

        Raises
        ------
        UnreachableError
            The database cannot be written, or is busy for too long.
        """
        with _told(self.where), self.engine.connect() as connection:
            if self.engine.dialect.name == "postgresql":
                # Each statement sees what was committed before it: also what was, while this
                # one waited for the lock.
                connection.execution_options(isolation_level="READ COMMITTED")
            connection.execution_options(**{_WRITES: True})
            with connection.begin():
                if self.engine.dialect.name == "postgresql":
                    _limit_waiting(connection)
                    for statement in _ONE_WRITER:
                        connection.exec_driver_sql(statement)
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def open_database(place: str | os.PathLike[str]) -> Database:
    """Open a database of decisions; make it where there is none.

    One of an earlier version gets the tables that came later.

    Parameters
    ----------
    place
        A file for SQLite, or an address as SQLAlchemy has them: postgresql://user@host/name.

    Raises
    ------
    FileError
        It cannot be opened, is no database, or was written by a newer version.
    MissingExtraError
        The driver for PostgreSQL is not installed.
    """
    url = _url(place)
    if url.get_backend_name() == "sqlite":
        database = _sqlite(url)
    elif url.get_backend_name() == "postgresql":
        database = _postgresql(url)
    else:
        raise FileError(
            f"decisions are kept in SQLite or PostgreSQL, not in {url.get_backend_name()}; "
            "give a file or an address postgresql://..."
        )
    try:
        _set_up(database)
    except BaseException:
        database.close()
        raise
    return database


def _url(place: str | os.PathLike[str]) -> sa.URL:
    text = os.fspath(place)
    if "://" not in text:
        return sa.URL.create("sqlite", database=text)
    try:
        return sa.make_url(text)
    except (exc.ArgumentError, ValueError):  # its message would repeat a password
        raise FileError(
            "the address of the database cannot be read; give postgresql://user@host/name"
        ) from None


def _sqlite(url: sa.URL) -> Database:
    if not url.database or url.database == ":memory:":
        raise FileError("decisions must outlive the program; give the name of a file")
    path = Path(url.database)
    if path.is_dir():
        raise FileError(f"cannot keep decisions in {path}: it is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise FileError(f"cannot keep decisions in {path}: there is no folder {path.parent}")
    # "timeout" is how long SQLite waits for another writer.
    engine = sa.create_engine(url, connect_args={"timeout": _WAIT_S}, pool_size=5, max_overflow=100)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions begin where they are said to, below
        # Text that is no UTF-8 is one row's problem, and no reason to show none.
        connection.text_factory = lambda stored: stored.decode("utf-8", "surrogateescape")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    database = Database(engine, str(path))
    try:
        with _told(database.where):
            _write_ahead(database)
    except BaseException:
        database.close()
        raise
    return database


def _write_ahead(database: Database) -> None:
    """Let readers and the writer work at the same time."""
    driver = database.engine.dialect.loaded_dbapi
    end = time.monotonic() + _WAIT_S
    while True:
        try:
            mode = _ask_for_wal(database.engine)
            break
        except driver.Error as error:
            # Two programs that make the file at once: here SQLite does not wait by itself.
            if "locked" not in str(error) or time.monotonic() > end:
                raise FileError(f"cannot keep decisions in {database.where}: {error}") from error
            time.sleep(0.02)
    if mode != "wal":
        raise FileError(
            f"cannot keep decisions in {database.where}: this disk has no write-ahead log; "
            "use a disk of this machine, or PostgreSQL"
        )


def _ask_for_wal(engine: sa.Engine) -> str:
    connection = engine.raw_connection()  # the mode cannot change within a transaction
    try:
        return connection.cursor().execute("PRAGMA journal_mode = WAL").fetchone()[0]
    finally:
        connection.close()


def _postgresql(url: sa.URL) -> Database:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "PostgreSQL needs the package psycopg; pip install 'capsieve[postgresql]'"
        ) from None
    url = url.set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, pool_pre_ping=True, pool_size=5, max_overflow=20)
    return Database(engine, url.set(drivername="postgresql").render_as_string(hide_password=True))


def _limit_waiting(connection: sa.Connection) -> None:
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(_WAIT_S * 1000)}")


def _set_up(database: Database) -> None:
    with database.read() as connection:
        found = stored_schema(connection)
        complete = found is not None and (found > SCHEMA or is_complete(connection))
    if found is None or not complete:
        found = _create(database)
    if found > SCHEMA:
        raise FileError(
            f"the decisions in {database.where} were written by a newer version of capsieve; "
            "update this one"
        )


def _create(database: Database) -> int:
    """Create what is missing, unless somebody else did meanwhile; return the tables' version."""
    with _told(database.where), database.engine.connect() as connection:
        connection.execution_options(**{_WRITES: True})
        with connection.begin():
            if database.engine.dialect.name == "postgresql":
                _limit_waiting(connection)
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_SETUP_LOCK})")
            found = stored_schema(connection)
            if found is None or found <= SCHEMA:
                create_missing(connection)
            return found or SCHEMA


@contextmanager
def _told(where: str) -> Iterator[None]:
    """Turn an error of the database into one sentence."""
    try:
        yield
    except exc.DBAPIError as error:
        # The driver's own words: SQLAlchemy's would repeat what was to be written.
        reason = str(error.orig).strip().splitlines()[0]
        if "locked" in reason or "lock timeout" in reason:
            reason = "another program keeps it busy; try again"
        raise UnreachableError(f"cannot use the decisions in {where}: {reason}") from error
    except exc.SQLAlchemyError as error:
        reason = str(error).splitlines()[0]
        raise UnreachableError(f"cannot use the decisions in {where}: {reason}") from error
