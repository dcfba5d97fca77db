"""Out-of-fold curves: two settings compared at the very same specificity.

Thresholds that other parts chose only come near the target, and a setting that missed it would look
more sensitive than it is. On the pooled curve both are read at the target itself.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.curve_rounds import curve_rounds
from capsieve.statistics.flags import flagged_at, negative_scores, positive_scores
from capsieve.statistics.judged import NORMAL
from capsieve.statistics.metric import Metric
from capsieve.statistics.operating_point import smallest_threshold

__all__ = ["out_of_fold_curves", "standing"]


def standing(
    part: NDArray[np.int16], truth: NDArray[np.int8], scores: Mapping[int, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return scores that may be pooled over parts which were judged with different settings.

    R_max of one setting is no R_max of another. What they share is the share of the other parts'
    normal frames that score less: 1 and that share. A rejected frame stays at 0, an unscored one
    at NaN.

    Parameters
    ----------
    part, truth
        Per frame.
    scores
        By part: the scores of all frames under its setting.
    """
    pooled = np.full(len(part), np.nan)
    for code, score in scores.items():
        here = part == code
        normal = (part >= 0) & ~here & (truth == NORMAL)
        below = np.sort(negative_scores(score[normal]))
        rank = np.searchsorted(below, score[here], side="left") / len(below)
        mine = np.where(score[here] > 0, rank + 1.0, 0.0)
        pooled[here] = np.where(np.isnan(score[here]), np.nan, mine)
    return pooled


def out_of_fold_curves(
    standings: Sequence[NDArray[np.float64]],
    classes: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    group: NDArray[np.int64],
    *,
    kind: str,
    target: float,
    rounds: int,
    seed: int,
) -> tuple[Metric, ...]:
    """Return the sensitivity of both curves at the target specificity, and the difference.

    Parameters
    ----------
    standings
        Of the searched settings and of the base, from :func:`standing`.
    classes
        Polyp frames and normal frames.
    group, kind
        What is drawn again as a whole.
    target
        The specificity.
    rounds, seed
        Of the bootstrap. Both are drawn alike, round by round.
    """
    polyp, normal = classes
    words = f"at {100 * target:g} % specificity, of out-of-fold scores"
    drawn = [
        curve_rounds(
            each[polyp],
            each[normal],
            positive_units=group[polyp],
            negative_units=group[normal],
            kind=kind,
            specificities=(target,),
            rounds=rounds,
            seed=seed,
        )
        for each in standings
    ]
    values: list[float | None] = []
    for each in standings:
        found, false = positive_scores(each[polyp]), negative_scores(each[normal])
        if not len(found) or not len(false):
            values.append(None)
            continue
        threshold = smallest_threshold(
            false, target_specificity=target, candidates=np.concatenate([found, false])
        )
        values.append(float(flagged_at(found, threshold).mean()))
    metrics = [
        Metric(
            f"curve.{who}",
            f"Sensitivity per frame {words}, {who}",
            value,
            "The share of polyp frames flagged at the threshold that reaches the target on the "
            "judged frames themselves.",
            intervals=(each.interval(each.sensitivity[:, 0]),),
        )
        for who, value, each in zip(("searched", "base"), values, drawn, strict=True)
    ]
    one, two = values
    samples = drawn[0].sensitivity[:, 0] - drawn[1].sensitivity[:, 0]
    difference = Metric(
        "curve.difference",
        f"Difference in sensitivity per frame {words}",
        None if one is None or two is None else one - two,
        "Searched less base, both at the same specificity.",
        intervals=(drawn[0].interval(samples),),
    )
    return (*metrics, difference)
