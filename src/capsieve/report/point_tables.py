"""Operating points of an evaluation: their rules as text, and tables of their rates."""

from collections.abc import Sequence

import numpy as np

from capsieve.detectors import rule_parameter
from capsieve.frame_table import LabelledFrames, Mask
from capsieve.plurals import number_of
from capsieve.report import text
from capsieve.result_table import Column, Table
from capsieve.statistics.operating_point import CrossFit
from capsieve.statistics.rates import rates, subsets
from capsieve.statistics.results import Evaluation, OperatingPoint

_POINTS = {
    "screened": "Flagged as screened",
    "given": "As given",
    "chosen": "Chosen on the training part",
    "cross-fitted": "Chosen for each fold on the other folds",
    "fitted": "Fitted on these frames (optimistic)",
}


def point_line(evaluation: Evaluation, point: OperatingPoint) -> str:
    """Return an operating point in a line: ``Flagged as screened: R_P = 37``."""
    rule = point_text(evaluation, point)
    if point.key != "given":
        optimistic = point.key == "screened" and point.optimistic
        seen = " (optimistic: computed on the calibration frames)" if optimistic else ""
        return f"{_POINTS[point.key]}{seen}: {rule}"
    listed = point.rule is not None and point.rule.is_list
    return f"Reading list: {rule}" if listed else f"{rule[0].upper()}{rule[1:]}"


def point_text(evaluation: Evaluation, point: OperatingPoint) -> str:
    """Return the rule of an operating point: ``R_P = 37``, ``10 % of each exam``."""
    if point.key == "cross-fitted":
        return "a threshold per fold"
    if point.rule is None:
        return "different rules in the exams"
    value = point.rule.value
    if point.rule.kind == "share":
        return f"{text.number(100 * value)} % of each exam"
    if point.rule.kind == "count":
        return f"{text.plural(int(value), 'frame')} of each exam"
    score = evaluation.frames.score[np.isfinite(evaluation.frames.score)]
    neighbours = [
        *score[score < value].max(initial=-np.inf, keepdims=True),
        *score[score > value].min(initial=np.inf, keepdims=True),
        *(
            each.rule.value
            for each in evaluation.points
            if each.rule is not None and not each.rule.is_list
        ),
    ]
    name = "R_P =" if rule_parameter(evaluation.detector) else "threshold"
    return f"{name} {text.distinct(value, neighbours)}"


def points_table(frames: LabelledFrames, points: Sequence[OperatingPoint]) -> Table:
    """Return specificity and sensitivities of every operating point, on all subsets."""
    rows = []
    for name, mask in subsets(frames).items():
        part = frames.take(mask)
        for point in points:
            cells = _rate_cells(part, point.flagged[mask])
            rows.append((_POINTS[point.key], _rule(point), name, *cells))
    return Table(
        "operating-points",
        "Operating points",
        (
            Column("point", "Operating point"),
            Column("rule", "Rule"),
            Column("frames", "Frames"),
            *_rate_columns(frames),
        ),
        tuple(rows),
        " ".join(f"{_POINTS[point.key]}: {point.text}" for point in points),
    )


def cross_fit_table(frames: LabelledFrames, fit: CrossFit) -> Table:
    """Return the rates of every fold with the threshold or share that the others chose for it."""
    inside = frames.part.code >= 0
    rows = []
    for name, value in fit.values.items():
        mask = frames.part.code == frames.part.names.index(name)
        rows.append((name, value, *_rate_cells(frames.take(mask), fit.flagged[mask])))
    return Table(
        "cross-fitted",
        "Rates by fold",
        (
            Column("fold", "Fold"),
            Column("value", "Threshold or share", "number", 3),
            *_rate_columns(frames),
        ),
        tuple(rows),
        "Each fold is evaluated with the value that was chosen on the other folds.",
        ("All folds", None, *_rate_cells(frames.take(inside), fit.flagged[inside])),
    )


def _rule(point: OperatingPoint) -> str:
    rule = point.rule
    if rule is None:
        return "different values"
    if rule.kind == "threshold":
        return f"score at least {rule.value:.6g}"
    if rule.kind == "count":
        return f"{number_of(int(rule.value), 'frame')} of each exam"
    return f"{100 * rule.value:.6g} % of each exam"


def _rate_columns(frames: LabelledFrames) -> tuple[Column, ...]:
    word = frames.polyp_word
    return (
        Column("normal", "Normal frames", "count"),
        Column("specificity", "Specificity", "share"),
        Column("polyp_frames", "Polyp frames", "count"),
        Column("sensitivity", "Sensitivity per frame", "share"),
        Column("polyps", f"{word.capitalize()}s", "count"),
        Column("polyp_sensitivity", f"Sensitivity per {word}", "share", 2),
    )


def _rate_cells(frames: LabelledFrames, flagged: Mask) -> list[int | float | None]:
    cells: list[int | float | None] = []
    for rate in rates(frames, flagged).values():
        cells += [rate.total, rate.value]
    return cells
