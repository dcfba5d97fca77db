import multiprocessing
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from capsieve.errors import FileError
from capsieve.review.decisions.database import Database, open_database
from capsieve.review.decisions.log import load_entries
from capsieve.review.decisions.room import read_room_id
from capsieve.review.decisions.schema import METADATA, SCHEMA
from capsieve.review.decisions.seen import add_seen
from review.decisions.made_entries import EXAM, Hand

TABLES = ["capsieve_entries", "capsieve_seen"]


@pytest.fixture
def filled(database: Database) -> Database:
    hand = Hand(database)
    hand.say("event:0:1-5", "accept")
    add_seen(database, **hand.who, key="seen-0001", head=0, frames=[[1, 40]])
    return database


def test_opening_again_keeps_what_is_there(database: Database, place: str) -> None:
    entry = Hand(database).say("event:0:1-5", "accept")
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
    Hand(database).say("event:0:1-5", "accept")
    database.close()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET reader = 'eve'",
        "UPDATE {table} SET number = number + 1",
        "DELETE FROM {table}",
    ],
)
def test_rows_are_never_changed_or_removed(filled: Database, table: str, statement: str) -> None:
    with pytest.raises(FileError, match="never changed or removed"), filled.write() as connection:
        connection.exec_driver_sql(statement.format(table=table))
    with filled.read() as connection:
        rows = connection.exec_driver_sql(f"SELECT number, reader FROM {table}").all()
    assert [tuple(row) for row in rows] == [(1, "anna")]


@pytest.mark.parametrize("table", TABLES)
def test_a_row_cannot_be_replaced_in_sqlite(sqlite: Database, table: str) -> None:
    hand = Hand(sqlite)
    hand.say("event:0:1-5", "accept")
    add_seen(sqlite, **hand.who, key="seen-0001", head=0, frames=[[1, 40]])
    rest = "version, 'eve', role, time, kind, subject, content, undoes"
    if table == "capsieve_seen":
        rest = "version, 'eve', role, time, head, frames"
    for number, key in (("number", "'other-key'"), ("number + 1", "key")):
        statement = f"INSERT OR REPLACE INTO {table} SELECT {number}, {key}, exam, {rest} FROM "
        with pytest.raises(FileError, match="at the end, and once"), sqlite.write() as connection:
            connection.exec_driver_sql(f"{statement} {table}")


@pytest.mark.slow
def test_the_tables_cannot_be_emptied_in_postgresql(postgresql_place: str) -> None:
    database = open_database(postgresql_place)
    Hand(database).say("event:0:1-5", "accept")
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
        Hand(database).say("event:0:1-5", "accept")
        assert connection.exec_driver_sql(count).scalar() == before == 0


def test_a_newer_schema_is_refused(database: Database, place: str) -> None:
    with database.write() as connection:
        connection.exec_driver_sql(f"UPDATE capsieve_about SET value = '{SCHEMA + 1}'")
    with pytest.raises(FileError, match="newer version of capsieve; update"):
        open_database(place)


def test_an_earlier_database_gets_what_came_later(database: Database, place: str) -> None:
    entry = Hand(database).say("event:0:1-5", "accept")
    with database.write() as connection:
        connection.exec_driver_sql("DROP TABLE capsieve_screenings")
        connection.exec_driver_sql("DELETE FROM capsieve_about WHERE name = 'room'")
    again = open_database(place)
    assert load_entries(again, EXAM) == [entry]
    assert read_room_id(again)
    Hand(again).say("event:0:1-5", "reject")
    with (
        pytest.raises(FileError, match="never changed or removed"),
        again.write() as connection,
    ):
        connection.exec_driver_sql("DELETE FROM capsieve_screenings")
    again.close()


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
