"""The sums of the ledger of what was seen, kept in memory while a room is open.

The page writes a batch every few seconds and asks how much was seen after every decision. Adding
up a ledger of hours takes a second, so what was added up is kept, and only the batches after it are
read: by number, whichever process wrote them.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.review.decisions.access import in_reading_of
from capsieve.review.decisions.database import Database
from capsieve.review.decisions.seen import (
    Batch,
    batch_of,
    seen_array,
    seen_rows,
    unreadable_batches,
)
from capsieve.review.decisions.stored import Row
from capsieve.review.way import Way

__all__ = ["MOST_KEPT", "LookedAt", "SeenSums"]

MOST_KEPT = 1_000_000
"""Sums of frames that are kept in all, about 150 bytes each; exams that nobody asks for go."""


class LookedAt(NamedTuple):
    """What was seen in a reading.

    Attributes
    ----------
    frames
        On how many frames somebody looked, over all heads.
    problems
        A sentence for each batch that cannot be read.
    """

    frames: int
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Own:
    """What one reader saw in one role: milliseconds by head and frame, each more than none."""

    shown: dict[int, dict[int, float]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, batch: Batch) -> None:
        self.problems += unreadable_batches([batch])
        of_head = self.shown.setdefault(batch.head, {})
        for frame, shown in batch.frames:
            if shown > 0:
                of_head[frame] = of_head.get(frame, 0.0) + shown


@dataclass(slots=True)
class _Ledger:
    """The sums of one exam, up to a batch of which number and key are known."""

    owns: dict[tuple[str, str], _Own] = field(default_factory=dict)
    last: Row | None = None
    kept: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def follow(self, database: Database, exam: str) -> None:
        """Add what came since, and begin anew where the last batch is no longer there.

        It is gone where somebody brought an older copy of the database back.
        """
        with database.read() as connection:
            first = None if self.last is None else self.last[0]
            rows = seen_rows(connection, exam, first=first)
            if self.last is not None:
                if rows and rows[0] == self.last:
                    del rows[0]
                else:
                    self.owns, self.last = {}, None
                    rows = seen_rows(connection, exam)
        for row in rows:
            batch = batch_of(row)
            self.owns.setdefault((batch.reader, batch.role), _Own()).add(batch)
            self.last = row
        if rows:
            self.kept = sum(len(each) for own in self.owns.values() for each in own.shown.values())

    def part(self, way: Way, reader: str, role: str) -> Iterator[_Own]:
        """Yield what belongs to the reading on which somebody works."""
        for (by, by_role), own in self.owns.items():
            if in_reading_of(way=way, reader=reader, role=role, by=by, by_role=by_role):
                yield own


class SeenSums:
    """How much was seen, by exam, reader and role. It may be asked from several threads.

    Parameters
    ----------
    database
        Of decisions.
    most
        Sums of frames that are kept; the exam that was asked for last is always.
    """

    def __init__(self, database: Database, *, most: int = MOST_KEPT) -> None:
        self._database = database
        self._most = most
        self._ledgers: OrderedDict[str, _Ledger] = OrderedDict()
        self._lock = threading.Lock()

    def looked_at(self, exam: str, *, way: Way, reader: str, role: str) -> LookedAt:
        """Return how much was seen in the reading on which somebody works."""
        ledger = self._ledger(exam)
        with ledger.lock:
            ledger.follow(self._database, exam)
            part = list(ledger.part(way, reader, role))
            heads = {head for own in part for head in own.shown}
            found = LookedAt(
                sum(_together([own.shown.get(head, {}) for own in part]) for head in heads),
                tuple(problem for own in part for problem in own.problems),
            )
        self._make_room()
        return found

    def milliseconds(
        self, exam: str, *, reader: str, role: str, frames_by_head: Mapping[int, int]
    ) -> dict[int, NDArray[np.float32]]:
        """Return for each head how long every frame stood on a reader's own screen.

        Parameters
        ----------
        exam, reader, role
            Whose, of what.
        frames_by_head
            How many frames the heads of the exam have.
        """
        ledger = self._ledger(exam)
        with ledger.lock:
            ledger.follow(self._database, exam)
            own = ledger.owns.get((reader, role), _Own())
            found = {
                head: seen_array(own.shown.get(head, {}), frames)
                for head, frames in frames_by_head.items()
            }
        self._make_room()
        return found

    def _ledger(self, exam: str) -> _Ledger:
        with self._lock:
            found = self._ledgers.setdefault(exam, _Ledger())
            self._ledgers.move_to_end(exam)
            return found

    def _make_room(self) -> None:
        """Forget the exams that nobody asked for the longest."""
        with self._lock:
            kept = sum(ledger.kept for ledger in self._ledgers.values())
            while kept > self._most and len(self._ledgers) > 1:
                _, gone = self._ledgers.popitem(last=False)
                kept -= gone.kept


def _together(seen: list[dict[int, float]]) -> int:
    """Return how many frames there are in all; one that several looked at counts once."""
    return len(seen[0]) if len(seen) == 1 else len(set().union(*seen))
