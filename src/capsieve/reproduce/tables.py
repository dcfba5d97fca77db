"""The tables of the page: the paper's numbers next to those of both readings."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from capsieve.evaluation.robustness import rate_changes
from capsieve.frame_table import LabelledFrames, flagged_at
from capsieve.names import natural_key
from capsieve.parameters import Parameters
from capsieve.report import text
from capsieve.report.robustness_figure import RateChanges
from capsieve.reproduce import paper_numbers as paper
from capsieve.reproduce.readings import Reading
from capsieve.reproduce.study import CHANGE, Study, variants
from capsieve.result_table import Column, Table
from capsieve.statistics.delong import delong_auc
from capsieve.statistics.frames import polyp_scores
from capsieve.statistics.operating_point import TEST, TRAIN, smallest_threshold
from capsieve.statistics.operating_point import with_training_patients as with_parts
from capsieve.statistics.rates import RATES, Rate, rates
from capsieve.statistics.results import Interval, Metric

_TARGET = 0.9
_PAPER_SYMBOLS = {"width": "N_x", "mask_radius": "R_mask"}
_KEYS = ("printed", "inferred")  # of columns, in the order of the readings
_RATE_LABELS = ("SPEC", "SENS per frame", "SENS per polyp")


def paper_tables(study: Study, readings: Sequence[Reading]) -> dict[str, Table]:
    """Return all tables by their keys: numbers, readings, and table-1 to table-4."""
    found = (
        _numbers(study, readings),
        _variants(study),
        _parameters(readings),
        _sequences(study, readings),
        _patients(study, readings),
        _robustness(readings),
    )
    return {table.key: table for table in found}


def rate_studies(readings: Sequence[Reading]) -> list[RateChanges]:
    """Return the rates of the paper and of the readings before and after each change."""
    first = rate_changes(readings[0].robustness)
    names, changes = list(first.base), readings[0].robustness.changes
    of_paper = RateChanges(
        "Paper",
        dict(zip(names, paper.BASE.shares, strict=True)),
        {
            label: dict(zip(names, paper.CHANGED[change.name].shares, strict=True))
            for label, change in zip(first.changed, changes, strict=True)
        },
    )
    return [of_paper, *(rate_changes(reading.robustness, reading.name) for reading in readings)]


def _numbers(study: Study, readings: Sequence[Reading]) -> Table:
    """Return the numbers of the paper's text next to those of the readings, with intervals."""
    patient = study.options.patient_words
    frames = readings[0].evaluation.frames
    thresholds = [each.parameters.radius_threshold for each in readings]
    higher = [_higher_threshold(each) for each in readings]
    rows: list[tuple[Any, ...]] = [
        ("Polyp frames", "230", *[text.count(int(frames.polyp_frames.sum())), ""] * 2),
        ("Normal frames", "18,738", *[text.count(int(frames.normal_frames.sum())), ""] * 2),
        (f"Threshold chosen on {patient} for 90 %", "37", *_plain_cells(thresholds)),
    ]
    for name, in_paper, key, subset in (
        (f"Specificity, {patient}", "91 %", "frames.specificity", TRAIN),
        ("Specificity, all patients", "90.2 % (16,901 of 18,738)", "frames.specificity", "all"),
        (
            *(f"Specificity without {patient}", "89.5 % (9,101 of 10,171)"),
            *("frames.specificity", TEST),
        ),
        ("Sensitivity per frame", "47.4 %", "frames.sensitivity", "all"),
        ("Sensitivity per polyp", "81.25 % (13 of 16)", "polyps.sensitivity", "all"),
        ("Polyp frames that pass pre-selection", "90 %", "preselection.polyp", "all"),
        ("Normal frames that pass pre-selection", "47.84 %", "preselection.normal", "all"),
        ("Normal frames per patient", "3,747", "frames.normal_per_exam", "all"),
        ("False positives per patient", "367", "frames.false_positives_per_exam", "all"),
        ("Area under the ROC curve per frame", None, "frames.auc", "all"),
    ):
        cells = [cell for each in readings for cell in _metric_cells(_metric(each, key, subset))]
        rows.append((name, in_paper, *cells))
    rows += [
        ("Higher threshold, as many polyps", "40", *_plain_cells(each for each, _ in higher)),
        (
            *("Specificity at that threshold", "93.47 %"),
            *_plain_cells(_share(rate) for _, rate in higher),
        ),
    ]
    columns = [Column("quantity", "Quantity"), Column("paper", "Paper", "number")]
    for reading, key in zip(readings, _KEYS, strict=True):
        columns.append(Column(key, reading.name, "number"))
        columns.append(Column(f"{key}_interval", "95 % interval"))
    caption = (
        "The threshold is R_P. The paper's 90.2 % includes the patient that chose it; the figure "
        "without that patient follows from its Table III. Its 13 of 16 polyps have a 95 % interval "
        "of 57 to 93 % (Wilson). It gives R_P = 40 as an example; ours is the largest R_P that "
        "finds as many polyps. It states no area under the curve. Intervals: "
        f"{'; '.join(_methods(readings[0])) or 'none'}."
    )
    return Table("numbers", "Numbers of the text", tuple(columns), tuple(rows), caption)


