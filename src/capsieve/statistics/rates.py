"""Rates at an operating point: metrics, and the tables by polyp, by patient and by point."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from capsieve.frame_table import NORMAL, POLYP, LabelledFrames, Mask
from capsieve.plurals import number_of
from capsieve.statistics.frames import polyp_scores, unscored_note
from capsieve.statistics.intervals import mean_per_exam, proportion, share_cells
from capsieve.statistics.operating_point import TEST, TRAIN, CrossFit
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.results import Column, Metric, OperatingPoint, Table

LONG = 5
"""Frames of a long sequence: a reader, too, has time to see such a polyp."""

_POINTS = {
    "screened": "As screened",
    "given": "As given",
    "chosen": "Chosen on the training part",
    "cross-fitted": "Each fold by the other folds",
    "fitted": "Fitted to these frames (optimistic)",
}


RATES = ("frames.specificity", "frames.sensitivity", "polyps.sensitivity")
"""Keys of the rates that a study compares."""


class Rate(NamedTuple):
    """A count and its total."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        """The proportion; None if the total is 0."""
        return self.hits / self.total if self.total else None


def rates(frames: LabelledFrames, flagged: Mask) -> dict[str, Rate]:
    """Return specificity, sensitivity per frame and sensitivity per polyp as counts.

    A polyp frame without a score is missed, a normal frame without a score is left out.
    """
    normal, polyp = frames.normal_frames, frames.polyp_frames
    found = polyp_scores(frames).found(flagged)
    values = (
        Rate(int((normal & ~flagged).sum()), int(normal.sum())),
        Rate(int((polyp & flagged).sum()), int(polyp.sum())),
        Rate(int(found.sum()), len(found)),
    )
    return dict(zip(RATES, values, strict=True))


def subsets(frames: LabelledFrames) -> dict[str, Mask]:
    """Return all frames, and those of the training and the test part if there are any."""
    found = {"all": np.ones(len(frames), np.bool_)}
    for code, name in enumerate(frames.part.names):
        if name in (TRAIN, TEST):
            found[name] = frames.part.code == code
    return found


def rate_metrics(
    frames: LabelledFrames, flagged: Mask, options: EvaluationOptions, *, subset: str = "all"
) -> tuple[Metric, ...]:
    """Return sensitivity per frame and per polyp, specificity, and frames per exam.

    `frames` are only those of the subset: ``frames.take(mask)``.
    """
    polyp, normal = frames.polyp_frames, frames.normal_frames
    missed, left_out = unscored_note(frames, POLYP), unscored_note(frames, NORMAL)
    common: dict[str, Any] = {"frames": frames, "options": options, "subset": subset}
    polyps = polyp_scores(frames)
    note = f"{_unnamed(frames)} {missed}".strip()
    of_polyps = common | {"hit": polyps.found(flagged), "group": polyps.group, "note": note}
    return (
        proportion("frames.sensitivity", hit=flagged, among=polyp, note=missed, **common),
        proportion("frames.specificity", hit=~flagged, among=normal, note=left_out, **common),
        mean_per_exam("frames.false_positives_per_exam", counted=flagged & normal, **common),
        mean_per_exam("frames.normal_per_exam", counted=normal, **common),
        proportion("polyps.sensitivity", among=polyps.frames > 0, **of_polyps),
        proportion("polyps.sensitivity_long", among=polyps.frames >= LONG, **of_polyps),
    )


def class_warnings(frames: LabelledFrames) -> tuple[str, ...]:
    """Return a warning for each class that is empty, and for frames without a label."""
    warnings = []
    for truth, word, figure in ((POLYP, "polyp", "sensitivity"), (NORMAL, "normal", "specificity")):
        if not (frames.truth == truth).any():
            warnings.append(f"No frame is labelled {word}, so there is no {figure}.")
    unlabelled = int(np.count_nonzero(~frames.labelled))
    if unlabelled:
        warnings.append(
            f"{number_of(unlabelled, 'frame')} without a label: in neither class, but among the "
            "frames to read if they are flagged."
        )
    return tuple(warnings)


def sequences_table(frames: LabelledFrames, flagged: Mask) -> Table:
    """Return the paper's table of sequences: frames N_F and detection D of every polyp."""
    polyps = polyp_scores(frames)
    count, hit = len(polyps.score), flagged[polyps.shown]
    hits = np.bincount(polyps.place[hit], minlength=count)
    # The number of each frame in the sequence of its polyp, from 1.
    order = np.argsort(polyps.place, kind="stable")
    number = np.empty(len(order), np.int64)
    before = np.cumsum(polyps.frames) - polyps.frames
    number[order] = 1 + np.arange(len(order)) - np.repeat(before, polyps.frames)
    first = np.full(count, len(order) + 1)
    np.minimum.at(first, polyps.place[hit], number[hit])
    rows = tuple(
        (
            frames.polyp[polyps.first[i]],
            frames.patient[polyps.first[i]],
            int(polyps.frames[i]),
            int(hits[i]),
            bool(hits[i]),
            int(first[i]) if hits[i] else None,
            float(polyps.score[i]) if polyps.score[i] > -np.inf else None,
        )
        for i in range(count)
    )
    scores = polyps.score[polyps.score > -np.inf]
    digits = 3 if np.abs(scores).max(initial=0.0) <= 1 else 1  # a probability, or a radius
    word = frames.polyp_word
    caption = (
        f"N_F: number of frames of each {word}. D: at least one of them is flagged, which is true "
        f"for {np.count_nonzero(hits)} of {count}. {_unnamed(frames)}"
    )
    return Table(
        "sequences",
        f"Frames and detection of every {word}",
        (
            Column("polyp", word.capitalize()),
            Column("patient", "Patient"),
            Column("frames", "N_F", "count"),
            Column("flagged", "Flagged frames", "count"),
            Column("detected", "D", "flag"),
            Column("first_flagged", "First flagged frame of the sequence", "count"),
            Column("best_score", "Best score", "number", digits),
        ),
        rows,
        caption.strip(),
        ("Total", None, int(polyps.frames.sum()), int(hits.sum()), None, None, None),
    )


