"""Comparison of an exam with the exams that the detector was tuned on."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.detector import ReferenceRange
from capsieve.store.record import FieldOfViewRecord, RangeMeasure, RangeRecord

_COLOURS = ("red", "green", "blue")

MEASURED = ("texture_max", *_COLOURS)
"""Columns of the scored frames that the measures are computed from."""

MOST_OUTSIDE = 0.1
"""Share of an exam's frames outside the reference's 1 to 99 % above which there is a warning.

2 % are outside by definition, and a single exam varies less than all exams together.
"""

_FIELD_TOLERANCE = 0.25
"""The field of view is one value per exam, and all reference exams may have the same one: only a
larger deviation is another resolution."""

_ROUNDING = 1e-6  # relative; colours are stored in single precision
_NEARLY_BLACK = 1.0  # median brightness, 0 to 255

_WORDS = {
    "texture": ("smoother", "more textured"),
    "brightness": ("darker", "brighter"),
    "redness": ("less red", "redder"),
    "blueness": ("less blue", "bluer"),
    "field": ("smaller", "larger"),
}


def measures(
    columns: Mapping[str, NDArray[np.float64]], diameters: Sequence[float]
) -> dict[str, NDArray[np.float64]]:
    """Return the values of every measure, see :data:`capsieve.detector.MEASURES`.

    Parameters
    ----------
    columns
        The columns :data:`MEASURED` of the scored frames, without missing values.
    diameters
        Diameter of the field of view of each head, in pixels of the source.
    """
    red, green, blue = (columns[name] for name in ("red", "green", "blue"))
    total = red + green + blue
    coloured = total > 0  # a black frame has no colour
    texture = columns["texture_max"]
    # Detectors without the paper's steps score frames without T_max.
    known = {"texture": texture} if len(texture) or not len(total) else {}
    return known | {
        "brightness": total / 3,
        "redness": red[coloured] / total[coloured],
        "blueness": blue[coloured] / total[coloured],
        "field": np.array(diameters, np.float64),
    }


def measured_columns(frames: pa.Table) -> dict[str, NDArray[np.float64]]:
    """Return the columns MEASURED of the scored frames, which have all three colours."""
    coloured = frames.select(_COLOURS).drop_null()
    columns = {"texture_max": frames["texture_max"].drop_null()}
    columns |= {name: coloured[name] for name in _COLOURS}
    return {name: column.to_numpy().astype(np.float64) for name, column in columns.items()}


def usual_diameters(fields: Sequence[FieldOfViewRecord]) -> list[float]:
    """Return the diameter of each head's field of view for its most frequent size of frames."""
    diameters: dict[int, float] = {}
    for entry in fields:  # the most frequent size of each head is first
        diameters.setdefault(entry["head"], 2 * entry["radius"])
    return list(diameters.values())


def compare_range(
    measured: Mapping[str, NDArray[np.float64]], reference: ReferenceRange
) -> RangeRecord:
    """Return for each measure how much of the exam is outside the range of the reference."""
    compared: dict[str, RangeMeasure] = {}
    for name, (lowest, highest) in reference.quantiles.items():
        if name not in measured:
            continue
        values = measured[name]
        tolerance = _FIELD_TOLERANCE if name == "field" else 0.0
        low, high = lowest * (1 - tolerance), highest * (1 + tolerance)
        rounding = _ROUNDING * max(abs(low), abs(high))
        below = float((values < low - rounding).mean()) if len(values) else 0.0
        above = float((values > high + rounding).mean()) if len(values) else 0.0
        median = float(np.median(values)) if len(values) else None
        entry = RangeMeasure(
            low=low, high=high, median=median, below=below, above=above, warning=""
        )
        if below + above > MOST_OUTSIDE:
            entry["warning"] = f"The frames are {_phrase(name, entry)}."
        compared[name] = entry
    return RangeRecord(reference=reference.reference, measures=compared)


def range_warnings(
    comparison: RangeRecord, measured: Mapping[str, NDArray[np.float64]]
) -> list[str]:
    """Return the warnings of an exam's record: at most one about all measures together."""
    outside = comparison["measures"].items()
    phrases = [_phrase(name, entry) for name, entry in outside if entry["warning"]]
    warnings: list[str] = []
    if phrases:
        *first, last = phrases
        joined = f"{', '.join(first)} and {last}" if first else last
        warnings.append(
            f"The frames are {joined} than those that the detector was tuned on. Results may be "
            "less reliable."
        )
    brightness = measured["brightness"]
    if len(brightness) and np.median(brightness) < _NEARLY_BLACK:
        warnings.append(
            "The frames are nearly black. If they are 16-bit files with 8-bit values, convert them "
            "to 8 bits."
        )
    return warnings


def _phrase(name: str, entry: RangeMeasure) -> str:
    unit, digits = (" px", ".0f") if name == "field" else ("", ".3g")
    low, high, median = entry["low"], entry["high"], entry["median"]
    share = max(entry["below"], entry["above"])
    word = _WORDS[name][entry["below"] < entry["above"]]
    if median is None or low <= median <= high:  # a part of the frames is outside
        return f"in {100 * share:.0f} % of cases {word}"
    known = f"{low:{digits}}" if low == high else f"{low:{digits}} to {high:{digits}}"
    return f"{word} ({median:{digits}}{unit}, tuned for {known}{unit})"
