from typing import Any

import numpy as np
import pytest

from capsieve.review.decisions.database import Database
from capsieve.review.decisions.refusals import ConflictError, EntryError, ForbiddenError
from capsieve.review.decisions.room import Room, change_room
from capsieve.review.decisions.seen import (
    add_seen,
    add_up,
    count_seen,
    load_seen,
    own_seen,
    seen_array,
)
from review.decisions.made_entries import EXAM, Hand

ANNA: dict[str, Any] = {"exam": EXAM, "reader": "anna", "role": "reader"}


def add(database: Database, key: str, frames: Any, head: int = 0, **who: Any) -> None:
    add_seen(database, key=key, head=head, frames=frames, **(ANNA | who))


def test_batches_add_up_by_head_and_frame(database: Database) -> None:
    add(database, "batch-01", [[3, 40], [4, 20.5], [3, 2]])
    add(database, "batch-02", [[4, 10]])
    add(database, "batch-03", [[4, 7]], head=1)
    add(database, "batch-04", [[9, 7]], exam="exam-2")
    total = add_up(load_seen(database, EXAM))
    assert total == {0: {3: 42.0, 4: 30.5}, 1: {4: 7.0}}
    assert count_seen(total) == 3
    assert count_seen(total, least_ms=30) == 2
    np.testing.assert_array_equal(seen_array(total[0], 5), [0, 0, 0, 42, 30.5])
    np.testing.assert_array_equal(seen_array(total[0], 4), [0, 0, 0, 42])


def test_a_batch_sent_twice_counts_once(database: Database) -> None:
    for frames in ([[3, 40], [4, 20]], [[4, 20], [3, 40.0]]):
        add(database, "batch-01", frames)
    assert add_up(load_seen(database, EXAM)) == {0: {3: 40.0, 4: 20.0}}
    batches = load_seen(database, EXAM)
    assert add_up(batches * 2) == add_up(batches)


def test_the_key_of_a_batch_is_its_own(sqlite: Database) -> None:
    add(sqlite, "batch-01", [[3, 40]])
    with pytest.raises(ConflictError, match="another batch"):
        add(sqlite, "batch-01", [[3, 41]])


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [[3]],
        [3],
        [[-1, 5]],
        [[1.5, 5]],
        [["3", 5]],
        [[3, -1]],
        [[3, float("nan")]],
        [[3, float("inf")]],
        [[3, 90_000_000]],
        [[3, "5"]],
        [[3, True]],
    ],
)
def test_numbers_that_make_no_sense_are_refused(sqlite: Database, frames: Any) -> None:
    with pytest.raises(EntryError):
        add(sqlite, "batch-01", frames)


def test_a_signed_exam_may_be_looked_at(sqlite: Database) -> None:
    hand = Hand(sqlite)
    hand.sign()
    add(sqlite, "batch-01", [[3, 40]])
    hand.write("reopen", "exam", {"reason": "again"})
    add(sqlite, "batch-02", [[3, 40]])
    assert [batch.version for batch in load_seen(sqlite, EXAM)] == [1, 2]


def test_blind_readers_have_ledgers_of_their_own(sqlite: Database) -> None:
    change_room(sqlite, Room("blind"), reader="anna")
    add(sqlite, "batch-01", [[3, 40]])
    add(sqlite, "batch-02", [[3, 7]], reader="ben")
    own = own_seen(load_seen(sqlite, EXAM), way="blind", reader="ben", role="reader")
    assert add_up(own) == {0: {3: 7.0}}
    with pytest.raises(ForbiddenError, match="nobody works as 'validator'"):
        add(sqlite, "batch-03", [[3, 7]], role="validator")
