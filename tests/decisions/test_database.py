import multiprocessing
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from capsieve.decisions.database import (
    METADATA,
    SCHEMA,
    Database,
    change_workflow,
    open_database,
    read_room_id,
    read_workflow,
)
from capsieve.decisions.log import load_entries
from capsieve.decisions.model import ConflictError, EntryError
from capsieve.errors import FileError
from decisions.hands import EVENT, EXAM, Hand
from support.readings import tamper


@pytest.fixture
def filled(database: Database) -> Database:
    Hand(database).decide(EVENT, "accept")
    return database


def test_opening_again_keeps_what_is_there(database: Database, place: str) -> None:
    entry = Hand(database).decide(EVENT, "accept")
    again = open_database(place)
    assert load_entries(again, EXAM) == [entry]
    again.close()


def test_many_open_a_new_database_at_once(place: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(open_database, [place] * 6))
    with opened[0].read() as connection:
        assert set(METADATA.tables) <= set(sa.inspect(connection).get_table_names())
    for database in opened:
        database.close()


def open_and_close(place: str) -> None:
    open_database(place).close()


@pytest.mark.slow
def test_two_processes_make_a_database_at_once(place: str) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(open_and_close, [place] * 4)
    database = open_database(place)
    Hand(database).decide(EVENT, "accept")
    database.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE capsieve_entries SET reader = 'eve'",
        "UPDATE capsieve_entries SET number = number + 1",
        "DELETE FROM capsieve_entries",
    ],
)
def test_rows_are_never_changed_or_removed(filled: Database, statement: str) -> None:
    with pytest.raises(FileError, match="never changed or removed"), filled.write() as connection:
        connection.exec_driver_sql(statement)
    with filled.read() as connection:
        rows = connection.exec_driver_sql("SELECT number, reader FROM capsieve_entries").all()
    assert [tuple(row) for row in rows] == [(1, "anna")]


@pytest.mark.parametrize(("number", "key"), [("number", "'other-key'"), ("number + 1", "key")])
def test_a_row_cannot_be_replaced_in_sqlite(sqlite: Database, number: str, key: str) -> None:
    Hand(sqlite).decide(EVENT, "accept")
    rest = "exam, revision, 'eve', role, screening, time, kind, content"
    statement = (
        f"INSERT OR REPLACE INTO capsieve_entries SELECT {number}, action, {key}, {rest} FROM "
        "capsieve_entries"
    )
    with pytest.raises(FileError, match="at the end, and once"), sqlite.write() as connection:
        connection.exec_driver_sql(statement)


@pytest.mark.slow
def test_the_tables_cannot_be_emptied_in_postgresql(postgresql_place: str) -> None:
    database = open_database(postgresql_place)
    Hand(database).decide(EVENT, "accept")
    with pytest.raises(FileError, match="never changed"), database.write() as connection:
        connection.exec_driver_sql("TRUNCATE capsieve_entries CASCADE")
    assert len(load_entries(database, EXAM)) == 1
    database.close()


def test_a_failed_write_leaves_nothing(database: Database) -> None:
    def fail_halfway() -> None:
        with database.write() as connection:
            connection.exec_driver_sql("INSERT INTO capsieve_about VALUES ('half', 'done')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    with database.read() as connection:
        names = connection.exec_driver_sql("SELECT name FROM capsieve_about").scalars().all()
    assert sorted(names) == ["room", "schema"]


def test_a_reader_sees_one_moment(database: Database) -> None:
    count = "SELECT count(*) FROM capsieve_entries"
    with database.read() as connection:
        before = connection.exec_driver_sql(count).scalar()
        Hand(database).decide(EVENT, "accept")
        assert connection.exec_driver_sql(count).scalar() == before == 0


@pytest.mark.parametrize("change", [1, -1])
def test_another_schema_is_refused(database: Database, place: str, change: int) -> None:
    with database.write() as connection:
        connection.exec_driver_sql(f"UPDATE capsieve_about SET value = '{SCHEMA + change}'")
    with pytest.raises(FileError, match="newer" if change > 0 else "earlier"):
        open_database(place)


@pytest.mark.parametrize("value", ["", "one", "-1", "1.0"])
def test_a_database_without_a_version_is_not_taken_for_a_new_one(
    sqlite: Database, value: str
) -> None:
    change = ("UPDATE capsieve_about SET value = ? WHERE name = 'schema'", (value,))
    tamper(Path(sqlite.where), change)
    with pytest.raises(FileError, match="version"):
        open_database(sqlite.where)


def test_the_workflow_is_fixed_once_reading_has_begun(database: Database) -> None:
    assert read_workflow(database) == "single"
    change_workflow(database, "validated")
    change_workflow(database, "blind")
    assert read_workflow(database) == "blind"
    Hand(database).decide(EVENT, "accept")
    change_workflow(database, "blind")
    with pytest.raises(ConflictError, match="there are decisions"):
        change_workflow(database, "single")
    with pytest.raises(EntryError, match="no workflow"):
        change_workflow(database, "alone")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("stored", ["", "free", "{}"])
def test_a_workflow_that_cannot_be_read_shows_nothing(sqlite: Database, stored: str) -> None:
    change_workflow(sqlite, "blind")
    change = ("UPDATE capsieve_about SET value = ? WHERE name = 'workflow'", (stored,))
    tamper(Path(sqlite.where), change)
    with pytest.raises(FileError, match="workflow"):
        read_workflow(sqlite)


def test_a_room_keeps_its_name_and_shares_it_with_no_other(
    database: Database, place: str, tmp_path: Path
) -> None:
    again, other = open_database(place), open_database(tmp_path / "other.sqlite")
    assert read_room_id(again) == read_room_id(database) != read_room_id(other)
    again.close()
    other.close()


def test_sqlite_writes_ahead_and_through(sqlite: Database) -> None:
    with sqlite.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
        assert (connection.exec_driver_sql("PRAGMA busy_timeout").scalar() or 0) >= 1000


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, and no database\n" * 100)
    with pytest.raises(FileError, match="not a database"):
        open_database(path)


def test_a_table_of_other_people_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE entries (number INTEGER)")
    other.commit()
    open_database(path).close()
    assert other.execute("SELECT count(*) FROM entries").fetchone() == (0,)
    other.close()


@pytest.mark.parametrize(
    ("place", "word"),
    [
        ("{}", "is a folder"),
        ("{}/none/a.sqlite", "no folder"),
        ("sqlite://", "name of a file"),
        ("mysql://host/name", "SQLite or PostgreSQL"),
        ("postgresql://u:secret@host:port/name", "cannot be read"),
    ],
)
def test_a_place_that_will_not_do(tmp_path: Path, place: str, word: str) -> None:
    with pytest.raises(FileError, match=word) as raised:
        open_database(place.format(tmp_path))
    assert "secret" not in str(raised.value)


@pytest.mark.slow
def test_a_password_is_not_told(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(FileError) as raised:
        open_database(f"postgresql://user:secret@/name?host={tmp_path}")
    assert "secret" not in str(raised.value)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="cannot"):
        open_database(tmp_path / "a.sqlite")
