"""The receiver operating characteristic, per frame or per polyp."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.statistics.curves import RocCurve
from capsieve.statistics.flags import negative_scores, positive_scores
from capsieve.statistics.intervals import least_count

__all__ = ["roc_curve", "sensitivity_at_specificity"]


def roc_curve(positives: ArrayLike, negatives: ArrayLike, *, unit: str = "frame") -> RocCurve:
    """Return true against false positive rate at every distinct positive score.

    TPR and FPR are the shares of positives and negatives whose score is at least the threshold
    (the paper's section on the ROC curve). Points on a straight line are kept. Scores of 0 or less
    have no threshold: where there are any, the curve ends short of (1, 1).

    Parameters
    ----------
    positives
        Scores of polyp frames, or the best score of each polyp; NaN counts as missed.
    negatives
        Scores of normal frames; NaN is left out.
    unit
        What a positive is: "frame", "polyp" or "run".

    Returns
    -------
    RocCurve
        Without a single positive its true positive rates are NaN, without a single negative its
        false positive rates: a share of nothing has no value.
    """
    found = np.sort(positive_scores(positives))
    false = np.sort(negative_scores(negatives))
    distinct = np.unique(np.concatenate([found[found > 0], false[false > 0]]))[::-1]
    thresholds = np.concatenate([[np.inf], distinct])
    return RocCurve(
        thresholds=thresholds,
        false_positive_rate=_share_at_least(false, distinct),
        true_positive_rate=_share_at_least(found, distinct),
        positives=len(found),
        negatives=len(false),
        unit=unit,
    )


def sensitivity_at_specificity(curve: RocCurve, specificity: float) -> tuple[float, float] | None:
    """Return the highest sensitivity that a threshold reaches at this specificity or more.

    Returns
    -------
    tuple or None
        The sensitivity, and the strictest threshold that has it: of equally sensitive ones the one
        with the fewest false alarms, infinite where only flagging nothing is specific enough. None
        where a class is empty.
    """
    if not curve.positives or not curve.negatives:
        return None
    allowed = curve.negatives - least_count(specificity, curve.negatives)
    flagged = np.rint(curve.false_positive_rate * curve.negatives)
    last = int(np.searchsorted(flagged, allowed, side="right")) - 1
    best = float(curve.true_positive_rate[last])
    first = int(np.searchsorted(curve.true_positive_rate, best, side="left"))
    return best, float(curve.thresholds[first])


def _share_at_least(
    scores: NDArray[np.float64], thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the share of sorted scores at or above infinity and each threshold."""
    if not len(scores):
        return np.full(len(thresholds) + 1, np.nan)
    above = len(scores) - np.searchsorted(scores, thresholds, side="left")
    return np.concatenate([[0.0], above / len(scores)])
