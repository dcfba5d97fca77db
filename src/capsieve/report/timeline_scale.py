"""The horizontal axis of a timeline: time or frame number, frames gathered into columns, ticks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import file_errors
from capsieve.report.exam_tables import HEAD_COLUMNS, HeadFrames, head_frames
from capsieve.report.text import clock, count
from capsieve.store.exam import Exam

_LARGEST_GAP = 0.9  # of the exam; with a longer jump the frames would have no width
_LEAST_KNOWN = 0.5
_BRIDGED_SECONDS = 3.0  # the slowest capsules take a frame every second or two
_BRIDGED_STEPS = 5.0
_TIME_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)


@dataclass(frozen=True, slots=True)
class Scale:
    """The horizontal axis of a timeline.

    Attributes
    ----------
    timed
        Whether it is the time, in seconds from the first frame; otherwise the frame number.
    start, end
        The first and the last value.
    zero
        The time of the first frame in the source, if it is known: the zero of the timeline.
    note
        Why the time is not used although it is known; else "".
    """

    timed: bool
    start: float
    end: float
    zero: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """One entry per column of the timeline.

    Attributes
    ----------
    frames
        Number of frames.
    score
        The largest; NaN if none was scored.
    flagged
        Whether a frame is flagged.
    smooth, busy
        Proportions of the frames that pre-selection rejected.
    undecodable
        Number of frames that could not be decoded.
    colour
        Mean red, green and blue; NaN if unknown.
    """

    frames: NDArray[np.int64]
    score: NDArray[np.float64]
    flagged: NDArray[np.bool_]
    smooth: NDArray[np.float64]
    busy: NDArray[np.float64]
    undecodable: NDArray[np.int64]
    colour: NDArray[np.float64]

    def at(self, columns: NDArray[np.int64]) -> "Bins":
        """Return the given columns, in this order and with repetitions."""
        return Bins(*(getattr(self, name)[columns] for name in self.__slots__))


def scale_of(heads: Sequence[HeadFrames]) -> Scale:
    """Choose between time and frame number, for all heads alike.

    The time is used if at least half of the frames have one, it never runs backwards, and no single
    jump is nearly all of it. Capsules change their frame rate, and players show the time.
    """
    filled = [head for head in heads if head.frame.size]
    if not filled:
        return Scale(timed=False, start=0.0, end=1.0)
    known = [np.isfinite(head.time) for head in filled]
    times = [head.time[there] for head, there in zip(filled, known, strict=True)]
    zero = min((float(time.min()) for time in times if time.size), default=None)
    by_frame = Scale(
        timed=False,
        start=float(min(head.frame[0] for head in filled)),
        end=float(max(head.frame[-1] for head in filled)) + 1.0,
        zero=zero,
    )
    if any(there.mean() < _LEAST_KNOWN for there in known) or zero is None:
        return by_frame
    end = max(float(time.max()) for time in times) - zero
    if any((np.diff(time) < 0).any() for time in times):
        return replace(by_frame, note="the source's times run backwards")
    if end <= 0:
        return by_frame
    if any(time.size > 1 and np.diff(time).max() > _LARGEST_GAP * end for time in times) and (
        max(time.size for time in times) > 2
    ):
        return replace(by_frame, note="the source's times have one long jump")
    return Scale(timed=True, start=0.0, end=end, zero=zero)


def positions(head: HeadFrames, scale: Scale) -> NDArray[np.float64]:
    """Return the position of each frame on the axis; unknown times are interpolated."""
    if not scale.timed:
        return head.frame.astype(np.float64)
    there = np.isfinite(head.time)
    zero = 0.0 if scale.zero is None else scale.zero
    return np.interp(head.frame, head.frame[there], head.time[there] - zero)


def bins_of(head: HeadFrames, scale: Scale, *, columns: int) -> Bins:
    """Gather the frames of a head into columns of equal width."""
    where = positions(head, scale)
    place = (where - scale.start) / (scale.end - scale.start) * columns
    column = np.clip(place.astype(np.int64), 0, columns - 1)
    frames = np.bincount(column, minlength=columns)
    score = np.full(columns, -np.inf)
    scored = np.isfinite(head.score)
    np.maximum.at(score, column[scored], head.score[scored])
    score[np.isinf(score)] = np.nan
    known = np.isfinite(head.colour).all(axis=1)
    seen = np.bincount(column[known], minlength=columns)
    colour = [
        _ratio(np.bincount(column[known], head.colour[known, k], columns), seen, np.nan)
        for k in range(3)
    ]
    bins = Bins(
        frames=frames,
        score=score,
        flagged=np.bincount(column, head.flagged, columns) > 0,
        smooth=_ratio(np.bincount(column, head.smooth, columns), frames, 0.0),
        busy=_ratio(np.bincount(column, head.busy, columns), frames, 0.0),
        undecodable=np.bincount(column[head.undecodable], minlength=columns),
        colour=np.stack(colour, axis=1),
    )
    return bins.at(_bridged(bins, where, scale, columns))


def _bridged(
    bins: Bins, where: NDArray[np.float64], scale: Scale, columns: int
) -> NDArray[np.int64]:
    """Return the column that each shows: a frame lasts until the next one if that is near."""
    source = np.arange(columns)
    if where.size == 0 or bins.frames.all():
        return source
    steps = np.diff(where)
    usual = float(np.median(steps)) if steps.size else 0.0
    longest = max(_BRIDGED_STEPS * usual, _BRIDGED_SECONDS if scale.timed else 1.0)
    width = (scale.end - scale.start) / columns
    filled = np.flatnonzero(bins.frames)
    for before, after in pairwise(filled.tolist()):
        if (after - before) * width <= longest + width:
            source[before + 1 : after] = before
    if columns - 1 - filled[-1] <= longest / width and not scale.timed:
        source[filled[-1] :] = filled[-1]
    return source


def _ratio(sums: NDArray[Any], counts: NDArray[Any], empty: float) -> NDArray[np.float64]:
    return np.where(counts > 0, sums / np.maximum(counts, 1), empty)


@dataclass(frozen=True, slots=True)
class FrameTimes:
    """The frames of an exam and the scale of its timeline, for texts about single frames."""

    heads: Sequence[HeadFrames]
    scale: Scale

    def seconds(self, head: int, frame: int) -> float | None:
        """Return the time from the first frame of the exam; None if it is unknown."""
        found = self._row(head, frame)
        if found is None or self.scale.zero is None or self.scale.note:
            return None
        time = float(found[0].time[found[1]])
        return time - self.scale.zero if np.isfinite(time) else None

    def clock(self, head: int, frame: int) -> str:
        """Return the time as h:mm:ss, or a dash."""
        return clock(self.seconds(head, frame))

    def name(self, head: int, frame: int) -> str:
        """Return the number of a frame, with its head if there are several."""
        return f"{count(frame)} (head {head})" if len(self.heads) > 1 else count(frame)

    def position(self, head: int, frame: int) -> float | None:
        """Return the position on the timeline; None if there is no such frame."""
        found = self._row(head, frame)
        return None if found is None else float(positions(found[0], self.scale)[found[1]])

    def _row(self, head: int, frame: int) -> tuple[HeadFrames, int] | None:
        frames = next((each for each in self.heads if each.head == head), None)
        if frames is None:
            return None
        row = int(np.searchsorted(frames.frame, frame))
        exists = row < frames.frame.size and frames.frame[row] == frame
        return (frames, row) if exists else None


def read_times(folder: Path) -> FrameTimes:
    """Read the times of the frames of an exam.

    Raises
    ------
    FileError
        The table cannot be read.
    """
    path = folder / "frames.parquet"
    with file_errors("read", path):
        stamp = path.stat().st_mtime_ns
    return _times(folder, stamp)


@lru_cache(maxsize=8)  # the review app numbers the findings of every reading by time
def _times(folder: Path, _stamp: int) -> FrameTimes:
    heads = head_frames(Exam(folder).columns(*HEAD_COLUMNS))
    return FrameTimes(heads, scale_of(heads))


def ticks(scale: Scale) -> list[tuple[float, str]]:
    """Return about nine round values along the axis, and how they are written."""
    if scale.timed:
        return time_ticks(scale.end, most=9)
    return frame_ticks(scale.start, scale.end, most=9)


def time_ticks(end: float, *, most: int) -> list[tuple[float, str]]:
    """Return times from 0 to the end in seconds, and how they are written."""
    step = next((step for step in _TIME_STEPS if end / step <= most), 0.0)
    step = step or 14400.0 * math.ceil(end / 14400.0 / most)
    return [
        (k * step, clock(k * step, fraction=step < 1)) for k in range(math.floor(end / step) + 1)
    ]


def frame_ticks(start: float, end: float, *, most: int) -> list[tuple[float, str]]:
    """Return whole numbers of frames from the start to the end, and how they are written."""
    step = max(1, _round_step((end - start) / most))
    first = math.ceil(start / step)
    return [(k * step, count(int(k * step))) for k in range(first, math.floor(end / step) + 1)]


def score_ticks(low: float, high: float, *, most: int) -> list[tuple[float, str]]:
    """Return round scores between two bounds, and how they are written."""
    step = _round_step((high - low) / most)
    first = math.ceil(low / step)
    return [(k * step, f"{k * step:g}") for k in range(first, math.floor(high / step) + 1)]


def _round_step(least: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least as large."""
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * 0.999)
