"""Frames gathered into the columns of a timeline."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.report.exam_tables import HeadFrames

__all__ = ["Bins", "Scale", "bins_of", "positions", "scale_of"]

_LARGEST_GAP = 0.9  # of the exam; a longer jump would leave no room for the frames
_LEAST_KNOWN = 0.5
_BRIDGED_SECONDS = 3.0  # capsules take a frame every second or two at their slowest
_BRIDGED_STEPS = 5.0


@dataclass(frozen=True, slots=True)
class Scale:
    """What runs along the timeline.

    Attributes
    ----------
    timed
        Whether it is the time, in seconds from the first frame; otherwise the frame's number.
    start, end
        The first and the last value.
    zero
        The time of the first frame in the source, where that is known: the timeline's zero.
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
        How many frames fall in it.
    score
        The largest; NaN where none was scored.
    flagged
        Whether a frame is flagged.
    smooth, busy
        Shares of the frames that pre-selection set aside.
    undecodable
        How many frames could not be decoded.
    colour
        Mean red, green and blue; NaN where unknown.
    """

    frames: NDArray[np.int64]
    score: NDArray[np.float64]
    flagged: NDArray[np.bool_]
    smooth: NDArray[np.float64]
    busy: NDArray[np.float64]
    undecodable: NDArray[np.int64]
    colour: NDArray[np.float64]


def scale_of(heads: Sequence[HeadFrames]) -> Scale:
    """Choose between time and frame number, for all heads alike.

    The time is taken where at least half of the frames have one, where it never runs backwards, and
    where no single jump takes up nearly all of it. Capsules change their frame rate: time and
    number tell different stories, and time is the one that players and readers know.
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
        return _noted(by_frame, "the source's times run backwards")
    if end <= 0:
        return by_frame
    if any(time.size > 1 and np.diff(time).max() > _LARGEST_GAP * end for time in times) and (
        max(time.size for time in times) > 2
    ):
        return _noted(by_frame, "the source's times hold one long jump")
    return Scale(timed=True, start=0.0, end=end, zero=zero)


def _noted(scale: Scale, note: str) -> Scale:
    return Scale(timed=False, start=scale.start, end=scale.end, zero=scale.zero, note=note)


def positions(head: HeadFrames, scale: Scale) -> NDArray[np.float64]:
    """Return where each frame lies along the timeline; unknown times lie between known ones."""
    if not scale.timed:
        return head.frame.astype(np.float64)
    there = np.isfinite(head.time)
    zero = 0.0 if scale.zero is None else scale.zero
    return np.interp(head.frame, head.frame[there], head.time[there] - zero)


def bins_of(head: HeadFrames, scale: Scale, *, columns: int) -> Bins:
    """Gather the frames of a head into columns of equal width."""
    where = positions(head, scale)
    span = scale.end - scale.start
    column = np.clip(((where - scale.start) / span * columns).astype(np.int64), 0, columns - 1)
    frames = np.bincount(column, minlength=columns)
    score = np.full(columns, -np.inf)
    scored = np.isfinite(head.score)
    np.maximum.at(score, column[scored], head.score[scored])
    score[np.isinf(score)] = np.nan
    coloured = np.isfinite(head.colour).all(axis=1)
    seen = np.bincount(column[coloured], minlength=columns)
    colour = [
        _ratio(np.bincount(column[coloured], head.colour[coloured, k], columns), seen, np.nan)
        for k in range(3)
    ]
    shares = [
        _ratio(np.bincount(column, flags, columns), frames, 0.0)
        for flags in (head.smooth, head.busy)
    ]
    bins = Bins(
        frames=frames,
        score=score,
        flagged=np.bincount(column, head.flagged, columns) > 0,
        smooth=shares[0],
        busy=shares[1],
        undecodable=np.bincount(column[head.undecodable], minlength=columns),
        colour=np.stack(colour, axis=1),
    )
    return _bridged(bins, where, scale, columns)


def _bridged(bins: Bins, where: NDArray[np.float64], scale: Scale, columns: int) -> Bins:
    """Let a frame last until the next one where that comes soon; longer gaps stay empty."""
    if where.size == 0 or bins.frames.all():
        return bins
    steps = np.diff(where)
    usual = float(np.median(steps)) if steps.size else 0.0
    longest = max(_BRIDGED_STEPS * usual, _BRIDGED_SECONDS if scale.timed else 1.0)
    width = (scale.end - scale.start) / columns
    filled = np.flatnonzero(bins.frames)
    source = np.arange(columns)
    for before, after in pairwise(filled.tolist()):
        if (after - before) * width <= longest + width:
            source[before + 1 : after] = before
    if columns - 1 - filled[-1] <= longest / width and not scale.timed:
        source[filled[-1] :] = filled[-1]

    def spread(values: NDArray[Any]) -> NDArray[Any]:
        return values[source]

    return Bins(
        frames=spread(bins.frames),
        score=spread(bins.score),
        flagged=spread(bins.flagged),
        smooth=spread(bins.smooth),
        busy=spread(bins.busy),
        undecodable=spread(bins.undecodable),
        colour=spread(bins.colour),
    )


def _ratio(sums: NDArray[Any], counts: NDArray[Any], empty: float) -> NDArray[np.float64]:
    return np.where(counts > 0, sums / np.maximum(counts, 1), empty)