def _plain_cells(values: Iterable[Any]) -> list[str]:
    return [cell for value in values for cell in (str(value), "")]


def _metric(reading: Reading, key: str, subset: str) -> Metric | None:
    metrics = reading.evaluation.metrics
    return next((each for each in metrics if (each.key, each.subset) == (key, subset)), None)


def _metric_cells(metric: Metric | None) -> tuple[str | None, str]:
    if metric is None or metric.value is None:
        return None, ""
    counts = f" ({text.counts(metric)})" if metric.unit == "share" else ""
    bounded = _bounded(metric)
    interval = "" if bounded is None else text.interval(bounded, metric.unit)
    return f"{text.metric(metric)}{counts}", interval


def _bounded(metric: Metric) -> Interval | None:
    return next((each for each in metric.intervals if each.low is not None), None)


def _methods(reading: Reading) -> list[str]:
    """Return the methods of the intervals, each with its caution."""
    keys = (*RATES, "frames.auc")
    found = [_bounded(each) for each in reading.evaluation.metrics if each.key in keys]
    shown = (f"{each.method} ({each.why})" if each.why else each.method for each in found if each)
    return list(dict.fromkeys(shown))


def _share(rate: Rate) -> str:
    return f"{text.share(*rate)} ({text.count(rate.hits)} of {text.count(rate.total)})"


def _higher_threshold(reading: Reading) -> tuple[int, Rate]:
    """Return the largest R_P that finds as many polyps as the chosen one, and its specificity."""
    frames, threshold = reading.evaluation.frames, reading.parameters.radius_threshold
    best = polyp_scores(frames).score
    found = best[best >= threshold]
    threshold = int(found.min()) if found.size else threshold
    return threshold, rates(frames, flagged_at(frames.score, threshold))["frames.specificity"]


def _variants(study: Study) -> Table:
    """Return what the readings, and parts of them, change: each with its own R_P for 90 %."""
    frames = with_parts(study.run.frames, (study.options.patient,))
    rows: list[tuple[Any, ...]] = [
        ("The paper", 37, 16901 / 18738, 0.474, 13 / 16, None, 16901 / 18738, 0.67, None)
    ]
    for name, scores in variants(study).items():
        rows.append((name, *_variant(replace(frames, score=scores.astype(np.float64)))))
    columns = (
        Column("setting", "Setting"),
        Column("threshold", "R_P", "count"),
        Column("specificity", "Specificity", "share"),
        Column("sensitivity_frames", "Sensitivity per frame", "share"),
        Column("sensitivity_polyps", "Sensitivity per polyp", "share", 2),
        Column("area", "AUC", "number", 3),
        Column("specificity_37", "Specificity at R_P = 37", "share"),
        Column("ratio", "FPR(40) / FPR(37)", "number", 2),
        Column("smallest", "Smallest R_max", "count"),
    )
    caption = (
        "R_P of each row is the smallest one with 90 % specificity on "
        f"{study.options.patient_words}; the rates are those of all patients. The last three "
        "columns show whether R_P = 37 decides anything: in the paper a frame with an R_max below "
        "37 was missed, and R_P = 40 has two thirds of the false positives of R_P = 37. R_max = 0 "
        "is not counted as the smallest. As inferred: a hemisphere, filters cut at 3 sigma."
    )
    return Table("readings", "What the readings change", columns, tuple(rows), caption)


def _variant(frames: LabelledFrames) -> tuple[Any, ...]:
    normal, polyp = frames.normal_frames, frames.polyp_frames
    train = normal & frames.part.isin([TRAIN])
    threshold = smallest_threshold(frames.score[train], specificity=_TARGET, step=1.0)
    found = rates(frames, flagged_at(frames.score, threshold))
    scores = np.where(np.isnan(frames.score), -np.inf, frames.score)[normal | polyp]
    area = delong_auc(scores, polyp[normal | polyp]).value
    at_37, at_40 = (
        np.count_nonzero(normal & flagged_at(frames.score, each)) for each in (37.0, 40.0)
    )
    radii = frames.score[frames.score > 0]
    return (
        int(threshold),
        *(found[key].value for key in RATES),
        None if math.isnan(area) else area,
        1 - at_37 / max(np.count_nonzero(normal), 1),
        at_40 / at_37 if at_37 else None,
        int(radii.min()) if radii.size else None,
    )


