"""Tables of metrics in the evaluation report: the summary, areas, reading effort, localisation."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from capsieve.report import text
from capsieve.report.point_tables import point_line
from capsieve.result_table import Column, Table
from capsieve.statistics.frames import exam_units
from capsieve.statistics.results import (
    LEVEL,
    Evaluation,
    Interval,
    Metric,
)

_FALSE = "frames.false_positives_per_exam"
HEADLINE = (
    "polyps.sensitivity",
    "frames.sensitivity",
    "frames.specificity",
    _FALSE,
    "effort.frames_per_exam",
    "frames.auc",
)
_AREAS = (
    "frames.auc",
    "baseline.redness.auc",
    "baseline.brightness.auc",
    "baseline.sharpness.auc",
    "polyps.auc",
    "frames.sensitivity_at_target",
    "polyps.sensitivity_at_target",
)
_SOURCE = "source: "


def summary(evaluation: Evaluation) -> Table:
    """Return the table to read first: sensitivity, specificity, false positives, frames to read.

    Each with counts and 95 % interval at the operating point that was used; by source first if
    there are several. If it was chosen on a training part, the metrics of all frames are next to
    those of the test part. The caption gives the reasons of missing or too narrow intervals.
    """
    title = point_line(evaluation, evaluation.points[0]) if evaluation.points else "Not flagged"
    sources = source_subsets(evaluation)
    chosen = bool(evaluation.points) and evaluation.points[0].key == "chosen"
    tested = chosen and any(metric.subset == "test" for metric in evaluation.metrics)
    subsets = ["all", *(["test"] if tested else [])]
    if tested and not sources:
        whole, test = (_headline(evaluation, subset) for subset in subsets)
        return _side_by_side("summary", title, whole, test)
    lines = [line for name in (*sources, *subsets) for line in _headline(evaluation, name)]
    return _metrics_table("summary", title, lines, by_subset=bool(sources))


class _Line(NamedTuple):
    """A metric, and its name and counts as the table shows them."""

    metric: Metric
    name: str
    counts: str


def _line(metric: Metric) -> _Line:
    return _Line(metric, metric.name, text.counts(metric))


def _headline(evaluation: Evaluation, subset: str) -> list[_Line]:
    """Return the first metrics of a subset; false positives with the mean of normal frames."""
    lines = []
    for metric in pick(evaluation.metrics, HEADLINE, subset):
        line = _line(metric)
        if metric.key == _FALSE:
            normal = pick(evaluation.metrics, ("frames.normal_per_exam",), subset)
            name = metric.name
            if _is_exam_per_patient(evaluation):
                name = name.replace("per exam", "per patient")
            line = _Line(metric, name, "".join(f"of {text.metric(each)} normal" for each in normal))
        lines.append(line)
    return lines


def _is_exam_per_patient(evaluation: Evaluation) -> bool:
    """Return whether every exam is of a known patient of its own."""
    frames, unit = evaluation.frames, exam_units(evaluation.frames).code
    pairs = np.unique(np.stack([unit, frames.patient.code])[:, frames.labelled], axis=1)
    return bool(
        pairs.size
        and (pairs >= 0).all()
        and all(len(np.unique(codes)) == pairs.shape[1] for codes in pairs)
    )


def _side_by_side(key: str, title: str, whole: list[_Line], test: list[_Line]) -> Table:
    """Return the metrics of all frames, and next to them those of the test part with intervals."""
    tested = {line.metric.key: line for line in test}
    with_bounds = _metrics_table(key, title, test)
    bounds = dict(zip(tested, with_bounds.column("interval"), strict=True))
    rows = []
    for line in whole:
        other = tested.get(line.metric.key)
        cells = ("", "") if other is None else (text.metric(other.metric), other.counts)
        value = text.metric(line.metric)
        rows.append((line.name, value, line.counts, *cells, bounds.get(line.metric.key, "")))
    columns = (
        Column("measure", "Measure"),
        Column("value", "All frames", "number"),
        Column("counts", "Counts", "number"),
        Column("test_value", "Test part", "number"),
        Column("test_counts", "Counts", "number"),
        Column("interval", f"{100 * LEVEL:g} % interval of the test part"),
    )
    caption = (
        "All frames include the training part, as in the paper; the test part has no frame on "
        f"which the threshold was chosen. {with_bounds.caption}"
    )
    return Table(key, title, columns, tuple(rows), caption.strip())


def areas(evaluation: Evaluation) -> Table:
    """Return the areas under the curves next to those of trivial scores; by source first."""
    sources = source_subsets(evaluation)
    metrics = [
        _line(metric)
        for name in [*sources, "all"]
        for metric in pick(evaluation.metrics, _AREAS[:6] if name in sources else _AREAS, name)
    ]
    return _metrics_table("areas", "Areas under the curve", metrics, by_subset=bool(sources))


def group_table(evaluation: Evaluation, key: str, title: str) -> Table | None:
    """Return the metrics of one group ("effort", "localisation", ...); None without any."""
    chosen = [
        _line(each)
        for each in evaluation.metrics
        if each.key.startswith(f"{key}.") and each.subset == "all"
    ]
    return _metrics_table(key, title, chosen) if chosen else None


def _metrics_table(
    key: str, title: str, lines: Sequence[_Line], *, by_subset: bool = False
) -> Table:
    """Return metrics as texts: frames (if by subset), measure, value, counts and interval."""
    rows, notes, before = [], {}, ""
    for metric, shown_name, counts in lines:
        shown = shown_interval(metric)
        bounds = text.interval(shown, metric.unit) or metric.note
        method = _method(shown, metric.denominator)
        name = _subset_name(metric.subset) if by_subset else ""
        first = "" if name == before else name
        rows.append((first, shown_name, text.metric(metric), counts, bounds + method))
        before = name
        for each in metric.intervals:
            if each.why and (each is shown or each is metric.interval) and each.why not in bounds:
                notes[f"{each.method[:1].upper()}{each.method[1:]}: {each.why}."] = True
            if each is shown:
                break
        if metric.note and metric.note not in bounds:
            notes[f"{metric.name}: {metric.note}"] = True
    columns = (
        Column("frames", "Frames"),
        Column("measure", "Measure"),
        Column("value", "Value", "number"),
        Column("counts", "Counts", "number"),
        Column("interval", f"{100 * LEVEL:g} % interval"),
    )
    empty = [number for number in range(len(columns)) if not any(row[number] for row in rows)]
    return _without_columns(Table(key, title, columns, tuple(rows), " ".join(notes)), empty)


def baseline_warnings(evaluation: Evaluation) -> list[str]:
    """Return a warning for each AUC that a trivial score reaches, in either direction."""
    warnings: list[str] = []
    for area in evaluation.metrics:
        if area.key != "frames.auc" or area.value is None:
            continue
        subset = "" if area.subset == "all" else f" ({_subset_name(area.subset)})"
        as_good = []
        for other in pick(evaluation.metrics, _AREAS[1:4], area.subset):
            best = None if other.value is None else max(other.value, 1 - other.value)
            if best is not None and best >= area.value:
                name = other.name.removeprefix("AUC of ")
                name += " with the opposite sign" if best != other.value else ""
                as_good.append(f"{name} ({text.decimals(best, 3)})")
        if as_good:
            warnings.append(
                f"The AUC of the detector, {text.metric(area)}{subset}, is also reached by "
                f"{', '.join(as_good)} alone."
            )
    return warnings


def without_zeros(table: Table) -> Table:
    """The table without columns of zeros, which the caption names."""
    rows = [*table.rows, *([] if table.total is None else [table.total])]
    zero = [
        number
        for number, column in enumerate(table.columns)
        if column.kind == "count" and not any(row[number] for row in rows)
    ]
    names = ", ".join(table.columns[number].label.lower() for number in zero)
    caption = f"{table.caption} Zero everywhere: {names}." if zero else table.caption
    return _without_columns(replace(table, caption=caption), zero)


def _without_columns(table: Table, numbers: Sequence[int]) -> Table:
    def cut(row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(each for number, each in enumerate(row) if number not in numbers)

    return replace(
        table,
        columns=cut(table.columns),
        rows=tuple(map(cut, table.rows)),
        total=None if table.total is None else cut(table.total),
    )


def source_subsets(evaluation: Evaluation) -> list[str]:
    """Return the subsets of the sources ("source: NAME"), if there are several."""
    names = dict.fromkeys(each.subset for each in evaluation.metrics)
    sources = [name for name in names if name.startswith(_SOURCE)]
    return sources if len(sources) > 1 else []


def shown_interval(metric: Metric) -> Interval | None:
    """The interval to quote if it has bounds, else the first that has."""
    bounded = (each for each in metric.intervals if each.low is not None)
    return next(bounded, metric.interval)


def _method(interval: Interval | None, counted: int | None) -> str:
    if interval is None or interval.low is None:
        return ""
    known = interval.units is None or interval.units == counted
    return f" ({interval.method})" if known else f" ({interval.method}, n = {interval.units:,})"


def pick(metrics: Iterable[Metric], keys: Iterable[str], subset: str) -> list[Metric]:
    """Return the metrics with these keys of a subset, in the order of the keys."""
    by_key = {metric.key: metric for metric in metrics if metric.subset == subset}
    return [by_key[key] for key in keys if key in by_key]


def _subset_name(subset: str) -> str:
    if subset.startswith(_SOURCE):
        return subset.removeprefix(_SOURCE)
    return {"all": "all sources, pooled", "test": "test part, pooled"}.get(subset, subset)
