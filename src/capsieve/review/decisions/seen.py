"""The ledger of what was seen: which frames stood on the screen, and for how long.

It is kept as batches that are only ever added, each with a key of its own, so that a batch that is
sent twice counts once. Sums are made when somebody asks; what a room asks for again and again it
asks :mod:`~capsieve.review.decisions.seen_sums`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.review.decisions.access import check_role, in_reading_of, own_reading
from capsieve.review.decisions.clock import utc_now
from capsieve.review.decisions.database import Database
from capsieve.review.decisions.entries import canonical, check_key
from capsieve.review.decisions.fields import check_frame, check_head, check_name, check_number
from capsieve.review.decisions.refusals import ConflictError, EntryError
from capsieve.review.decisions.room import room_in
from capsieve.review.decisions.schema import SEEN
from capsieve.review.decisions.sql import sa
from capsieve.review.decisions.standing import version_of
from capsieve.review.decisions.stored import Row, stored_number, stored_text
from capsieve.review.decisions.subjects import LARGEST_FRAME
from capsieve.review.decisions.writing import milestones_of
from capsieve.review.way import Way

__all__ = [
    "MOST_FRAMES",
    "Batch",
    "add_seen",
    "add_up",
    "batch_of",
    "batches_of",
    "count_seen",
    "load_seen",
    "own_seen",
    "parsed_batches",
    "seen_array",
    "seen_rows",
    "unreadable_batches",
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
    problem
        Why what is stored cannot be read; empty where it can. Such a batch has no frames.
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
    problem: str = ""


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


def parsed_batches(database: Database, exam: str) -> dict[Row, Batch]:
    """Return all batches of an exam by their rows, for :func:`batches_of`."""
    with database.read() as connection:
        rows = seen_rows(connection, exam)
    return {row: batch_of(row) for row in rows}  # after the database is let go


def batches_of(rows: Iterable[Row], known: Mapping[Row, Batch]) -> list[Batch]:
    """Return the batches of rows; only those that are not known are parsed.

    Parsing an exam's ledger takes a second. Who does that before taking the lock of the writer,
    and takes only what came since under it, keeps nobody else waiting. A row that was changed
    meanwhile is not the one that is known.
    """
    return [known[row] if row in known else batch_of(row) for row in rows]


def seen_rows(connection: sa.Connection, exam: str, *, first: int | None = None) -> list[Row]:
    """Return the batches of an exam as they are stored, in order.

    Parameters
    ----------
    first
        The smallest number that is wanted; all by default.
    """
    query = sa.select(SEEN).where(SEEN.c.exam == exam).order_by(SEEN.c.number)
    if first is not None:
        query = query.where(SEEN.c.number >= first)
    return [tuple(row) for row in connection.execute(query)]


def batch_of(row: Row) -> Batch:
    """Return a batch from its columns; its `problem` says why it cannot be read, if it cannot."""
    number, key, exam, version, reader, role, time, head, frames = row
    pairs, problem = (), ""
    try:
        if stored_number(version) is None:
            raise EntryError("its version is no number")
        check_head(head)
        pairs = _pairs(_parsed(frames))
    except EntryError as error:
        problem = str(error)
    texts = map(stored_text, (key, exam, reader, role, time))
    key, exam, reader, role, time = texts
    version, head = stored_number(version) or 1, stored_number(head) or 0
    return Batch(number, key, exam, version, reader, role, time, head, pairs, problem)


def _parsed(text: Any) -> Any:
    """Return what a stored text says as JSON; what it may say, `_pairs` checks."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, TypeError, RecursionError) as error:
        raise EntryError(f"what is stored is no JSON ({type(error).__name__})") from error


def _no_number(word: str) -> float:
    raise ValueError(word)  # NaN and its like are not JSON, and Python would take them


def _pairs(frames: Any) -> tuple[tuple[int, float], ...]:
    """Return frames and milliseconds; checked all at once, for there are many."""
    try:
        values = np.asarray(frames, float)
        good = values.ndim == 2 and values.shape[1] == 2 and bool(np.isfinite(values).all())
        if good and values.min() >= 0 and values[:, 0].max() <= LARGEST_FRAME:
            return tuple((int(frame), float(shown)) for frame, shown in frames)
    except (ValueError, TypeError, OverflowError):
        pass
    raise EntryError("its frames are no pairs of frame and milliseconds")


def unreadable_batches(batches: Iterable[Batch]) -> tuple[str, ...]:
    """Return a sentence for each batch that cannot be read."""
    return tuple(
        f"batch {batch.number} of the frames seen (of {batch.reader[:60]}, {batch.time[:30]}) "
        f"cannot be read, and counts for nothing: {batch.problem}"
        for batch in batches
        if batch.problem
    )


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
    numbers = np.fromiter(of_head.keys(), np.int64, len(of_head))
    shown = np.fromiter(of_head.values(), np.float64, len(of_head))
    there = numbers < frames
    array[numbers[there]] = shown[there]
    return array
