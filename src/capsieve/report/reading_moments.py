"""When a frame was taken, as the report of a reading writes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np

from capsieve.decisions.model import Entry, Finding, said
from capsieve.errors import file_errors
from capsieve.report.exam_tables import HEAD_COLUMNS, HeadFrames, head_frames
from capsieve.report.text import clock, count
from capsieve.report.timeline_scale import Scale, positions, scale_of
from capsieve.store.exam import Exam

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class Moments:
    """The frames of an exam and their times.

    Attributes
    ----------
    heads
        The frames.
    scale
        Whether times are known and make sense.
    """

    heads: Sequence[HeadFrames]
    scale: Scale

    def seconds(self, head: int, frame: int) -> float | None:
        """Return the time from the exam's first frame; None where it is unknown."""
        found = self._place(head, frame)
        # A note says why the times make no sense.
        if found is None or self.scale.zero is None or self.scale.note:
            return None
        time = float(found[0].time[found[1]])
        return time - self.scale.zero if np.isfinite(time) else None

    def text(self, head: int, frame: int) -> str:
        """Return it as h:mm:ss, or a dash."""
        return clock(self.seconds(head, frame))

    def position(self, head: int, frame: int) -> float | None:
        """Return where the frame lies along a timeline; None where the exam has no such frame."""
        found = self._place(head, frame)
        return None if found is None else float(positions(found[0], self.scale)[found[1]])

    def name(self, head: int, frame: int) -> str:
        """Return the frame's number, with its head where there are several."""
        return f"{count(frame)} (head {head})" if len(self.heads) > 1 else count(frame)

    def _place(self, head: int, frame: int) -> tuple[HeadFrames, int] | None:
        frames = next((each for each in self.heads if each.head == head), None)
        if frames is None:
            return None
        place = int(np.searchsorted(frames.frame, frame))
        there = place < frames.frame.size and frames.frame[place] == frame
        return (frames, place) if there else None


def read_moments(folder: Path) -> Moments:
    """Read the times of an exam's frames.

    Raises
    ------
    FileError
        The table cannot be read.
    """
    path = folder / "frames.parquet"
    with file_errors("read", path):
        stamp = path.stat().st_mtime_ns
    return _moments(folder, stamp)


@lru_cache(maxsize=8)  # every reading that the page asks for has its findings in order
def _moments(folder: Path, _stamp: int) -> Moments:
    heads = head_frames(Exam(folder).columns(*HEAD_COLUMNS))
    return Moments(heads, scale_of(heads))


def in_exam_order(findings: Iterable[Entry], moments: Moments) -> list[Entry]:
    """Return findings in the order in which the capsule passed them: this numbers them."""

    def place(entry: Entry) -> tuple[float, int, int]:
        best = said(entry, Finding).best
        position = moments.position(best.head, best.frame)
        return (float("inf") if position is None else position, best.head, best.frame)

    return sorted(findings, key=place)


def when(time: str) -> str:
    """Return a moment in words: 1 March 2026, 12:00:07 UTC; as it is where its zone is unknown."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    if moment.tzinfo is None:
        return time
    moment = moment.astimezone(UTC)
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}, {moment:%H:%M:%S} UTC"
