"""A score for the exam's timeline: a polyp stays in view, so neighbours support each other.

The model has two states: a polyp is in view, or none is. A polyp comes into view at a constant rate
and stays for a random time, both in seconds, so that frame rates may change and frames may be
absent. What a frame's detector says is evidence for the state at its time. The timeline score is
the probability of the state given *all* frames of the same exam and head, those before and those
after. See docs/timeline.md.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.errors import ParameterError

__all__ = ["CLIP", "DWELL_S", "FRAME_S", "LOOK_S", "SHARE", "timeline_scores"]

DWELL_S = 3.6
"""For how long a polyp stays in view, in the mean: the paper's sequences have 230 / 16 frames, at
four frames per second."""

SHARE = 0.012
"""The share of the time in which a polyp is in view: the paper has 230 polyp frames of 18,968."""

LOOK_S = 0.25
"""Frames that are closer in time count for less each: at four frames per second, as in the paper,
every frame is a look of its own, and at forty it takes ten frames to make one."""

FRAME_S = 0.25
"""The time from one frame to the next where times are unknown."""

CLIP = 0.001
"""Probabilities are taken to be no closer to 0 or 1: no single frame decides."""


def timeline_scores(
    score: ArrayLike,
    *,
    frame: ArrayLike,
    head: ArrayLike | None = None,
    time: ArrayLike | None = None,
    dwell: float = DWELL_S,
    share: float = SHARE,
    look: float = LOOK_S,
    frame_seconds: float = FRAME_S,
) -> NDArray[np.float64]:
    r"""Return for each frame the probability of a polyp given all frames of its head.

    With kappa = 1 / (dwell (1 - share)), the state at a time d later is, by the law of a Markov
    process in continuous time that is at rest,

        P(polyp after d | a) = share + (a - share) exp(-kappa d)

    where a is its probability now. A frame with the probability p (for as many polyp frames as
    others) is evidence of w logit(p), where logit(p) = log(p / (1 - p)) and

        w = (min(g, look) + min(h, look)) / (2 look)

    with the seconds g and h to the scored frames before and after: a stretch of T seconds in which
    frames are close counts as T / look + 1 looks, at any frame rate. The score is

        logit(score) = past + w logit(p) + future

    where past = logit(P(polyp | all earlier frames)) - logit(share), and future likewise: what the
    neighbours add to the frame's own evidence. Without neighbours both are 0 and w is 1, so that a
    frame far from all others keeps its probability. Forward and backward filtering [1]_ give both
    in O(n); the process looks the same in either direction of time.

    Parameters
    ----------
    score
        Probabilities; NaN where a frame was not scored, which is a gap and no evidence.
    frame, head
        As in the table of frames, sorted by head and frame. One head by default. Nothing passes
        from one head to another.
    time
        Seconds. Where a scored frame of a head has none (NaN), or without `time`, the frame numbers
        of that head are taken for time.
    dwell, share, look, frame_seconds
        See :data:`DWELL_S`, :data:`SHARE`, :data:`LOOK_S` and :data:`FRAME_S`.

    Returns
    -------
    ndarray
        Like `score`, for as many polyp frames as others; NaN where `score` is.

    Raises
    ------
    ParameterError
        Scores that are no probabilities, columns that do not fit each other, frames that are not
        sorted, or a constant that makes no sense.

    References
    ----------
    .. [1] L. R. Rabiner, "A tutorial on hidden Markov models and selected applications in speech
       recognition", Proceedings of the IEEE 77, 257-286, 1989.

    Examples
    --------
    A high score counts for less between low ones than in a row of its like:

    >>> alone = timeline_scores([0.2, 0.8, 0.2], frame=[0, 1, 2])[1]
    >>> in_a_row = timeline_scores([0.8, 0.8, 0.8], frame=[0, 1, 2])[1]
    >>> print(f"{alone:.2f} {in_a_row:.2f}")
    0.27 0.98
    """
    _check_constants(dwell=dwell, share=share, look=look, frame_seconds=frame_seconds)
    values, numbers, heads, times = _checked(score, frame, head, time)
    found = np.full(len(values), np.nan)
    rate = 1.0 / (dwell * (1.0 - share))
    for name in np.unique(heads):
        here = np.flatnonzero((heads == name) & ~np.isnan(values))
        if not len(here):
            continue
        clock = times[here]
        if np.isnan(clock).any():
            clock = frame_seconds * numbers[here]
        # A clock that jumps back is at fault; how far it jumps is all that it tells.
        gap = np.abs(np.diff(clock))
        near = np.minimum(np.concatenate([[np.inf], gap, [np.inf]]), look)
        p = np.clip(values[here], CLIP, 1.0 - CLIP)
        evidence = (near[:-1] + near[1:]) / (2.0 * look) * np.log(p / (1.0 - p))
        kept = np.exp(-rate * gap)
        past = _support(evidence, kept, share)
        future = _support(evidence[::-1], kept[::-1], share)[::-1]
        total = past + evidence + future
        # Either form is exact where the other one would lose digits or overflow.
        small = np.exp(-np.abs(total))
        found[here] = np.where(total >= 0, 1.0, small) / (1.0 + small)
    return found


def _support(
    evidence: NDArray[np.float64], kept: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """Return what the frames before each one add to its log odds.

    Parameters
    ----------
    evidence
        Log odds.
    kept
        exp(-kappa d) for the gap before each frame but the first.
    share
        Of the time in which a polyp is in view.
    """
    rest = math.log(share / (1.0 - share))
    support = [0.0]
    seen, unseen = share, 1.0 - share  # both are carried: 1 - seen would lose its digits
    for weight, stays in zip(np.exp(evidence[:-1]).tolist(), kept.tolist(), strict=True):
        seen *= weight
        whole = seen + unseen
        seen = share * (1.0 - stays) + seen / whole * stays
        unseen = (1.0 - share) * (1.0 - stays) + unseen / whole * stays
        support.append(math.log(seen / unseen) - rest)
    return np.array(support)


def _checked(
    score: ArrayLike, frame: ArrayLike, head: ArrayLike | None, time: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[Any], NDArray[np.float64]]:
    values = np.asarray(score, dtype=np.float64)
    numbers = np.asarray(frame, dtype=np.int64)
    heads = np.zeros(len(values), np.int64) if head is None else np.asarray(head)
    times = np.full(len(values), np.nan) if time is None else np.asarray(time, dtype=np.float64)
    for name, column in (("frame", numbers), ("head", heads), ("time", times)):
        if column.shape != values.shape or values.ndim != 1:
            raise ParameterError(
                name, f"must be one number per score, of shape {values.shape}, not {column.shape}"
            )
    wrong = values[~np.isnan(values) & ~((values >= 0) & (values <= 1))]
    if len(wrong):
        raise ParameterError(
            "score",
            f"{wrong[0]:g} is no probability; only detectors whose score is one have a timeline "
            "score",
        )
    same = heads[1:] == heads[:-1]
    if (np.diff(numbers)[same] <= 0).any() or (heads[1:] < heads[:-1]).any():
        raise ParameterError("frame", "must grow within each head, head after head")
    return values, numbers, heads, times


def _check_constants(*, dwell: float, share: float, look: float, frame_seconds: float) -> None:
    for name, seconds in (("dwell", dwell), ("look", look), ("frame_seconds", frame_seconds)):
        if not 0 < seconds < math.inf:
            raise ParameterError(name, f"must be a time above 0 seconds, not {seconds}")
    if not 0 < share < 1:
        raise ParameterError("share", f"must be above 0 and below 1, not {share}")
