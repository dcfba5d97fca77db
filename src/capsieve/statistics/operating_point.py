"""Thresholds chosen by a rule: the paper's operating point, and those of a calibration.

All rules are compared on whole numbers of frames or polyps, never on rounded shares.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.errors import ParameterError
from capsieve.statistics.flags import (
    flagged_at,
    negative_scores,
    positive_scores,
    rejected_to_zero,
)
from capsieve.statistics.intervals import least_count
from capsieve.statistics.judged import NORMAL

__all__ = [
    "CrossFitted",
    "cross_fitted",
    "smallest_threshold",
    "threshold_for_frames",
    "threshold_for_sensitivity",
]


@dataclass(frozen=True, slots=True, eq=False)
class CrossFitted:
    """Frames flagged with thresholds in which they had no say.

    Attributes
    ----------
    flagged
        Per frame; False for frames in no part.
    thresholds
        By part: the threshold that the other parts chose for it.
    """

    flagged: NDArray[np.bool_]
    thresholds: dict[int, float]


def smallest_threshold(
    train_normal_scores: ArrayLike,
    *,
    target_specificity: float,
    step: float | None = None,
    candidates: ArrayLike | None = None,
) -> float:
    """Return the smallest threshold whose specificity on the training frames reaches the target.

    This is the paper's procedure for R_P: "among all values of the threshold R_P we choose a
    minimal value that provides at least that much specificity".

    Parameters
    ----------
    train_normal_scores
        Scores of the normal frames of the training patients; NaN is left out.
    target_specificity
        At least this share of them must not be flagged, 0.9 in the paper.
    step
        Thresholds are whole multiples of this, from `step` itself up: 1 for the paper's R_P.
        Without it they are observed scores.
    candidates
        The observed scores to choose from, those of all training frames; without them, those of
        the normal frames. Where none of them will do, the result lies just above the highest
        normal score.

    Returns
    -------
    float
        Positive.
    """
    scores = negative_scores(train_normal_scores)
    if not len(scores):
        raise ParameterError(
            "target_specificity",
            "no normal frame of the training part was scored, so no threshold can be chosen; "
            "give a split whose training part has normal frames, or state a threshold",
        )
    allowed = len(scores) - least_count(target_specificity, len(scores))
    return _smallest(scores, allowed, step=step, candidates=candidates)


def threshold_for_frames(
    scores: ArrayLike,
    *,
    exams: int,
    most: float,
    step: float | None = None,
    candidates: ArrayLike | None = None,
) -> float:
    """Return the smallest threshold that flags at most so many frames per exam, in the mean.

    Parameters
    ----------
    scores
        Of all frames of the exams, whatever they show.
    exams
        How many there are.
    most
        Frames per exam that a reader is ready to look at.
    step, candidates
        As for :func:`smallest_threshold`.
    """
    flat = negative_scores(scores)
    if exams < 1:
        raise ParameterError("exams", "there is no exam to count frames of; give at least one")
    if not most >= 0:
        raise ParameterError("most", f"{most} frames per exam cannot be; give 0 or more")
    # As written: in floating point, 0.29 * 100 is a little less than 29.
    allowed = math.floor(Fraction(repr(float(most))) * exams) if math.isfinite(most) else len(flat)
    return _smallest(flat, allowed, step=step, candidates=candidates)


def threshold_for_sensitivity(polyp_scores: ArrayLike, *, share: float) -> float | None:
    """Return the largest threshold that finds at least this share of the polyps.

    Parameters
    ----------
    polyp_scores
        The best score of each polyp; NaN counts as missed.
    share
        Above 0, up to 1.

    Returns
    -------
    float or None
        None where no threshold finds so many: too many were rejected before they were measured.
    """
    scores = np.sort(positive_scores(polyp_scores))[::-1]
    if not 0 < share <= 1:
        raise ParameterError("share", f"{share} is no share of polyps; give one above 0, up to 1")
    needed = least_count(share, len(scores))
    if needed == 0 or scores[needed - 1] <= 0:
        return None
    return float(scores[needed - 1])


def cross_fitted(
    score: NDArray[np.float64],
    truth: NDArray[np.int8],
    part: NDArray[np.int16],
    *,
    target_specificity: float,
    step: float | None = None,
) -> CrossFitted:
    """Flag the frames of each part with the threshold that all other parts choose.

    Parameters
    ----------
    score, truth, part
        As in :class:`~capsieve.statistics.judged.Judged`; part -1 is in no part.
    target_specificity, step
        As for :func:`smallest_threshold`.
    """
    flagged = np.zeros(len(score), dtype=np.bool_)
    thresholds: dict[int, float] = {}
    for code in np.unique(part[part >= 0]):
        here = part == code
        others = (part >= 0) & ~here
        thresholds[int(code)] = smallest_threshold(
            score[others & (truth == NORMAL)],
            target_specificity=target_specificity,
            step=step,
            candidates=score[others],
        )
        flagged[here] = flagged_at(score[here], thresholds[int(code)])
    return CrossFitted(flagged, thresholds)


def _smallest(
    scores: NDArray[np.float64],
    allowed: int,
    *,
    step: float | None,
    candidates: ArrayLike | None,
) -> float:
    """Return the smallest threshold that at most `allowed` scores reach."""
    if step is not None and not (np.isfinite(step) and step > 0):
        raise ParameterError("step", f"{step} is no step; give a positive number")
    falling = np.sort(scores)[::-1]
    # The highest score that must stay below the threshold; 0 where every positive one may pass.
    barrier = float(falling[allowed]) if allowed < len(falling) else 0.0
    if step is not None:
        count = max(1.0, np.floor(barrier / step) + 1)
        while count * step <= barrier:  # the division may have been rounded down
            count += 1
        while count > 1 and (count - 1) * step > barrier:  # or up
            count -= 1
        return float(count * step)
    observed = np.unique(rejected_to_zero(scores if candidates is None else candidates))
    above = observed[observed > barrier]
    if len(above):
        return float(above[0])
    return float(np.nextafter(barrier, np.inf))
