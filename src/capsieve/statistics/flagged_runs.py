"""Runs of flagged frames: what a reader meets as one event, at any threshold."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.events import LONGEST_GAP_S
from capsieve.statistics.judged import Judged

__all__ = [
    "GAP_S",
    "SLACK_S",
    "FlaggableFrames",
    "check_seconds",
    "falling",
    "flaggable_frames",
    "flagged_sets",
    "run_starts",
]

GAP_S = LONGEST_GAP_S
"""Flagged frames further apart in time belong to different runs."""

SLACK_S = 1e-6
"""Time stamps are fractions stored as floats: one second may come as a hair more."""


@dataclass(frozen=True, slots=True, eq=False)
class FlaggableFrames:
    """The frames that some threshold flags, by exam, head and time.

    Attributes
    ----------
    index
        Where each one stands among the judged frames.
    stream
        A code of exam and head: runs never reach from one to another.
    time, score
        As in :class:`~capsieve.statistics.judged.Judged`.
    """

    index: NDArray[np.intp]
    stream: NDArray[np.int64]
    time: NDArray[np.float64]
    score: NDArray[np.float64]


def flaggable_frames(judged: Judged) -> FlaggableFrames:
    """Return the frames with a score above 0, sorted once for all thresholds."""
    index = np.flatnonzero(judged.score > 0)
    stream = judged.exam[index].astype(np.int64) * 2**16 + judged.head[index]
    time = judged.time[index]
    order = np.lexsort((judged.frame[index], time, stream))
    index = index[order]
    return FlaggableFrames(index, stream[order], time[order], judged.score[index])


def flagged_sets(
    score: NDArray[np.float64], thresholds: NDArray[np.float64]
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield, for each falling threshold from the last to the first, its place and who is flagged.

    Whom a strict threshold flags, a lenient one flags as well: each step looks only at the frames
    that the step before left.
    """
    kept = np.arange(len(score))
    values = score
    for place in range(len(thresholds) - 1, -1, -1):
        still = values >= thresholds[place]
        kept, values = kept[still], values[still]
        yield place, kept


def run_starts(
    stream: NDArray[np.int64], time: NDArray[np.float64], gap: float
) -> NDArray[np.intp]:
    """Return where runs begin: in another stream, or more than `gap` seconds after the last frame.

    Parameters
    ----------
    stream, time
        Of flagged frames, in the order of :class:`FlaggableFrames`.
    gap
        Seconds.
    """
    if not len(time):
        return np.empty(0, np.intp)
    begins = np.ones(len(time), bool)
    np.greater(np.diff(time), gap + SLACK_S, out=begins[1:])
    begins[1:] |= stream[1:] != stream[:-1]
    return np.flatnonzero(begins)


def falling(thresholds: Any) -> NDArray[np.float64]:
    """Return thresholds sorted from the strictest to the most lenient, each once."""
    values = np.unique(np.asarray(thresholds, np.float64).ravel())
    if np.isnan(values).any():
        raise ParameterError("thresholds", "must be numbers, not NaN")
    return values[::-1]


def check_seconds(**seconds: float) -> None:
    """Refuse times that are negative or no number."""
    for name, value in seconds.items():
        if not value >= 0:
            raise ParameterError(name, f"is a time in seconds of at least 0, not {value}")
