"""The ledger of what was seen: which frames stood on the screen, and for how long.

It is kept as batches that are only ever added, each with a key of its own, so that a batch that is
sent twice counts once. Sums are made when somebody asks.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.review.decisions.access import check_role, in_reading_of, own_reading
from capsieve.review.decisions.clock import utc_now
from capsieve.review.decisions.database import Database
from capsieve.review.decisions.entries import canonical, check_key
from capsieve.review.decisions.fields import check_frame, check_head, check_name, check_number
from capsieve.review.decisions.log import Row
from capsieve.review.decisions.refusals import ConflictError, EntryError
from capsieve.review.decisions.room import room_in
from capsieve.review.decisions.schema import SEEN
from capsieve.review.decisions.sql import sa
from capsieve.review.decisions.standing import version_of
from capsieve.review.decisions.writing import milestones_of
from capsieve.review.way import Way

__all__ = [
    "MOST_FRAMES",
    "Batch",
    "add_seen",
    "add_up",
    "batch_of",
    "count_seen",
    "load_seen",
    "own_seen",
    "seen_array",
    "seen_rows",
]

MOST_FRAMES = 10_000
"""Frames of one batch."""

_LONGEST_MS = 86_400_000.0  # a day


@dataclass(frozen=True, slots=True)
class Batch:
    """Frames that stood on the screen.

    Attributes
    ----------
    number, key, exam, version, reader, role, time
        As in :class:`~capsieve.review.decisions.entries.Entry`; the numbers are the ledger's own.
    head
        The head.
    frames
        Frame and milliseconds, in the order of frames, each frame once.
    """

    number: int
    key: str
    exam: str
    version: int
    reader: str
    role: str
    time: str
    head: int
    frames: tuple[tuple[int, float], ...]


def add_seen(
    database: Database,
    *,
    exam: str,
    reader: str,
    role: str,
    key: str,
    head: int,
    frames: Iterable[Sequence[Any]],
    now: Callable[[], str] = utc_now,
) -> None:
    """Write down that frames stood on the screen; a batch whose key is known counts once.

    A signed exam may be looked at, so this is never refused for a signature; what a signature
    freezes ends with the last batch before it.

    Parameters
    ----------
    frames
        Pairs of frame and milliseconds.

    Raises
    ------
    EntryError
        A number makes no sense.
    ForbiddenError
        The role is none of this room's.
    ConflictError
        The key belongs to another batch.
    """
    said = {
        "key": check_key(key),
        "exam": check_name(exam, "exam"),
        "reader": check_name(reader, "reader"),
        "head": check_head(head),
        "frames": canonical(_joined(frames)),
    }
    with database.write() as connection:
        known = connection.execute(sa.select(SEEN).where(SEEN.c.key == key)).mappings().first()
        if known is not None:
            if any(known[name] != value for name, value in said.items()):
                raise ConflictError(f"the key {key!r} belongs to another batch; make a new one")
            return
        way = room_in(connection).way
        check_role(way, role)
        own = own_reading(milestones_of(connection, exam), way=way, reader=reader, role=role)
        last = connection.scalar(sa.select(sa.func.max(SEEN.c.number))) or 0
        row = said | {
            "number": last + 1,
            "role": role,
            "version": version_of(own).number,
            "time": now(),
        }
        connection.execute(SEEN.insert().values(row))


def _joined(frames: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Return frame and milliseconds, each frame once; to a thousandth of a millisecond."""
    total: dict[int, float] = {}
    for count, pair in enumerate(frames, start=1):
        if count > MOST_FRAMES:
            raise EntryError(f"a batch has at most {MOST_FRAMES} frames; send several")
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise EntryError("frames must be pairs of frame and milliseconds")
        frame, milliseconds = check_frame(pair[0]), check_number(pair[1], "milliseconds")
        total[frame] = total.get(frame, 0.0) + milliseconds
        if total[frame] > _LONGEST_MS:
            raise EntryError(f"frame {frame} cannot have stood there for more than a day")
    if not total:
        raise EntryError("the batch holds no frames; send none, or at least one")
    return [[frame, round(total[frame], 3)] for frame in sorted(total)]


def load_seen(database: Database, exam: str) -> list[Batch]:
    """Return all batches of an exam, in order."""
    with database.read() as connection:
        return [batch_of(row) for row in seen_rows(connection, exam)]


def seen_rows(connection: sa.Connection, exam: str) -> list[Row]:
    """Return the batches of an exam as they are stored, in order."""
    query = sa.select(SEEN).where(SEEN.c.exam == exam).order_by(SEEN.c.number)
    return [tuple(row) for row in connection.execute(query)]


def batch_of(row: Row) -> Batch:
    """Return a batch from its columns.

    Raises
    ------
    FileError
        The frames are no JSON: somebody else changed the database.
    """
    number, key, exam, version, reader, role, time, head, frames = row
    try:
        pairs = tuple((int(frame), float(shown)) for frame, shown in json.loads(frames))
    except (ValueError, TypeError) as error:
        raise FileError(f"batch {number} of the frames seen is damaged: {error}") from error
    return Batch(number, key, exam, version, reader, role, time, head, pairs)


def own_seen(batches: Iterable[Batch], *, way: Way, reader: str, role: str) -> list[Batch]:
    """Return the batches that belong to the reading on which somebody works."""
    return [
        batch
        for batch in batches
        if in_reading_of(way=way, reader=reader, role=role, by=batch.reader, by_role=batch.role)
    ]


def add_up(batches: Iterable[Batch]) -> dict[int, dict[int, float]]:
    """Return the milliseconds by head and frame; what comes twice counts once."""
    total: dict[int, dict[int, float]] = {}
    for batch in {batch.key: batch for batch in batches}.values():
        of_head = total.setdefault(batch.head, {})
        for frame, shown in batch.frames:
            of_head[frame] = of_head.get(frame, 0.0) + shown
    return total


def count_seen(total: Mapping[int, Mapping[int, float]], *, least_ms: float = 0.0) -> int:
    """Return on how many frames somebody looked, for more than no time and at least `least_ms`."""
    return sum(
        shown > 0 and shown >= least_ms for of_head in total.values() for shown in of_head.values()
    )


def seen_array(of_head: Mapping[int, float], frames: int) -> NDArray[np.float32]:
    """Return the milliseconds of frames 0 to `frames` - 1; frames that a head lacks are left out.

    They can be there after another screening of a shorter source under the same name.
    """
    array = np.zeros(frames, np.float32)
    for frame, shown in of_head.items():
        if frame < frames:
            array[frame] = shown
    return array
