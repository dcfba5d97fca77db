"""Whether an exam looks like those that the detector was calibrated on."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.detector import ReferenceRange
from capsieve.store.record import RangeMeasure, ViewRecord

__all__ = ["MOST_OUTSIDE", "compare", "measures_of"]

MOST_OUTSIDE = 0.1
"""Share of an exam's frames outside the reference's 1 to 99 % above which it is said so.

Two in a hundred are outside by construction; a single exam is less varied than all together, so
five times as many is taken for another kind of input.
"""

_FIELD_SLACK = 0.25
"""The field of view is one value for each exam, and reference exams may all have the same: it may
leave their range by that much before it is another resolution."""

_ROUNDING = 1e-6
"""Relative: colours are kept in single precision, and a range may be a single value."""

_WORDS = {
    "texture": ("smoother", "more textured"),
    "brightness": ("darker", "brighter"),
    "redness": ("less red", "redder"),
    "blueness": ("less blue", "bluer"),
    "field": ("of fewer pixels", "of more pixels"),
}


def measures_of(
    measured: Mapping[str, NDArray[np.float64]], views: Sequence[ViewRecord]
) -> dict[str, NDArray[np.float64]]:
    """Return the values of every measure, see :data:`capsieve.detector.MEASURES`.

    Parameters
    ----------
    measured
        T_max and the mean colours of the scored frames.
    views
        The fields of view of the exam.
    """
    red, green, blue = (measured[name] for name in ("red", "green", "blue"))
    whole = red + green + blue
    # The usual size comes first: a stray image of another size is not what the exam looks like.
    usual: dict[int, ViewRecord] = {}
    for view in views:
        usual.setdefault(view["head"], view)
    coloured = whole > 0
    texture = measured["texture_max"]
    # A detector that does not take the paper's steps scores frames without a T_max.
    known = {"texture": texture} if len(texture) or not len(whole) else {}
    return known | {
        "brightness": whole / 3,
        "redness": red[coloured] / whole[coloured],
        "blueness": blue[coloured] / whole[coloured],
        "field": np.array([2 * view["radius"] for view in usual.values()]),
    }


def compare(
    measures: Mapping[str, NDArray[np.float64]], reference: ReferenceRange
) -> dict[str, Any]:
    """Return the part of the exam's record that tells which measures leave the range, how far.

    What was not measured is left out.
    """
    found: dict[str, RangeMeasure] = {}
    for name, (lowest, highest) in reference.quantiles.items():
        if name not in measures:
            continue
        values = measures[name]
        slack = _FIELD_SLACK if name == "field" else 0.0
        low, high = lowest * (1 - slack), highest * (1 + slack)
        rounding = _ROUNDING * max(abs(low), abs(high))
        below = float((values < low - rounding).mean()) if len(values) else 0.0
        above = float((values > high + rounding).mean()) if len(values) else 0.0
        median = float(np.median(values)) if len(values) else None
        found[name] = RangeMeasure(
            low=low,
            high=high,
            median=median,
            below=below,
            above=above,
            warning=_warning(name, low, high, median, below, above),
        )
    return {"reference": reference.reference, "measures": found}


def _warning(
    name: str, low: float, high: float, median: float | None, below: float, above: float
) -> str:
    if median is None or below + above <= MOST_OUTSIDE:
        return ""
    side = _WORDS[name][below < above]
    share = f"{100 * max(below, above):.0f} % of the values lie"
    where = f"below {low:.3g}" if below >= above else f"above {high:.3g}"
    known = f"{low:.3g} to {high:.3g}" if low < high else f"a single value, {low:.3g}"
    return (
        f"This exam is {side} than what the detector was calibrated on: {share} {where} "
        f"(median {median:.3g}, calibrated for {known})."
    )
