"""Whether there is enough to learn from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.learned.training.balance import usable
from capsieve.learned.training.examples import Examples
from capsieve.statistics.judged import NORMAL, OTHER, POLYP

__all__ = ["LEAST_FRAMES", "LEAST_GROUPS", "LEAST_POLYPS", "check_examples"]

LEAST_FRAMES = 100
LEAST_POLYPS = 5
LEAST_GROUPS = 4
"""Frames, polyps (or runs) and groups with a polyp or a negative. Less teaches nothing that holds
for another exam."""


def check_examples(examples: Examples, chosen: NDArray[Any]) -> NDArray[np.int64]:
    """Return the chosen rows as indices, if a model can learn from them.

    Raises
    ------
    ParameterError
        No frames, only one class, groups missing, no source with both classes, too few frames,
        polyps or groups, or values that are not numbers.
    """
    rows = examples.rows(chosen)
    truth = examples.truth[rows]
    polyp = truth == POLYP
    negative = (truth == NORMAL) | (truth == OTHER)
    if not polyp.any():
        raise ParameterError("labels", "no frame shows a polyp: there is nothing to learn")
    if not negative.any():
        raise ParameterError(
            "labels", "every frame shows a polyp: label frames without one as normal or other too"
        )
    without = np.count_nonzero(examples.group[rows] < 0)
    if without:
        raise ParameterError(
            "groups",
            f"{without} of {len(rows)} frames name no exam, patient or block: frames that belong"
            " together could not be kept apart",
        )
    may = usable(examples, rows)
    if not may.any():
        raise ParameterError(
            "labels", "no source has both polyp frames and frames without a polyp to tell them from"
        )
    _check_numbers(examples, rows[may])
    _check_values(examples, rows[may])
    return rows


def _check_numbers(examples: Examples, rows: NDArray[np.int64]) -> None:
    """Raise where there is too little of something."""
    shown = rows[examples.truth[rows] == POLYP]
    named = examples.polyp[shown]
    polyps = len(np.unique(named[named >= 0])) + np.count_nonzero(named < 0)
    groups = len(np.unique(examples.group[rows]))
    for found, least, what in (
        (len(rows), LEAST_FRAMES, "frames"),
        (polyps, LEAST_POLYPS, "polyps"),
        (groups, LEAST_GROUPS, "groups (exams, patients or blocks)"),
    ):
        if found < least:
            raise ParameterError(
                "labels",
                f"{found} {what} in sources that have polyps are too few to learn from, at least"
                f" {least} are needed",
            )


def _check_values(examples: Examples, rows: NDArray[np.int64]) -> None:
    """Raise where a value is NaN or infinite."""
    wrong = np.flatnonzero(~np.isfinite(examples.values[rows]).all(axis=0))
    if len(wrong):
        names = ", ".join(examples.value_names[column] for column in wrong)
        raise ParameterError("values", f"not a finite number in some frames: {names}")