def _parameters(readings: Sequence[Reading]) -> Table:
    """Return Table I: the parameters of the paper next to those of both readings."""
    rows: list[tuple[Any, ...]] = []
    for field in fields(Parameters):
        symbol = _PAPER_SYMBOLS.get(field.name, field.metadata["symbol"].replace("sigma_", "sigma"))
        in_paper = None if symbol in ("-", "q") else _value(Parameters(), field.name)
        values = (_value(reading.parameters, field.name) for reading in readings)
        name = field.name if symbol == "-" else symbol
        rows.append((name, field.metadata["meaning"], in_paper, *values))
    rows.sort(key=lambda row: row[2] is None)  # those of the paper, in its order, first
    rows.insert(1, ("N_y", "height of the working frame in pixels", "256", *["of the frame"] * 2))
    columns = (
        Column("parameter", "Parameter"),
        Column("meaning", "Meaning", "words"),
        Column("paper", "Paper", "number"),
        *(Column(key, each.name, "number") for key, each in zip(_KEYS, readings, strict=True)),
    )
    caption = (
        "Every value of the paper is used unchanged, and its formulas are evaluated for "
        "N_x = 256; only R_P is chosen again, by the paper's rule. Rows without a value of the "
        "paper are choices that its table does not list."
    )
    return Table("table-1", "Parameters", columns, tuple(rows), caption)


def _value(parameters: Parameters, name: str) -> str:
    value = getattr(parameters, name)
    value = getattr(parameters.derived, name) if value is None else value
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else f"{value:g}"


def _sequences(study: Study, readings: Sequence[Reading]) -> Table:
    """Return Table II: the frames of every polyp, and whether one of them is flagged."""
    in_paper = list(zip(paper.SEQUENCES, paper.SEQUENCES_FOUND, strict=True))
    aligned, rows = _aligned(study, readings, "sequences", in_paper)
    lines: list[tuple[Any, ...]] = [
        (polyp, *printed, own[0][2], *(cell for row in own for cell in (row[4], row[3])))
        for polyp, printed, own in rows
    ]
    columns = [
        Column("polyp", "Polyp"),
        Column("paper_frames", "Paper: N_F", "count"),
        Column("paper_detected", "Paper: D", "flag"),
        Column("frames", "N_F", "count"),
    ]
    for reading, key in zip(readings, _KEYS, strict=True):
        columns.append(Column(f"{key}_detected", f"{reading.name}: D", "flag"))
        columns.append(Column(f"{key}_flagged", "Flagged frames", "count"))
    sums = [sum(line[place] for line in lines) for place in range(3, 8)]
    found = (f"{number} of {len(lines)}" for number in (sums[1], sums[3]))
    cells = (cell for pair in zip(found, (sums[2], sums[4]), strict=True) for cell in pair)
    total = ("Total", 230, "13 of 16", sums[0], *cells)
    caption = "N_F: frames that show the polyp. D: at least one of them is flagged. " + (
        "A polyp of the paper and the polyp of ours in the same row have nothing in common but the "
        "length of the sequence."
        if aligned
        else "The polyps are not those of the paper, so only its total is shown."
    )
    return Table("table-2", "Polyps", tuple(columns), tuple(lines), caption, total)


def _patients(study: Study, readings: Sequence[Reading]) -> Table:
    """Return Table III: normal frames and false positives of every patient."""
    key = "false-positives-per-patient"
    aligned, rows = _aligned(study, readings, key, paper.FALSE_POSITIVES)
    lines: list[tuple[Any, ...]] = [
        (patient, *printed, own[0][1], *(cell for row in own for cell in row[2:4]))
        for patient, printed, own in rows
    ]
    columns = [
        Column("patient", "Patient"),
        Column("paper_normal", "Paper: N_norm", "count"),
        Column("paper_false", "FPN", "count"),
        Column("paper_rate", "FPR", "number"),
        Column("normal", "N_norm", "count"),
    ]
    for reading, name in zip(readings, _KEYS, strict=True):
        columns.append(Column(f"{name}_false", f"{reading.name}: FPN", "count"))
        columns.append(Column(f"{name}_rate", "FPR", "share"))
    normal, first, second = (sum(line[place] for line in lines) for place in (4, 5, 7))
    sums = (normal, first, first / normal, second, second / normal)
    caption = (
        "N_norm: normal frames. FPN: false positives among them, at the R_P of the first table. "
        "FPR: their share. The paper cuts the rates of its patients off and does not round them "
        "(34 of 422 is 8.06 %)."
    )
    if not aligned:
        caption += " The patients are not those of the paper, so only its total is shown."
    total = ("Total", 18738, 1837, "9.8 %", *sums)
    return Table("table-3", "False positives", tuple(columns), tuple(lines), caption, total)


