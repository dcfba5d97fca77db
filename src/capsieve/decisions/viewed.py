"""Which frames were displayed to a reader, as bitmaps that are merged with OR.

A frame is displayed when the page draws it, and viewed if at least 45 ms pass until the next
drawing: at 20 frames per second frames are viewed, at 30 they are only displayed.
"""

import base64
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.decisions.database import VIEWED, Database, sa, workflow_in
from capsieve.decisions.model import EntryError, ForbiddenError, Row, Span, Viewed, stored_text
from capsieve.decisions.roles import ROLES

Bits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Bitmaps:
    """The frames of a head that were displayed to a reader, and those viewed, a value per frame.

    `problem` is the reason if the stored bitmaps cannot be read; then they are empty.
    """

    reader: str
    role: str
    head: int
    displayed: Bits
    viewed: Bits
    problem: str = ""

    def stored(self) -> Viewed:
        """Return them as a part of a signature."""
        return Viewed(
            reader=self.reader,
            role=self.role,
            head=self.head,
            frames=self.displayed.size,
            displayed=_base64(self.displayed),
            viewed=_base64(self.viewed),
        )

    @classmethod
    def of_row(cls, row: Row) -> "Bitmaps":
        """Return the bitmaps of a stored row; `problem` says why they cannot be read."""
        _, reader, role, _, head, frames, displayed, viewed = row
        reader, role = stored_text(reader), stored_text(role)
        try:
            if not (isinstance(head, int) and isinstance(frames, int) and 0 <= frames < 2**31):
                raise ValueError("its numbers are damaged")
            return cls(reader, role, head, _bits(displayed, frames), _bits(viewed, frames))
        except (ValueError, TypeError) as error:
            none = np.zeros(0, bool)
            number = head if isinstance(head, int) else -1
            return cls(reader, role, number, none, none, str(error))

    @classmethod
    def of(cls, stored: Viewed) -> "Bitmaps":
        """Return the bitmaps of a signature."""
        displayed, viewed = (
            _bits(base64.b64decode(text, validate=True), stored.frames)
            for text in (stored.displayed, stored.viewed)
        )
        return cls(stored.reader, stored.role, stored.head, displayed, viewed)


def add_viewed(
    database: Database,
    *,
    exam: str,
    reader: str,
    role: str,
    screening: str,
    head: int,
    frames: int,
    displayed: Iterable[Span],
    viewed: Iterable[Span],
) -> None:
    """Store that frames were displayed; storing it twice changes nothing.

    A signed exam may be looked at, so this is never refused because of a signature, which has
    copies of its own.

    Parameters
    ----------
    frames
        How many frames the head has.
    displayed, viewed
        Frames of this head; viewed frames count as displayed too.

    Raises
    ------
    EntryError
        A frame does not exist.
    ForbiddenError
        The workflow has no such role.
    """
    new = [_marked(spans, head, frames) for spans in (displayed, viewed)]
    new[0] |= new[1]
    key = {
        "exam": exam,
        "reader": reader,
        "role": role,
        "screening": screening,
        "head": head,
    }
    here = sa.and_(*(VIEWED.c[name] == value for name, value in key.items()))
    with database.write() as connection:
        if role not in ROLES[workflow_in(connection)]:
            raise ForbiddenError(f"the workflow of these exams has no role {role!r}")
        row = connection.execute(sa.select(VIEWED).where(here)).first()
        if row is not None:
            old = Bitmaps.of_row(tuple(row))
            if not old.problem:
                new = [new[0] | old.displayed, new[1] | old.viewed]
        values = {
            "frames": frames,
            "displayed": np.packbits(new[0], bitorder="little").tobytes(),
            "viewed": np.packbits(new[1], bitorder="little").tobytes(),
        }
        change = VIEWED.insert().values(key | values)
        if row is not None:
            change = VIEWED.update().where(here).values(values)
        connection.execute(change)


