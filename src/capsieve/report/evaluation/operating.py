"""An operating point on curves and in words."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from capsieve.report.formats import plain
from capsieve.report.words import digits
from capsieve.statistics.evaluation import Evaluation, OperatingPoint

__all__ = ["distinct_points", "is_paper", "place_of", "point_words", "threshold_name"]

_KINDS = {
    "stated": "as stated",
    "screened": "as screened",
    "instead": "instead of the reading lists",
    "chosen": "chosen on the training part",
    "fitted": "fitted to these very frames",
}


def place_of(thresholds: NDArray[np.float64], threshold: float) -> int:
    """Return the last point of a curve whose threshold is at least this one.

    Thresholds fall along a curve; -1 where the first point is already below.
    """
    return int(np.searchsorted(-thresholds, -threshold, side="right")) - 1


def distinct_points(points: Sequence[OperatingPoint]) -> list[OperatingPoint]:
    """Return the points to mark: of those with the same threshold the first."""
    found: dict[float, OperatingPoint] = {}
    for point in points:
        found.setdefault(point.threshold, point)
    return list(found.values())


def is_paper(evaluation: Evaluation) -> bool:
    """Return whether the score is the paper's R_max, so that the threshold is R_P."""
    return evaluation.detector.get("name") == "paper"


def threshold_name(evaluation: Evaluation, point: OperatingPoint) -> str:
    """Return the threshold with its name: ``R_P = 37``, or ``score >= 0.5``."""
    sign = "R_P =" if is_paper(evaluation) else "score \N{GREATER-THAN OR EQUAL TO}"
    return f"{sign} {digits(point.threshold)}"


def point_words(point: OperatingPoint) -> str:
    """Return in short who chose the operating point."""
    return _KINDS.get(point.key, plain(point.key))