def _aligned(
    study: Study, readings: Sequence[Reading], key: str, in_paper: Sequence[tuple[Any, ...]]
) -> tuple[bool, list[tuple[str, tuple[Any, ...], list[tuple[Any, ...]]]]]:
    """Return for each name in a table of the evaluations: the paper's cells, and ours by reading.

    The paper's are None unless the rows of the phantom stand for those of the paper.
    """
    tables = [{row[0]: row for row in each.evaluation.table(key).rows} for each in readings]
    names = sorted(tables[0], key=natural_key)
    aligned = study.is_phantom and len(names) == len(in_paper)
    printed = in_paper if aligned else [(None,) * len(in_paper[0])] * len(names)
    rows = zip(names, printed, strict=True)
    return aligned, [(name, cells, [table[name] for table in tables]) for name, cells in rows]


def _robustness(readings: Sequence[Reading]) -> Table:
    """Return Table IV: for each parameter a row of the paper and one of each reading."""
    columns = [Column("parameter", "Parameter"), Column("source", "")]
    for key, label in zip(RATES, _RATE_LABELS, strict=True):
        quantity, _, per = label.partition(" ")
        name = key.replace(".", "_")
        columns.append(Column(name, label, "share"))
        columns.append(Column(f"delta_{name}", f"delta({quantity}) {per}".strip(), "number", 2))
    columns.append(Column("false_positives", "False positives", "number"))
    study = readings[0].robustness
    blocks = [("Base", paper.BASE), *((c.symbol, paper.CHANGED[c.name]) for c in study.changes)]
    rows: list[tuple[Any, ...]] = []
    for number, (name, printed) in enumerate(blocks):
        cells = _rate_cells(printed.shares, printed.changes, paper.BASE.shares)
        rows.append((name, "Paper", *cells))
        rows += (("", each.name, *_own_rate_cells(each, number - 1)) for each in readings)
    frames = study.run.frames
    caption = (
        f"Each parameter of the geometric part is increased by {CHANGE:g} %, one at a time; whole "
        "numbers are rounded up: "
        f"{', '.join(f'{c.symbol} {c.base:g} to {c.value:g}' for c in study.changes)}. The "
        "columns delta() have the size of the relative change in percent. R_P is not changed. "
        "False positives: relative change of their number, which separates the readings better "
        "than the specificity; that of the paper is computed from its printed percentages and "
        "known to 1 or 2 points. Ours: "
        f"all {text.count(int(frames.polyp_frames.sum()))} polyp frames and "
        f"{text.count(int(frames.normal_frames.sum()))} normal ones, drawn at random (seed "
        f"{study.settings.seed}). The paper does not state which 4,000 normal frames it used; they "
        "are not a random draw, because their specificity is 92.2 % and that of all frames 90.2 %."
    )
    return Table("table-4", "Robustness", tuple(columns), tuple(rows), caption)


def _own_rate_cells(reading: Reading, place: int) -> Iterator[Any]:
    """Return the cells of a change of a reading, or of the base for -1."""
    robustness = reading.robustness
    base = [robustness.metrics[key].value or 0.0 for key in RATES]
    effect = robustness.changes[place].effect if place >= 0 else None
    if effect is None:
        return _rate_cells(base, (None,) * 3, base)
    values = [effect.rates[key].value or 0.0 for key in RATES]
    return _rate_cells(values, [effect.delta[key] for key in RATES], base)


def _rate_cells(
    values: Sequence[float], changes: Sequence[float | None], base: Sequence[float]
) -> Iterator[Any]:
    for value, change in zip(values, changes, strict=True):
        yield from (value, change)
    if changes[0] is None or base[0] == 1:
        yield None
    else:
        more = round(100 * ((1 - values[0]) / (1 - base[0]) - 1), 1)
        yield f"{'+' if more > 0 else ''}{text.decimals(more)} %"
