"""metrics.json: every number with its interval, its counts and its definition.

The same evaluation gives the same bytes. JSON has no infinity and nothing that is not a number:
both become null.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write
from capsieve.report.evaluation.operating import place_of
from capsieve.report.evaluation.thinning import thinned
from capsieve.statistics.curves import AlarmCurve, Band, EffortCurve, FrocCurve, RocCurve
from capsieve.statistics.evaluation import Comparison, Evaluation, Histogram, OperatingPoint
from capsieve.statistics.metric import LEVEL, Interval, Metric

__all__ = ["METRICS", "METRICS_SCHEMA", "metrics_content", "write_metrics"]

METRICS = "metrics.json"
METRICS_SCHEMA = 1
"""Version of metrics.json; it grows when a name changes its meaning."""

Curve = RocCurve | EffortCurve | AlarmCurve | FrocCurve

_AXES: dict[type, tuple[str, str]] = {
    RocCurve: ("false_positive_rate", "true_positive_rate"),
    EffortCurve: ("frames", "polyps_found"),
    AlarmCurve: ("alarms", "found"),
    FrocCurve: ("marks", "hit_rate"),
}


def write_metrics(evaluation: Evaluation, path: Path) -> None:
    """Write metrics.json, whole or not at all.

    Raises
    ------
    FileError
        The place cannot be written to.
    """
    text = json.dumps(
        metrics_content(evaluation), allow_nan=False, ensure_ascii=False, indent=1, sort_keys=True
    )
    with atomic_write(path) as temporary:
        temporary.write_bytes(f"{text}\n".encode("utf-8", "replace"))


def metrics_content(evaluation: Evaluation) -> dict[str, Any]:
    """Return what metrics.json holds, as plain values."""
    e = evaluation
    curves: dict[str, Curve | None] = {
        "roc_frames": e.roc_frames,
        "roc_polyps": e.roc_polyps,
        "effort": e.effort,
        "alarms": e.alarms,
        "froc": e.froc,
    }
    bands = {"roc_frames": e.roc_frames_band, "roc_polyps": e.roc_polyps_band}
    return {
        "schema": METRICS_SCHEMA,
        "capsieve": __version__,
        "results": e.results,
        "labels": e.labels,
        "settings": _plain(e.settings),
        "detector": _plain(e.detector),
        "parameters": _plain(e.parameters),
        "unit": e.unit,
        "resampled": e.judged.group_kind,
        "problems": [
            {"what": p.what, "rows": p.rows, "examples": list(p.examples), "used": p.used}
            for p in e.problems
        ],
        "warnings": list(e.warnings),
        "leaks": list(e.leaks),
        "points": [
            {
                "key": point.key,
                "threshold": _plain(point.threshold),
                "how": point.how,
                "optimistic": point.optimistic,
            }
            for point in e.points
        ],
        "metrics": [_metric(metric) for metric in e.metrics],
        "curves": {
            name: _curve(curve, e.points) for name, curve in curves.items() if curve is not None
        },
        "bands": {name: _band(band) for name, band in bands.items() if band is not None},
        "histograms": [_histogram(histogram) for histogram in e.histograms],
        "comparison": None if e.comparison is None else _comparison(e.comparison, e.points),
    }


def _metric(metric: Metric) -> dict[str, Any]:
    return {
        "key": metric.key,
        "name": metric.name,
        "value": _plain(metric.value),
        "unit": metric.unit,
        "definition": metric.definition,
        "numerator": _plain(metric.numerator),
        "denominator": _plain(metric.denominator),
        "intervals": [_interval(interval) for interval in metric.intervals],
        "note": metric.note,
    }


def _interval(interval: Interval) -> dict[str, Any]:
    return {
        "method": interval.method,
        "low": _plain(interval.low),
        "high": _plain(interval.high),
        "level": LEVEL,
        "units": _plain(interval.units),
        "rounds": _plain(interval.rounds),
        "why": interval.why,
    }


def _curve(curve: Curve, points: Sequence[OperatingPoint]) -> dict[str, Any]:
    """Return a curve's numbers, and of its points as many as its shape needs."""
    x, y = (getattr(curve, name) for name in _AXES[type(curve)])
    keep = [
        place for point in points if (place := place_of(curve.thresholds, point.threshold)) >= 0
    ]
    chosen = thinned(x, y, keep=keep)
    content: dict[str, Any] = {}
    columns: dict[str, Any] = {}
    for field in fields(curve):
        value = getattr(curve, field.name)
        if isinstance(value, np.ndarray):
            columns[field.name] = _plain(value[chosen])
        else:
            content[field.name] = _plain(value)
    return content | {
        "points": columns,
        "points_shown": int(chosen.size),
        "points_in_all": len(x),
        "thinned": (
            "points on straight lines are left out, then points at even steps along the curve; "
            "both ends and the operating points stay"
            if chosen.size < len(x)
            else ""
        ),
    }


def _band(band: Band) -> dict[str, Any]:
    chosen = np.union1d(thinned(band.x, band.low), thinned(band.x, band.high))
    return {
        "x": _plain(band.x[chosen]),
        "low": _plain(band.low[chosen]),
        "high": _plain(band.high[chosen]),
        "level": LEVEL,
        "method": band.method,
        "units": _plain(band.units),
        "why": band.why,
    }


def _histogram(histogram: Histogram) -> dict[str, Any]:
    return {field.name: _plain(getattr(histogram, field.name)) for field in fields(histogram)}


def _comparison(comparison: Comparison, points: Sequence[OperatingPoint]) -> dict[str, Any]:
    return {
        "name": comparison.name,
        "other": comparison.other,
        "metrics": [_metric(metric) for metric in comparison.metrics],
        "roc": _curve(comparison.roc, points),
        "other_roc": _curve(comparison.other_roc, ()),
    }


def _plain(value: Any) -> Any:
    """Return a value that JSON knows; what it does not know becomes a text."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted((_plain(each) for each in value), key=str)
    return str(value)
