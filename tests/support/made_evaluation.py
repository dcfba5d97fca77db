"""An evaluation with the paper's counts: patients of its Table III, polyps of its Table II."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve import Parameters
from capsieve.frame_table import (
    NORMAL,
    OTHER,
    POLYP,
    UNLABELLED,
    Coded,
    FlagRule,
    LabelledFrames,
    flagged_at,
)
from capsieve.labels import LabelProblem
from capsieve.report.count_tables import (
    causes_table,
    effort_table,
    false_positives_table,
    reasons_table,
    sequences_table,
)
from capsieve.report.point_tables import points_table
from capsieve.result_table import Column, Table
from capsieve.statistics.breakdown import (
    baseline_metrics,
    histograms,
    preselection_metrics,
    source_metrics,
)
from capsieve.statistics.comparison import compare_detectors
from capsieve.statistics.operating_point import fitted_point
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import rate_metrics
from capsieve.statistics.reading_effort import effort_curve, effort_metrics
from capsieve.statistics.results import Evaluation, FrocCurve, Interval, OperatingPoint, make_metric
from capsieve.statistics.roc import frame_roc, polyp_roc

THRESHOLD = 37.0
NORMAL_FRAMES = (422, 1008, 4666, 8567, 4075)
FALSE_POSITIVES = (34, 55, 671, 767, 310)
POLYP_FRAMES = (18, 57, 10, 7, 11, 11, 2, 3, 17, 32, 12, 15, 4, 7, 9, 15)
POLYP_FOUND = (1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1)
PATIENT_OF_POLYP = (0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4)
FOUND_FRAMES = 109
FINDINGS = {"bubbles": 40, "fold": 60, "bleeding": 20}
REASONS = np.array(["polyp", "texture-low", "texture-high", "no-feature", "radius-low"], object)


def made_frames(*, sources: tuple[str, ...] = ()) -> LabelledFrames:
    """Return frames with the paper's counts, and 120 frames with other findings."""
    rng = np.random.default_rng(7)
    parts: list[dict[str, Any]] = []
    left = FOUND_FRAMES - sum(POLYP_FOUND)
    for polyp, (size, found) in enumerate(zip(POLYP_FRAMES, POLYP_FOUND, strict=True)):
        more = min(left, size - 1, round(size * 0.62)) if found else 0
        left -= more
        flags = rng.permutation(np.arange(size) < found + more)
        parts.append(_frames(rng, PATIENT_OF_POLYP[polyp], flags, POLYP, polyp=polyp))
    for patient, (size, false) in enumerate(zip(NORMAL_FRAMES, FALSE_POSITIVES, strict=True)):
        flags = rng.permutation(np.arange(size) < false)
        parts.append(_frames(rng, patient, flags, NORMAL))
    for finding, size in enumerate(FINDINGS.values()):
        flags = rng.random(size) < 0.2 + 0.1 * finding
        parts.append(_frames(rng, finding, flags, OTHER, finding=finding))
    parts.append(_frames(rng, 0, np.zeros(7, bool), UNLABELLED))
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(columns["exam"], kind="stable")
    columns: dict[str, Any] = {name: values[order] for name, values in columns.items()}
    exam = columns.pop("exam")
    frame = np.arange(order.size) - np.searchsorted(exam, np.arange(5))[exam]
    patient = Coded(tuple(f"patient {number + 1}" for number in range(5)), exam)
    nothing = np.full(order.size, -1, np.int32)
    return LabelledFrames(
        exam=Coded(tuple(f"exam-{number + 1}" for number in range(5)), exam),
        head=np.zeros(order.size, np.int16),
        frame=frame,
        file=None,
        time=frame / 4.0,
        decoded=np.ones(order.size, bool),
        event=nothing,
        duplicate_of=nothing.astype(np.int64),
        polyp=Coded(tuple(f"polyp {number + 1}" for number in range(16)), columns.pop("polyp")),
        patient=patient,
        unit=patient,
        group=patient,
        group_kind="patient",
        source=Coded(sources, exam % len(sources) if sources else nothing),
        finding=Coded(tuple(FINDINGS), columns.pop("finding")),
        part=Coded((), nothing),
        reason=Coded.of(columns.pop("reason").tolist()),
        **columns,
    )


def made_evaluation(
    *, sources: tuple[str, ...] = (), compared: bool = True, **changes: Any
) -> Evaluation:
    """Return an evaluation; any field may be changed."""
    return replace(_evaluation(sources, compared), **changes)


