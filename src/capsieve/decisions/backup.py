"""One portable file of all decisions, written while the app is running, and its restoration.

The file is a SQLite database with the same tables. It can be restored into SQLite or PostgreSQL.
Copying decisions.sqlite alone would lose its write-ahead log.
"""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsieve.decisions.database import (
    ABOUT,
    ENTRIES,
    SCHEMA,
    VIEWED,
    Database,
    exc,
    open_database,
    sa,
)
from capsieve.decisions.roles import is_address
from capsieve.errors import FileError, OccupiedError, file_errors
from capsieve.user_files import PathLike

_TABLES = (ABOUT, ENTRIES, VIEWED)


@dataclass(frozen=True, slots=True)
class Copied:
    """The number of copied entries, exams with entries, and rows of displayed frames."""

    entries: int
    exams: int
    viewed: int


def backup(place: str, file: PathLike) -> Copied:
    """Copy all decisions into one new file, and check the copy; the app may be running.

    Parameters
    ----------
    place
        The database: a file, or an address postgresql://user@host/name.
    file
        The file to write; it must not exist.

    Raises
    ------
    FileError
        The database cannot be read, the file exists or cannot be written, or the copy differs.
    """
    target = Path(file)
    _refuse_existing(target)
    if not is_address(place) and not Path(place).is_file():
        raise FileError(f"there are no decisions in {place}: no such file")
    database = open_database(place)
    try:
        with _new_file(target) as path:
            if database.is_postgresql:
                open_database(path).close()  # with its tables and triggers
                with database.read() as source, _opened(str(path)) as copy:
                    _copy_rows(source, copy)
                _as_one_file(path)
            else:
                _copy_file(Path(database.where), path)
            return _checked(path)
    finally:
        database.close()


def restore(file: PathLike, place: str) -> Copied:
    """Copy the decisions of a backup into a database without entries.

    Parameters
    ----------
    file
        From :func:`backup`.
    place
        A file that is created, or an address postgresql://user@host/name.

    Raises
    ------
    FileError
        The file is not a backup, or the database cannot be written.
    OccupiedError
        The database has entries.
    """
    source = Path(file)
    if not source.is_file():
        raise FileError(f"there is no file {source}; give one that capsieve backup wrote")
    expected = _checked(source)
    with _opened(place) as target:
        with target.read() as connection:
            if connection.scalar(sa.select(sa.func.count()).select_from(ENTRIES)):
                raise OccupiedError(
                    f"the database {target.where} has entries of readers; restore into a new one"
                )
        engine = sa.create_engine(sa.URL.create("sqlite", database=str(source)))
        try:
            with engine.connect() as connection:
                _copy_rows(connection, target)
        except (exc.SQLAlchemyError, UnicodeError) as error:
            reason = str(error).splitlines()[0]
            raise FileError(f"cannot restore {source}: {reason}") from error
        finally:
            engine.dispose()
        with target.read() as connection:
            found = _counted(connection)
    if found != expected:
        raise FileError(f"{place} has {found} after restoring {expected} from {source}")
    return expected


def _refuse_existing(target: Path) -> None:
    if target.exists():
        raise OccupiedError(f"{target} exists; give a new file, or delete it")


@contextmanager
def _opened(place: str) -> Iterator[Database]:
    database = open_database(place)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def _new_file(target: Path) -> Iterator[Path]:
    """Yield a file that gets its name when it is complete."""
    with file_errors("write", target, "choose another folder"):
        folder = tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-")
    with folder as name:
        path = Path(name) / target.name
        yield path
        with file_errors("write", target), open(path, "rb") as copy:
            os.fsync(copy.fileno())
        _refuse_existing(target)  # created meanwhile
        with file_errors("write", target):
            path.replace(target)


def _copy_file(source: Path, target: Path) -> None:
    """Copy the state of a SQLite database at one moment, damaged rows included."""
    try:
        with (
            closing(sqlite3.connect(source)) as original,
            closing(sqlite3.connect(target)) as copy,
        ):
            original.backup(copy)
        _as_one_file(target)
    except sqlite3.Error as error:
        raise FileError(f"cannot copy the decisions in {source}: {error}") from error


def _as_one_file(path: Path) -> None:
    """End the write-ahead log: the database is one file."""
    with closing(sqlite3.connect(path)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")


def _copy_rows(source: sa.Connection, target: Database) -> None:
    """Copy all rows into a database without entries, in one transaction."""
    with target.write() as connection:
        connection.execute(ABOUT.delete())
        connection.execute(VIEWED.delete())
        for table in _TABLES:
            query = sa.select(table).order_by(*table.primary_key.columns)
            for row in source.execute(query):  # one by one: a trigger looks at the rows before
                connection.execute(table.insert().values(dict(row._mapping)))


def _checked(path: Path) -> Copied:
    """Return what a backup contains, after checking that it is whole."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as copy:
            problem = copy.execute("PRAGMA integrity_check").fetchone()[0]
            if problem != "ok":
                raise FileError(f"{path} is damaged: {problem}")
            schema = copy.execute(
                f"SELECT value FROM {ABOUT.name} WHERE name = 'schema'"
            ).fetchone()
    except sqlite3.Error as error:
        raise FileError(f"{path} is not a backup of decisions: {error}") from error
    if schema is None or schema[0] != str(SCHEMA):
        raise FileError(
            f"{path} was written by another version of capsieve; restore it with that version"
        )
    engine = sa.create_engine(sa.URL.create("sqlite", database=str(path)))
    try:
        with engine.connect() as connection:
            return _counted(connection)
    finally:
        engine.dispose()


def _counted(connection: sa.Connection) -> Copied:
    def count(what: Any) -> int:
        return connection.scalar(sa.select(what)) or 0

    return Copied(
        entries=count(sa.func.count(ENTRIES.c.number)),
        exams=count(sa.func.count(sa.distinct(ENTRIES.c.exam))),
        viewed=count(sa.func.count(VIEWED.c.exam)),
    )