def load_viewed(database: Database, exam: str, screening: str) -> list[Bitmaps]:
    """Return the bitmaps of all readers of an exam, for one screening."""
    with database.read() as connection:
        return viewed_rows(connection, exam, screening)


def viewed_rows(connection: sa.Connection, exam: str, screening: str) -> list[Bitmaps]:
    """Return the bitmaps of all readers of an exam, within a transaction."""
    query = sa.select(VIEWED).where(VIEWED.c.exam == exam, VIEWED.c.screening == screening)
    found = [Bitmaps.of_row(tuple(row)) for row in connection.execute(query)]
    return sorted(found, key=lambda each: (each.reader, each.role, each.head))


def viewed_by_exam(database: Database, exams: Collection[str]) -> dict[str, list[Any]]:
    """Return the stored rows of exams; :meth:`Bitmaps.of_row` reads one."""
    query = sa.select(VIEWED).where(VIEWED.c.exam.in_(exams)).order_by(*VIEWED.primary_key)
    found: dict[str, list[Any]] = {}
    with database.read() as connection:
        for row in connection.execute(query):
            found.setdefault(row.exam, []).append(row)
    return found


def unreadable(bitmaps: Iterable[Bitmaps]) -> tuple[str, ...]:
    """Return a message for each row that cannot be read."""
    return tuple(
        f"the frames displayed to {each.reader[:60]} on head {each.head} cannot be read, and count "
        f"for nothing: {each.problem}"
        for each in bitmaps
        if each.problem
    )


def count_frames(
    bitmaps: Iterable[Bitmaps], frames_by_head: Mapping[int, int] | None = None
) -> tuple[int, int]:
    """Return how many frames were displayed, and how many viewed; one of several readers once.

    Parameters
    ----------
    frames_by_head
        How many frames the heads have: others are not counted. All are by default.
    """
    both = together(bitmaps, frames_by_head).values()
    return sum(int(each[0].sum()) for each in both), sum(int(each[1].sum()) for each in both)


def together(
    bitmaps: Iterable[Bitmaps], frames_by_head: Mapping[int, int] | None = None
) -> dict[int, tuple[Bits, Bits]]:
    """Return for each head which frames were displayed, and which viewed, to any of the readers.

    Parameters
    ----------
    frames_by_head
        How many frames the heads have: bitmaps are cut or filled up to that. Other heads are left
        out. By default each is as long as the longest bitmap.
    """
    found: dict[int, tuple[Bits, Bits]] = {}
    if frames_by_head is not None:
        found = {
            head: (np.zeros(frames, bool), np.zeros(frames, bool))
            for head, frames in frames_by_head.items()
        }
    for each in bitmaps:
        if frames_by_head is not None and each.head not in frames_by_head:
            continue
        end = None if frames_by_head is None else frames_by_head[each.head]
        old = found.get(each.head, (np.zeros(0, bool), np.zeros(0, bool)))
        found[each.head] = (
            _either(old[0], each.displayed[:end]),
            _either(old[1], each.viewed[:end]),
        )
    return found


def _either(one: Bits, other: Bits) -> Bits:
    both = np.zeros(max(one.size, other.size), bool)
    both[: one.size] |= one
    both[: other.size] |= other
    return both


def _marked(spans: Iterable[Span], head: int, frames: int) -> Bits:
    bits = np.zeros(frames, bool)
    for span in spans:
        if span.head != head or span.last >= frames:
            raise EntryError(f"head {head} has no frame {span.last} of head {span.head}")
        bits[span.first : span.last + 1] = True
    return bits


def _bits(content: Any, frames: int) -> Bits:
    if not isinstance(content, bytes) or len(content) != (frames + 7) // 8:
        raise ValueError("the bitmap has another length than its frames")
    return np.unpackbits(np.frombuffer(content, np.uint8), count=frames, bitorder="little") > 0


def _base64(bits: Bits) -> str:
    return base64.b64encode(np.packbits(bits, bitorder="little").tobytes()).decode("ascii")
