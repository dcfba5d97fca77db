"""What the search makes as large as it can.

The sensitivity at one specificity moves in steps of single frames, and a search would chase them.
So it is averaged over false positive rates from half to one and a half times the allowed one, on
the straight lines between the points of the curve, and by default over frames and polyps.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.statistics.flags import negative_scores, positive_scores
from capsieve.statistics.judged import NORMAL, POLYP

__all__ = ["Objective", "Truth", "check_objective", "objective"]

Objective = Literal["both", "frames", "polyps"]
"""Mean sensitivity per frame, per polyp, or the mean of the two."""

_PLACES = 11


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What frames show.

    Attributes
    ----------
    truth, polyp
        As in :class:`~capsieve.statistics.judged.Judged`.
    """

    truth: NDArray[np.int8]
    polyp: NDArray[np.int32]

    def take(self, chosen: NDArray[np.bool_]) -> "Truth":
        """Return some of the frames."""
        return Truth(self.truth[chosen], self.polyp[chosen])


def check_objective(what: str) -> None:
    """Raise a ParameterError where there is no such objective."""
    if what not in get_args(Objective):
        raise ParameterError(
            "objective", f"must be one of {', '.join(get_args(Objective))}, not {what!r}"
        )


def objective(
    score: NDArray[np.float64],
    shown: Truth,
    *,
    target_specificity: float = 0.9,
    what: Objective = "both",
) -> float:
    """Return the mean sensitivity around a target specificity, from 0 to 1.

    Parameters
    ----------
    score
        Per frame; NaN where it was not scored.
    shown
        What the frames show.
    target_specificity
        The middle of the range.
    what
        Of frames, of polyps, or the mean of both. Without a named polyp it is of frames alone.
    """
    polyp = shown.truth == POLYP
    found = positive_scores(score[polyp])
    false = negative_scores(score[shown.truth == NORMAL])
    if not len(found) or not len(false):
        return 0.0
    # R_max is a whole number: there are few thresholds.
    thresholds = np.unique(np.concatenate([found, false]))[::-1]
    thresholds = thresholds[thresholds > 0]
    allowed = (1 - target_specificity) * np.linspace(0.5, 1.5, _PLACES)
    rates = _at_least(false, thresholds)

    def mean(scores: NDArray[np.float64]) -> float:
        return float(np.interp(allowed, rates, _at_least(scores, thresholds)).mean())

    code = shown.polyp[polyp]
    named = code >= 0
    if what == "frames" or not named.any():
        return mean(found)
    best = np.zeros(int(code.max()) + 1)
    np.maximum.at(best, code[named], found[named])
    per_polyp = mean(best[np.unique(code[named])])
    return per_polyp if what == "polyps" else 0.5 * (mean(found) + per_polyp)


def _at_least(scores: NDArray[np.float64], falling: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of scores that each threshold flags, after a first one that flags none."""
    count = len(scores) - np.searchsorted(np.sort(scores), falling, side="left")
    return np.concatenate([[0.0], count / len(scores)])
