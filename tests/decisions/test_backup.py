"""One portable file of all decisions, and the way back."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from capsieve.decisions.backup import backup, restore
from capsieve.decisions.database import Database, open_database, read_room_id, read_workflow
from capsieve.decisions.log import load_entries
from capsieve.decisions.signing import check_signatures
from capsieve.decisions.viewed import count_frames, load_viewed
from capsieve.errors import FileError, OccupiedError
from decisions.hands import EVENT, EXAM, IDENTITY, OTHER, Hand, decision
from support.readings import polyp, tamper


def fill(database: Database) -> None:
    hand = Hand(database)
    hand.act(polyp("f1", 2, note="Größe"), decision(EVENT, "accept", finding="finding:f1"))
    hand.see(1, 2, viewed=(2,))
    hand.sign()


def assert_same(one: Database, other: Database) -> None:
    assert load_entries(one, EXAM) == load_entries(other, EXAM)
    assert list(check_signatures(other, EXAM, identity=IDENTITY).values()) == [()]
    assert read_room_id(one) == read_room_id(other)
    assert read_workflow(one) == read_workflow(other)
    assert count_frames(load_viewed(other, EXAM, "screening-1")) == (2, 1)


@pytest.fixture
def copied(database: Database, place: str, tmp_path: Path) -> Path:
    """The backup of a database of either kind, made while it is open."""
    fill(database)
    found = backup(place, tmp_path / "decisions.backup")
    assert (found.entries, found.exams, found.viewed) == (3, 1, 1)
    return tmp_path / "decisions.backup"


def test_a_backup_is_one_file_and_restores_into_sqlite(
    database: Database, copied: Path, tmp_path: Path
) -> None:
    assert not list(tmp_path.glob("decisions.backup-*"))
    place = tmp_path / "restored.sqlite"
    assert restore(copied, str(place)).entries == 3
    again = open_database(place)
    assert_same(database, again)
    again.close()
    hand_on = open_database(place)
    Hand(hand_on).reopen()  # the triggers and numbers go on
    assert load_entries(hand_on, EXAM)[-1].number == 4
    with pytest.raises(FileError, match="never changed"), hand_on.write() as connection:
        connection.exec_driver_sql("DELETE FROM capsieve_entries")
    hand_on.close()


@pytest.mark.slow
def test_a_backup_restores_into_postgresql(
    copied: Path, database: Database, new_postgresql: Callable[[], str]
) -> None:
    place = new_postgresql()
    assert restore(copied, place).entries == 3
    again = open_database(place)
    assert_same(database, again)
    assert Hand(again).reopen().number == 4
    again.close()


def test_a_backup_has_what_is_still_in_the_write_ahead_log(tmp_path: Path) -> None:
    place = str(tmp_path / "decisions.sqlite")
    database = open_database(place)
    fill(database)
    assert Path(f"{place}-wal").stat().st_size > Path(place).stat().st_size
    backup(place, tmp_path / "copy")
    with closing(sqlite3.connect(tmp_path / "copy")) as copy:
        assert copy.execute("SELECT count(*) FROM capsieve_entries").fetchone() == (3,)
        assert copy.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    database.close()


def test_a_backup_during_writing_has_whole_actions(tmp_path: Path) -> None:
    place = str(tmp_path / "decisions.sqlite")
    database = open_database(place)
    hand, stop = Hand(database), threading.Event()

    def write() -> None:
        while not stop.is_set():
            hand.act(polyp("f1", 2), decision(EVENT, "accept", finding="finding:f1"))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        counts = [backup(place, tmp_path / f"copy-{k}").entries for k in range(4)]
    finally:
        stop.set()
        writer.join()
    database.close()
    assert all(count % 2 == 0 for count in counts)
    assert counts == sorted(counts)


def test_damaged_rows_are_copied_as_they_are(tmp_path: Path) -> None:
    place = tmp_path / "decisions.sqlite"
    database = open_database(place)
    fill(database)
    database.close()
    tamper(place, "UPDATE capsieve_entries SET content = CAST(x'ff' AS TEXT) WHERE number = 1")
    assert backup(str(place), tmp_path / "copy").entries == 3
    restored = tmp_path / "restored.sqlite"
    with pytest.raises(FileError, match="cannot"):
        restore(tmp_path / "copy", str(restored))


def test_a_database_with_entries_is_not_replaced(copied: Path, tmp_path: Path) -> None:
    place = str(tmp_path / "other.sqlite")
    other = open_database(place)
    Hand(other).decide(OTHER, "reject")
    with pytest.raises(OccupiedError, match="has entries"):
        restore(copied, place)
    assert len(load_entries(other, EXAM)) == 1
    other.close()


def test_nothing_is_overwritten_or_invented(tmp_path: Path) -> None:
    place = str(tmp_path / "decisions.sqlite")
    with pytest.raises(FileError, match="no such file"):
        backup(place, tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []
    open_database(place).close()
    (tmp_path / "copy").write_text("mine")
    with pytest.raises(OccupiedError, match="exists"):
        backup(place, tmp_path / "copy")
    assert (tmp_path / "copy").read_text() == "mine"
    for name in ("copy", "absent"):
        with pytest.raises(FileError):
            restore(tmp_path / name, str(tmp_path / "restored.sqlite"))
    assert not (tmp_path / "restored.sqlite").exists()