@cache
def _evaluation(sources: tuple[str, ...], compared: bool) -> Evaluation:
    frames = made_frames(sources=sources)
    options = EvaluationOptions(bootstrap_samples=200)
    flagged = flagged_at(frames.score, THRESHOLD)
    used = OperatingPoint("screened", FlagRule("threshold", THRESHOLD), flagged, "As screened.")
    fitted = fitted_point(frames, options, 1.0)
    points = (used,) if fitted is None else (used, fitted)
    roc_frames, roc_polyps = frame_roc(frames, options), polyp_roc(frames, options)
    parameters = Parameters().to_dict()
    shifted = frames.score + np.where(frames.polyp_frames & (frames.score > 0), -3.0, 0.0)
    comparison = None
    if compared:
        comparison = compare_detectors(
            frames,
            shifted,
            flags=(flagged, flagged_at(shifted, THRESHOLD)),
            names=("paper", "other"),
            options=options,
        )
    hits = make_metric(
        "localisation.frames",
        96 / 109,
        frames,
        options,
        numerator=96,
        denominator=109,
        intervals=(Interval("Wilson", 0.806, 0.929, units=109),),
    )
    reasons = reasons_table(frames)
    assert reasons is not None
    return Evaluation(
        results="out",
        labels="labels.csv",
        options=options,
        settings={"label_format": "table", "splits": None},
        detector={"name": "paper", "rule": "radius_threshold", "version": "0.1"},
        parameters=parameters,
        frames=frames,
        points=points,
        metrics=(
            *rate_metrics(frames, flagged, options),
            *roc_frames.metrics,
            *roc_polyps.metrics,
            *effort_metrics(frames, flagged, options),
            *source_metrics(frames, flagged, options),
            *baseline_metrics(frames, options),
            *preselection_metrics(frames, options),
            hits,
        ),
        tables=(
            made_frame_counts(),
            points_table(frames, points),
            sequences_table(frames, flagged),
            false_positives_table(frames, flagged),
            effort_table(frames, flagged),
            causes_table(frames, flagged),
            reasons,
        ),
        problems=(
            LabelProblem("the label is unknown", 3, ("line 12: label 'Polip'", "line 40")),
            LabelProblem("the row is there twice", 1, used=True),
        ),
        warnings=("only 5 patients: intervals over patients are not given",),
        roc_frames=roc_frames.curve,
        roc_polyps=roc_polyps.curve,
        effort=effort_curve(frames),
        froc=made_froc(),
        histograms=histograms(frames, parameters),
        comparison=comparison,
    )


def bare_evaluation(**changes: Any) -> Evaluation:
    """Return an evaluation without anything that may be absent."""
    empty: dict[str, Any] = dict.fromkeys(
        ("roc_frames", "roc_polyps", "effort", "froc", "comparison")
    )
    names = ("metrics", "tables", "problems", "warnings", "histograms")
    return made_evaluation(compared=False, **(empty | dict.fromkeys(names, ()) | changes))


def made_frame_counts() -> Table:
    """Return a table of label rows."""
    columns = (Column("exam", "Exam"), Column("rows", "Rows", "count"))
    columns += (Column("used", "Used", "count"), Column("unclear", "Unclear", "count"))
    rows = tuple((f"exam-{n + 1}", 400 * (n + 1) + 3, 400 * (n + 1), 3) for n in range(5))
    return Table("frame-counts", "Rows of the labels", columns, rows)


def made_froc() -> FrocCurve:
    """Return a FROC curve."""
    x = np.linspace(0, 0.4, 30)
    return FrocCurve(np.linspace(60, 30, 30), x, 0.9 * x**0.4, outlines=230, frames=18_968)


def _frames(
    rng: np.random.Generator,
    patient: int,
    flags: NDArray[np.bool_],
    truth: int,
    *,
    polyp: int = -1,
    finding: int = -1,
) -> dict[str, NDArray[Any]]:
    size = flags.size
    shares = [0, 0, 0.15, 0.15, 0.7] if truth == POLYP else [0, 0.2, 0.3, 0.15, 0.35]
    reason = np.where(flags, 0, rng.choice(5, size, p=shares))
    texture = np.where(reason == 1, rng.uniform(1.2, 2.99, size), rng.uniform(3, 8, size))
    texture = np.where(reason == 2, 8.01 + rng.exponential(4.0, size), texture)
    high = 60 if truth == POLYP else 48
    radius = np.where(flags, rng.integers(37, high, size), rng.integers(15, 37, size))
    radius = np.where((reason == 0) | (reason == 4), radius, 0)
    ball = radius > 0
    return {
        "exam": np.full(size, patient, np.int32),
        "score": np.where(ball, radius, -np.inf),
        "flagged": flags,
        "truth": np.full(size, truth, np.int8),
        "polyp": np.full(size, polyp, np.int32),
        "finding": np.full(size, finding, np.int32),
        "reason": REASONS[reason],
        "texture_max": texture,
        "radius_max": radius.astype(np.float64),
        "row": np.where(ball, rng.uniform(200, 310, size), np.nan),
        "col": np.where(ball, rng.uniform(200, 310, size), np.nan),
        "radius": np.where(ball, 1.6 * radius, np.nan),
        "red": rng.uniform(90, 160, size) + 8 * (truth == POLYP),
        "green": rng.uniform(60, 90, size),
        "blue": rng.uniform(30, 60, size),
        "sharpness": rng.gamma(3, 20, size),
    }