def false_positives_table(frames: LabelledFrames, flagged: Mask) -> Table:
    """Return normal frames N_norm, false positives FPN and their rate FPR of every patient.

    Frames of unknown patients are counted by their group.
    """
    normal = np.flatnonzero(frames.normal_frames)
    patient, group = frames.patient.code[normal], frames.group.code[normal]
    # Patients first, then groups behind them: one code for both.
    names = [*frames.patient.names, *frames.group.names, "(unknown)"]
    behind = np.where(group >= 0, group, len(frames.group.names)) + len(frames.patient.names)
    code = np.where(patient >= 0, patient, behind)
    total = np.bincount(code, minlength=len(names))
    false = np.bincount(code[flagged[normal]], minlength=len(names))
    kind = "patient" if len(normal) and (patient >= 0).all() else frames.group_kind
    caption = (
        "N_norm: normal frames. FPN: false positives among them. FPR: false positive rate, with "
        "Wilson's interval, which treats frames as independent and is too narrow. "
        f"{unscored_note(frames, NORMAL)}"
    )
    return Table(
        "false-positives-per-patient",
        f"False positives per {kind}",
        (
            Column("patient", kind.capitalize()),
            Column("normal_frames", "N_norm", "count"),
            Column("false_positives", "FPN", "count"),
            Column("false_positive_rate", "FPR", "share"),
            Column("low", "from", "share"),
            Column("high", "to", "share"),
        ),
        tuple(
            (names[place], *share_cells(int(false[place]), int(total[place])))
            for place in np.flatnonzero(total)
        ),
        caption.strip(),
        ("Total", *share_cells(int(false.sum()), len(normal))),
    )


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


def _unnamed(frames: LabelledFrames) -> str:
    count = int(np.count_nonzero(frames.polyp_frames & (frames.polyp.code < 0)))
    name = frames.polyp_word
    return f"{number_of(count, 'polyp frame')} of no named {name} left out." if count else ""
