"""Running sums say what the whole ledger says, whoever wrote it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from capsieve.review.decisions import seen_sums
from capsieve.review.decisions.database import Database, open_database
from capsieve.review.decisions.room import Room, change_room
from capsieve.review.decisions.seen import (
    add_seen,
    add_up,
    batch_of,
    batches_of,
    count_seen,
    load_seen,
    own_seen,
    parsed_batches,
    seen_array,
    seen_rows,
    unreadable_batches,
)
from capsieve.review.decisions.seen_sums import SeenSums
from capsieve.review.way import Way
from review.decisions.made_entries import EXAM, tamper

FRAMES = {0: 12, 1: 6}


@pytest.fixture
def other(place: str, database: Database) -> Iterator[Database]:
    """The same database, as another server has it open."""
    opened = open_database(place)
    yield opened
    opened.close()


def add(database: Database, number: int, frames: Any, **who: Any) -> None:
    said = {"exam": EXAM, "reader": "anna", "role": "reader", "head": 0} | who
    add_seen(database, key=f"batch-{number:04}", frames=frames, **said)


def agree(sums: SeenSums, database: Database, way: Way, reader: str, role: str = "reader") -> None:
    batches = load_seen(database, EXAM)
    own = own_seen(batches, way=way, reader=reader, role=role)
    found = sums.looked_at(EXAM, way=way, reader=reader, role=role)
    assert found == (count_seen(add_up(own)), unreadable_batches(own))
    total = add_up(each for each in batches if (each.reader, each.role) == (reader, role))
    arrays = sums.milliseconds(EXAM, reader=reader, role=role, frames_by_head=FRAMES)
    assert arrays.keys() == FRAMES.keys()
    for head, frames in FRAMES.items():
        np.testing.assert_array_equal(arrays[head], seen_array(total.get(head, {}), frames))


def test_sums_follow_what_other_servers_write(database: Database, other: Database) -> None:
    sums = SeenSums(database)
    agree(sums, database, "single", "anna")
    for number in range(12):
        add(
            other if number % 2 else database,
            number,
            [[number, 40.125 + number], [3, 7.3], [11, 0]],
            reader="ben" if number % 3 else "anna",
            head=number % 2,
            exam="exam-2" if number == 5 else EXAM,
        )
        agree(sums, database, "single", "anna")
        agree(sums, database, "single", "ben")


def test_blind_readers_have_sums_of_their_own(sqlite: Database) -> None:
    change_room(sqlite, Room("blind"), reader="anna")
    sums = SeenSums(sqlite)
    for number, reader in enumerate(["anna", "ben", "ben"]):
        add(sqlite, number, [[number, 40]], reader=reader)
    for reader in ("anna", "ben", "carl"):
        agree(sums, sqlite, "blind", reader)
    assert sums.looked_at(EXAM, way="blind", reader="ben", role="reader").frames == 2


def test_only_what_is_new_is_parsed(sqlite: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    monkeypatch.setattr(
        seen_sums, "batch_of", lambda row: (parsed.append(row[0]), batch_of(row))[1]
    )
    sums = SeenSums(sqlite)
    for number in range(3):
        add(sqlite, number, [[number, 40]])
        sums.looked_at(EXAM, way="single", reader="anna", role="reader")
        sums.milliseconds(EXAM, reader="anna", role="reader", frames_by_head=FRAMES)
    assert parsed == [1, 2, 3]


def test_a_bad_batch_is_told_and_the_others_count(sqlite: Database) -> None:
    for number in range(3):
        add(sqlite, number, [[number, 40]])
    tamper(sqlite, "UPDATE capsieve_seen SET frames = '[[1]]' WHERE number = 2")
    sums = SeenSums(sqlite)
    agree(sums, sqlite, "single", "anna")
    found = sums.looked_at(EXAM, way="single", reader="anna", role="reader")
    assert found.frames == 2
    assert "batch 2" in found.problems[0]


@pytest.mark.parametrize(
    "statements",
    [
        ["DELETE FROM capsieve_seen WHERE number = 3"],
        ["UPDATE capsieve_seen SET key = 'another-key' WHERE number = 3"],
        [
            "DELETE FROM capsieve_seen WHERE number = 2",
            "DELETE FROM capsieve_seen WHERE number = 3",
        ],
    ],
)
def test_sums_begin_anew_where_another_copy_was_brought_back(
    sqlite: Database, statements: list[str]
) -> None:
    sums = SeenSums(sqlite)
    for number in range(3):
        add(sqlite, number, [[number, 40]])
    agree(sums, sqlite, "single", "anna")
    tamper(sqlite, *statements)
    agree(sums, sqlite, "single", "anna")


def test_exams_that_nobody_asks_for_make_room(sqlite: Database) -> None:
    sums = SeenSums(sqlite, most=3)
    for number in range(6):
        add(sqlite, number, [[1, 40], [2, 40]], exam=f"exam-{number % 3}")
    for _ in range(2):
        for exam in ("exam-0", "exam-1", "exam-2"):
            assert sums.looked_at(exam, way="single", reader="anna", role="reader").frames == 2
            assert len(sums._ledgers) == 1


def test_rows_that_are_known_are_not_parsed_again_and_others_are(
    sqlite: Database,
) -> None:
    for number in range(3):
        add(sqlite, number, [[number, 40]])
    known = parsed_batches(sqlite, EXAM)
    tamper(sqlite, "UPDATE capsieve_seen SET frames = '[[9,1.0]]' WHERE number = 2")
    add(sqlite, 7, [[7, 40]])
    with sqlite.read() as connection:
        rows = seen_rows(connection, EXAM)
    found = batches_of(rows, known)
    assert found == load_seen(sqlite, EXAM)
    assert [batch in known.values() for batch in found] == [True, False, True, False]
