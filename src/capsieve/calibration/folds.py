"""Folds that judge each other: no frame has a say in the threshold that it is judged with."""

import numpy as np

from capsieve.calibration.choice import choose, is_possible
from capsieve.calibration.target import Scale, Target
from capsieve.statistics.flags import flagged_at
from capsieve.statistics.judged import UNLABELLED, Judged
from capsieve.statistics.operating_point import CrossFitted

__all__ = ["cross_fit"]


def cross_fit(judged: Judged, target: Target, scale: Scale) -> tuple[CrossFitted | None, str]:
    """Flag the frames of each fold with the threshold that all other folds choose.

    For a target specificity this is :func:`~capsieve.statistics.operating_point.cross_fitted`; here
    the target may be any.

    Parameters
    ----------
    judged
        The frames, with the folds as parts.
    target, scale
        As for :func:`~capsieve.calibration.choice.choose`.

    Returns
    -------
    tuple
        The flags, or None where folds find no threshold; and then a sentence that says for which.
    """
    flagged = np.zeros(len(judged), np.bool_)
    thresholds: dict[int, float] = {}
    failed: list[str] = []
    used = (judged.part >= 0) & (judged.truth != UNLABELLED)
    for code in np.unique(judged.part[used]):
        here = judged.part == code
        others = judged.take((judged.part >= 0) & ~here)
        threshold = choose(others, target, scale) if is_possible(others, target) else None
        if threshold is None:
            failed.append(judged.parts[code])
            continue
        thresholds[int(code)] = threshold
        flagged[here] = flagged_at(judged.score[here], threshold)
    if failed:
        folds = "fold" if len(failed) == 1 else "folds"
        return None, (
            f"The other folds find no {scale.name} for {folds} {', '.join(failed)} that reaches "
            "the target, so there are no figures with thresholds of the other folds."
        )
    return CrossFitted(flagged, thresholds), ""
