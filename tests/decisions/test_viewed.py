"""Bitmaps of displayed and viewed frames."""

import pytest

from capsieve.decisions.database import Database
from capsieve.decisions.model import EntryError, ForbiddenError
from capsieve.decisions.viewed import Bitmaps, count_frames, load_viewed
from decisions.hands import EXAM, Hand


def test_bitmaps_are_merged_and_a_repetition_changes_nothing(database: Database) -> None:
    hand = Hand(database)
    for _ in range(2):
        hand.see(0, 9, 99, viewed=(9, 12))
    hand.see(3)
    [found] = load_viewed(database, EXAM, "screening-1")
    assert found.displayed.nonzero()[0].tolist() == [0, 3, 9, 12, 99]
    assert found.viewed.nonzero()[0].tolist() == [9, 12]


def test_each_exam_reader_role_screening_and_head_has_its_own(sqlite: Database) -> None:
    Hand(sqlite).see(1)
    Hand(sqlite).see(2, head=1)
    Hand(sqlite, "ben").see(1, 3)
    Hand(sqlite, exam="exam-2").see(4)
    other = Hand(sqlite)
    other.screening = "screening-2"
    other.see(5)
    found = load_viewed(sqlite, EXAM, "screening-1")
    assert [(each.reader, each.head) for each in found] == [("anna", 0), ("anna", 1), ("ben", 0)]
    assert count_frames(found) == (3, 0)  # frames of two readers count once
    assert count_frames(found, {0: 2}) == (1, 0)


def test_a_signature_keeps_the_same_bits(sqlite: Database) -> None:
    Hand(sqlite).see(1, 64, viewed=(64,))
    [found] = load_viewed(sqlite, EXAM, "screening-1")
    copy = Bitmaps.of(found.stored())
    assert copy.displayed.tolist() == found.displayed.tolist()
    assert copy.viewed.tolist() == found.viewed.tolist()


def test_frames_that_do_not_exist_are_refused(sqlite: Database) -> None:
    with pytest.raises(EntryError, match="frame 100"):
        Hand(sqlite).see(100)
    with pytest.raises(ForbiddenError, match="validator"):
        Hand(sqlite, role="validator").see(1)
