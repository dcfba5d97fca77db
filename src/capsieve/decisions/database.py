"""The database of decisions: a SQLite file or PostgreSQL, with SQLAlchemy Core.

Entries are append-only: triggers refuse every change. They are numbered under one lock, without
gaps and in the order of the commits: a program that has entry n and asks for later ones misses
none.
"""

import os
import re
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from capsieve.decisions.model import ConflictError, EntryError, UnreachableError
from capsieve.decisions.roles import WORKFLOWS, Workflow, is_address
from capsieve.errors import FileError, MissingExtraError

try:
    import sqlalchemy as sa
    from sqlalchemy import event, exc
except ImportError:
    raise MissingExtraError(
        "the decisions of readers need the package sqlalchemy; pip install 'capsieve[review]'"
    ) from None

SCHEMA = 2
"""Version of the tables."""

METADATA = sa.MetaData()

# In SQLite only a plain INTEGER key is the row's own number; PostgreSQL needs the long type.
_LONG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

ABOUT = sa.Table(
    "capsieve_about",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
"""Version of the tables ("schema"), random id ("room") and workflow."""

ENTRIES = sa.Table(
    "capsieve_entries",
    METADATA,
    sa.Column("number", _LONG, primary_key=True, autoincrement=False),
    sa.Column("action", _LONG, nullable=False),  # number of its first entry
    sa.Column("key", sa.Text, nullable=False, unique=True),  # of the action; KEY/2 for its second
    sa.Column("exam", sa.Text, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("reader", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("screening", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("content", sa.Text, nullable=False),  # signatures are over these bytes
    sa.Index("capsieve_entries_exam", "exam", "number"),
    sa.Index("capsieve_entries_kind", "exam", "kind"),
    sa.Index("capsieve_entries_action", "action"),
)
"""One row per entry, in the columns of :data:`capsieve.decisions.model.COLUMNS`."""

VIEWED = sa.Table(
    "capsieve_viewed",
    METADATA,
    sa.Column("exam", sa.Text, primary_key=True),
    sa.Column("reader", sa.Text, primary_key=True),
    sa.Column("role", sa.Text, primary_key=True),
    sa.Column("screening", sa.Text, primary_key=True),
    sa.Column("head", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("frames", sa.Integer, nullable=False),
    sa.Column("displayed", sa.LargeBinary, nullable=False),
    sa.Column("viewed", sa.LargeBinary, nullable=False),
)
"""Bitmaps of the frames that a reader was shown; they grow, and signatures have copies."""

_WAIT_S = 10.0  # for another writer; a write takes milliseconds
_WRITES = "capsieve_writes"
_SETUP_LOCK = 7_316_518_294  # any number that no other program uses for its lock
_ONE_WRITER = (
    f"LOCK TABLE {ENTRIES.name} IN SHARE ROW EXCLUSIVE MODE",
    # Acknowledged entries must be on the disk, also if the server relaxes this for others.
    "SELECT set_config('synchronous_commit', 'on', true) "
    "WHERE current_setting('synchronous_commit') = 'off'",
)
_BUSY = "another program keeps it busy; try again"


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
    _writer: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_postgresql(self) -> bool:
        """Whether it is a PostgreSQL server."""
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Yield a connection that sees the database at one moment.

        Raises
        ------
        UnreachableError
            The database cannot be read.
        """
        with _one_sentence(self.where), self.engine.connect() as connection:
            if self.is_postgresql:
                connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with connection.begin():
                yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Yield a connection of the only writer; its rows are on the disk afterwards.

        The threads of this process wait for each other first: SQLite's own waiting polls, and
        keeps some of them waiting for seconds. The database's lock is taken before anything is
        read and released by the commit, so entries become visible in the order of their numbers.

        Raises
        ------
        UnreachableError
            The database cannot be written, or is busy for too long.
        """
        if not self._writer.acquire(timeout=_WAIT_S):
            raise UnreachableError(f"cannot use the decisions in {self.where}: {_BUSY}")
        try:
            with _one_sentence(self.where), self.engine.connect() as connection:
                if self.is_postgresql:
                    # Each statement sees rows that were committed during the wait for the lock.
                    connection.execution_options(isolation_level="READ COMMITTED")
                connection.execution_options(**{_WRITES: True})
                with connection.begin():
                    if self.is_postgresql:
                        _limit_waiting(connection)
                        for statement in _ONE_WRITER:
                            connection.exec_driver_sql(statement)
                    yield connection
        finally:
            self._writer.release()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def open_database(place: str | os.PathLike[str]) -> Database:
    """Open a database of decisions; create it if there is none.

    Parameters
    ----------
    place
        A file for SQLite, or an address as SQLAlchemy has them: postgresql://user@host/name.

    Raises
    ------
    FileError
        It cannot be opened, is not a database, or was written by another version.
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
            f"decisions are stored in SQLite or PostgreSQL, not in {url.get_backend_name()}; "
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
    if not is_address(text):
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
        raise FileError(
            f"cannot store decisions in {path}: it is a folder; give the name of a file"
        )
    if not path.parent.is_dir():
        raise FileError(f"cannot store decisions in {path}: there is no folder {path.parent}")
    # "timeout" is how long SQLite waits for another process.
    engine = sa.create_engine(url, connect_args={"timeout": _WAIT_S}, pool_size=5, max_overflow=100)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # `_begin` starts transactions
        # Text that is not UTF-8 is one row's problem, and no reason to show none.
        connection.text_factory = lambda stored: stored.decode("utf-8", "surrogateescape")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    database = Database(engine, str(path))
    try:
        with _one_sentence(database.where):
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
        connection = None
        try:
            connection = database.engine.raw_connection()  # not possible within a transaction
            mode = connection.cursor().execute("PRAGMA journal_mode = WAL").fetchone()[0]
            break
        except driver.Error as error:
            # If two programs create the file at the same time, SQLite does not wait here.
            if "locked" not in str(error) or time.monotonic() > end:
                raise FileError(f"cannot store decisions in {database.where}: {error}") from error
            time.sleep(0.02)
        finally:
            if connection is not None:
                connection.close()
    if mode != "wal":
        raise FileError(
            f"cannot store decisions in {database.where}: this disk has no write-ahead log; "
            "use a local disk, or PostgreSQL"
        )


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
        found = _stored_schema(connection)
    if found is None:
        found = _create(database)
    if found != SCHEMA:
        newer = found > SCHEMA
        raise FileError(
            f"the decisions in {database.where} were written by "
            f"{'a newer' if newer else 'an earlier'} version of capsieve; "
            f"{'update this one' if newer else 'read them with that version'}"
        )


def _create(database: Database) -> int:
    """Create the tables, unless another program did meanwhile; return their version."""
    with _one_sentence(database.where), database.engine.connect() as connection:
        connection.execution_options(**{_WRITES: True})
        with connection.begin():
            if database.is_postgresql:
                _limit_waiting(connection)
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_SETUP_LOCK})")
            found = _stored_schema(connection)
            if found is None:
                METADATA.create_all(connection)
                for statement in _postgresql_triggers() if database.is_postgresql else _TRIGGERS:
                    connection.exec_driver_sql(statement)
                about = {"schema": str(SCHEMA), "room": secrets.token_hex(16)}
                rows = [{"name": name, "value": value} for name, value in about.items()]
                connection.execute(ABOUT.insert(), rows)
            return found or SCHEMA


def _stored_schema(connection: sa.Connection) -> int | None:
    """Return the version of the tables in a database; None if there are none."""
    if not sa.inspect(connection).has_table(ABOUT.name):
        return None
    value = _about(connection, "schema")
    if not isinstance(value, str) or not re.fullmatch("[1-9][0-9]{0,5}", value):
        raise FileError("the version of the decisions in the database is missing; restore a backup")
    return int(value)


_TRIGGERS = [
    *(
        f"CREATE TRIGGER {ENTRIES.name}_{action.lower()} BEFORE {action} ON {ENTRIES.name} BEGIN "
        f"SELECT RAISE(ABORT, 'rows of {ENTRIES.name} are never changed or removed'); END"
        for action in ("UPDATE", "DELETE")
    ),
    # INSERT OR REPLACE removes a row without asking the triggers above.
    f"CREATE TRIGGER {ENTRIES.name}_insert BEFORE INSERT ON {ENTRIES.name} WHEN NEW.number IS NOT "
    f"(SELECT coalesce(max(number), 0) + 1 FROM {ENTRIES.name}) "
    f"OR EXISTS (SELECT 1 FROM {ENTRIES.name} WHERE key = NEW.key) BEGIN "
    f"SELECT RAISE(ABORT, 'rows of {ENTRIES.name} are added at the end, and once'); END",
]


def _postgresql_triggers() -> list[str]:
    name = ENTRIES.name
    return [
        "CREATE OR REPLACE FUNCTION capsieve_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN RAISE EXCEPTION USING MESSAGE = "
        "'rows of ' || TG_TABLE_NAME || ' are never changed or removed'; END $$",
        f"CREATE TRIGGER {name}_rows BEFORE UPDATE OR DELETE ON {name} "
        "FOR EACH ROW EXECUTE FUNCTION capsieve_refuse()",
        f"CREATE TRIGGER {name}_whole BEFORE TRUNCATE ON {name} "
        "FOR EACH STATEMENT EXECUTE FUNCTION capsieve_refuse()",
    ]


def _about(connection: sa.Connection, name: str) -> str | None:
    return connection.scalar(sa.select(ABOUT.c.value).where(ABOUT.c.name == name))


def read_room_id(database: Database) -> str:
    """Return a random text, made with the database: equal for all servers that use it.

    Raises
    ------
    UnreachableError
        It cannot be read.
    """
    with database.read() as connection:
        found = _about(connection, "room")
    if not found:
        raise UnreachableError("the database has lost its identity; restore a backup")
    return found


def read_workflow(database: Database) -> Workflow:
    """Return the workflow; "single" if none was chosen.

    Raises
    ------
    UnreachableError
        It cannot be read.
    """
    with database.read() as connection:
        return workflow_in(connection)


def workflow_in(connection: sa.Connection) -> Workflow:
    """Return the workflow, within a transaction.

    Raises
    ------
    UnreachableError
        It cannot be read. Who may see the entries is unknown, so none are shown.
    """
    stored = _about(connection, "workflow")
    if stored is not None and stored not in WORKFLOWS:
        raise UnreachableError(
            "the workflow cannot be read from the database; update capsieve, or restore a backup"
        )
    return cast(Workflow, stored or "single")


def change_workflow(database: Database, workflow: Workflow) -> None:
    """Store the workflow.

    Raises
    ------
    EntryError
        There is no such workflow.
    ConflictError
        There are entries; another workflow would show them to other readers.
    """
    if workflow not in WORKFLOWS:
        raise EntryError(f"there is no workflow {workflow!r}; choose one of {', '.join(WORKFLOWS)}")
    with database.write() as connection:
        now = workflow_in(connection)
        if now == workflow:
            return
        if connection.scalar(sa.select(ENTRIES.c.number).limit(1)) is not None:
            raise ConflictError(
                f"the workflow is {now}, and there are decisions; keep it, or use a new database"
            )
        connection.execute(ABOUT.delete().where(ABOUT.c.name == "workflow"))
        connection.execute(ABOUT.insert().values(name="workflow", value=workflow))


@contextmanager
def _one_sentence(where: str) -> Iterator[None]:
    """Turn errors of the database into messages."""
    try:
        yield
    except exc.DBAPIError as error:
        # The driver's own message: SQLAlchemy's would repeat the values of the statement.
        reason = str(error.orig).strip().splitlines()[0]
        if "locked" in reason or "lock timeout" in reason:
            reason = _BUSY
        raise UnreachableError(f"cannot use the decisions in {where}: {reason}") from error
    except exc.SQLAlchemyError as error:
        reason = str(error).splitlines()[0]
        raise UnreachableError(f"cannot use the decisions in {where}: {reason}") from error
