"""Which frames a threshold flags, and which frames count: the one place for both rules.

A frame is flagged where its score is at least the threshold and positive. Scores of 0 or less are
frames that the sieve rejected before it measured anything (the paper sets R_max = 0): no threshold
flags them. A frame with the score NaN was not scored. Both sides are the careful ones:

- a polyp frame that was not scored counts as missed;
- a normal frame that was not scored is left out, so that it does not count as rightly passed.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.statistics.judged import NORMAL, POLYP, Judged

__all__ = [
    "flagged_at",
    "negative_scores",
    "normal_frames",
    "number_of",
    "polyp_frames",
    "positive_scores",
    "rejected_to_zero",
    "unscored_note",
]


def flagged_at(score: ArrayLike, threshold: float) -> NDArray[np.bool_]:
    """Return which frames a threshold flags: score >= threshold, and score > 0."""
    values = np.asarray(score, dtype=np.float64)
    return (values >= threshold) & (values > 0)


def rejected_to_zero(score: ArrayLike) -> NDArray[np.float64]:
    """Return the scores with 0 for frames that were rejected or not scored."""
    values = np.asarray(score, dtype=np.float64)
    return np.where(values > 0, values, 0.0)


def positive_scores(score: ArrayLike) -> NDArray[np.float64]:
    """Return scores of polyp frames (or polyps) as they count: what was not scored is missed."""
    return rejected_to_zero(np.ravel(score))


def negative_scores(score: ArrayLike) -> NDArray[np.float64]:
    """Return scores of normal frames as they count: what was not scored is left out."""
    values = np.asarray(score, dtype=np.float64).ravel()
    return rejected_to_zero(values[~np.isnan(values)])


def polyp_frames(judged: Judged) -> NDArray[np.bool_]:
    """Return the frames that sensitivity counts: all polyp frames, scored or not."""
    return judged.truth == POLYP


def normal_frames(judged: Judged) -> NDArray[np.bool_]:
    """Return the frames that specificity counts: the normal frames that were scored."""
    return (judged.truth == NORMAL) & ~np.isnan(judged.score)


def unscored_note(judged: Judged, *, truth: int) -> str:
    """Return a sentence about the frames of a class that were not scored, or "".

    Parameters
    ----------
    judged
        The frames.
    truth
        :data:`~capsieve.statistics.judged.POLYP` or
        :data:`~capsieve.statistics.judged.NORMAL`.
    """
    count = int(np.count_nonzero((judged.truth == truth) & np.isnan(judged.score)))
    if not count:
        return ""
    what = "polyp" if truth == POLYP else "normal"
    fate = "counted as missed" if truth == POLYP else "left out"
    return f"{number_of(count, f'{what} frame')} not scored: {fate}."


def number_of(count: int, what: str) -> str:
    """Return a count with its noun: "1 frame", "2,000 frames"."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")
