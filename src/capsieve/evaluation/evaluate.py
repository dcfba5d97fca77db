"""Evaluate scores against labels: read, match, check for leaks, compute, write the report."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from capsieve.detectors import rule_parameter
from capsieve.errors import FileError, ParameterError
from capsieve.evaluation.leaks import LEAKS_FILE
from capsieve.evaluation.localisation import localise
from capsieve.evaluation.results import (
    LabelledResults,
    calibration_frames,
    radius_warnings,
    read_results,
)
from capsieve.evaluation.scores import ScoredFrames, Scores, numbering_warnings, read_scores
from capsieve.frame_table import POLYP, Integers, LabelledFrames, Mask
from capsieve.labels import Outlines, read_outlines
from capsieve.report.count_tables import (
    causes_table,
    effort_table,
    false_positives_table,
    frame_counts_table,
    reasons_table,
    sequences_table,
)
from capsieve.report.point_tables import cross_fit_table, points_table
from capsieve.result_table import Table
from capsieve.statistics.breakdown import (
    baseline_metrics,
    histograms,
    preselection_metrics,
    source_metrics,
    source_warnings,
)
from capsieve.statistics.comparison import compare_detectors
from capsieve.statistics.frames import whole_exams
from capsieve.statistics.operating_point import (
    TRAIN,
    choose_threshold,
    chosen_point,
    cross_fit,
    fitted_point,
    has_folds,
)
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import (
    rate_metrics,
    subsets,
)
from capsieve.statistics.reading_effort import (
    effort_curve,
    effort_metrics,
    event_codes,
    flagged_alike,
    flagged_by,
)
from capsieve.statistics.results import Comparison, Evaluation, Metric, OperatingPoint
from capsieve.statistics.roc import frame_roc, polyp_roc
from capsieve.user_files import PathLike

STAGES = ("Reading results and labels", "Computing statistics", "Writing the report")

_NO_PIXELS = (
    "A table of scores has no images: pre-selection, trivial baselines, near-duplicates, leaks by "
    "equal images and galleries are left out."
)


def evaluate(
    results: Scores,
    labels: Any,
    out: PathLike | None = None,
    *,
    options: EvaluationOptions = EvaluationOptions(),  # noqa: B008 it is immutable
    regions: PathLike | None = None,
    baseline: Scores | None = None,
    polyp_class: str | None = None,
    galleries: bool = True,
    progress: Callable[[str], None] = lambda stage: None,
    **changes: Any,
) -> Evaluation:
    """Evaluate scores against labels.

    Parameters
    ----------
    results
        The folder that :func:`capsieve.screen` wrote (OUT, or one exam OUT/EXAM); or scores of any
        program: the path of a table, a data frame or a dict of arrays with exam and frame (or
        file), score, and if known head, time_s, source, row and col.
    labels
        A table or the folder of a known data set, see :func:`capsieve.read_labels`; or a data frame
        or dict of arrays.
    out
        Folder for report.html, metrics.json, tables/ and figures/, and if there are leaks for
        leaks.csv with their frames; by default nothing is written.
    options
        What to evaluate, how labels are read and frames divided, and the bootstrap. The report
        names leaks that are allowed.
    regions
        Outlines of the polyps on the frames: COCO, boxes or masks.
    baseline
        Scores of another detector for the same frames. Both are compared at the same share of
        frames to read.
    polyp_class
        The class of polyps in `regions`, if it has no names.
    galleries
        Whether the report shows frames. They are read again from the sources of the exams.
    progress
        Called with the name of each stage when it starts, see :data:`STAGES`.
    **changes
        Fields of `options`, such as ``threshold=40``.

    Returns
    -------
    Evaluation
        Every number with its definition, counts and intervals.

    Raises
    ------
    FileError
        Scores or labels cannot be read or do not fit each other.
    LeakError
        Training and test share patients or images, or the model was trained on the frames.
    ParameterError
        An option is wrong.

    Examples
    --------
    >>> import capsieve
    >>> scores = {"exam": ["a"] * 4, "frame": range(4), "score": [0.9, 0.2, 0.4, 0.1]}
    >>> labels = {"exam": ["a"] * 4, "frame": range(4), "label": ["polyp"] + ["normal"] * 3}
    >>> evaluation = capsieve.evaluate(scores, labels, threshold=0.5)
    >>> evaluation.metric("frames.specificity").value
    1.0
    """
    options = replace(options, **changes)
    if out is not None:
        from capsieve.report.evaluation import check_folder

        check_folder(out)
    leaks_file = None if out is None else Path(out) / LEAKS_FILE
    reading, statistics, writing = STAGES
    progress(reading)
    read = read_results(results, labels, options, leaks_file=leaks_file)
    others = None if baseline is None else read_scores(baseline, first_frame=options.first_frame)
    outlines = None if regions is None else read_outlines(regions, polyp_class=polyp_class)
    settings = {
        "label_format": read.labels.label_format,
        "regions": None if regions is None else str(regions),
        "baseline": None if others is None else others.name,
        "calibration_frames": read.calibration_frames or None,
    }
    progress(statistics)
    evaluation = _evaluation(read, options, settings, outlines, others)
    if out is not None:
        progress(writing)
        from capsieve.evaluation.gallery_images import gallery_images
        from capsieve.report.evaluation import write_evaluation

        shown = galleries and bool(read.scored.folders)
        flagged = evaluation.points[0].flagged
        with gallery_images(read, flagged) if shown else nullcontext() as images:
            write_evaluation(evaluation, out, images=images)
    return evaluation


def _evaluation(
    read: LabelledResults,
    options: EvaluationOptions,
    settings: dict[str, Any],
    outlines: Outlines | None,
    others: ScoredFrames | None,
) -> Evaluation:
    frames = read.frames
    crossed, crossed_point, crossed_table, fold_warnings = _cross_fitted(
        frames, options, step_of(read)
    )
    points, point_warnings = operating_points(read, options, crossed_point)
    flagged = points[0].flagged
    labelled = frames.take(frames.labelled)
    roc_frames, roc_polyps = frame_roc(labelled, options), polyp_roc(labelled, options)
    metrics: list[Metric] = []
    event = event_codes(frames, flagged)
    for name, mask in subsets(frames).items():
        part, flags = frames.take(mask), flagged[mask]
        metrics += rate_metrics(part, flags, options, subset=name)
        if whole_exams(frames, mask):
            metrics += effort_metrics(part, flags, options, event=event[mask], subset=name)
    metrics += [*crossed, *roc_frames.metrics, *roc_polyps.metrics]
    metrics += preselection_metrics(frames, options)
    metrics += baseline_metrics(labelled, options)
    metrics += source_metrics(frames, flagged, options)
    tables = [
        frame_counts_table(frames, read.matched.rows),
        points_table(frames, points),
        crossed_table,
        sequences_table(frames, flagged),
        false_positives_table(frames, flagged),
        effort_table(frames, flagged, event=event),
        causes_table(frames, flagged),
        reasons_table(frames),
    ]
    problems = (*read.labels.problems, *read.matched.problems)
    # Numbers from 1 may be why the scores seem reversed, so they are named first.
    numbering = numbering_warnings(read.scored, read.labels)
    of_baseline: tuple[str, ...] = ()
    if others is not None:
        of_baseline = (
            *numbering_warnings(others, read.labels),
            *calibration_frames(frames, read.scored, others.choice)[1],
        )
    located = None
    if outlines is not None:
        balls = read.scored.folders if step_of(read) else ()  # of the paper's detector
        paths = read.scored.path
        located = localise(outlines, frames, paths, flagged=flagged, options=options, folders=balls)
        metrics += located.metrics
        tables.append(located.table)
        problems += located.problems
    return Evaluation(
        results=read.scored.name,
        labels=read.labels.path,
        options=options,
        settings=settings,
        detector=read.scored.detector,
        parameters=read.scored.parameters,
        frames=frames,
        points=points,
        metrics=tuple(metrics),
        tables=tuple(table for table in tables if table is not None and table.rows),
        problems=problems,
        warnings=(
            *numbering,
            *_reversed_warnings(roc_frames.metrics),
            *(warning for warning in read.warnings if warning not in numbering),
            *(f"Baseline: {warning}" for warning in of_baseline),
            *source_warnings(frames),
            *point_warnings,
            *radius_warnings(read, points[0].threshold),
            *fold_warnings,
            *([] if read.scored.folders else [_NO_PIXELS]),
        ),
        leaks=read.leaks,
        roc_frames=roc_frames.curve,
        roc_polyps=roc_polyps.curve,
        effort=effort_curve(frames),
        froc=None if located is None else located.froc,
        histograms=histograms(frames, _used_parameters(read, points[0])),
        comparison=None if others is None else _compared(read, others, flagged, options),
        on_polyp=None if located is None else located.on_polyp,
    )


def _reversed_warnings(metrics: Sequence[Metric]) -> list[str]:
    """Return a warning if normal frames have clearly higher scores than polyp frames."""
    area = next(metric for metric in metrics if metric.key == "frames.auc")
    high = None if area.interval is None else area.interval.high
    if area.value is None or (area.value >= 0.4 if high is None else high >= 0.5):
        return []
    return [
        f"The AUC per frame is {area.value:.3f}, well below 0.5: normal frames have higher scores "
        "than polyp frames. The scores may be reversed (higher must mean polyp), or the labels."
    ]


def _used_parameters(read: LabelledResults, used: OperatingPoint) -> dict[str, Any]:
    """Return the parameters of the detector, with the R_P that the evaluation flags by."""
    parameters = dict(read.scored.parameters)
    if step_of(read) and used.threshold is not None:
        parameters["radius_threshold"] = used.threshold
    return parameters


def step_of(read: LabelledResults) -> float | None:
    """Return the step of a detector's thresholds: R_P of the paper's detector is a whole number."""
    return 1.0 if rule_parameter(read.scored.detector) else None


def operating_points(
    read: LabelledResults, options: EvaluationOptions, crossed: OperatingPoint | None = None
) -> tuple[tuple[OperatingPoint, ...], tuple[str, ...]]:
    """Return the operating points, the one that was used first, and warnings about them.

    First comes the one that the options give, else the one chosen on the training part, else the
    flags of the screening, else the one that folds choose for each other. The last one is fitted
    to the same frames that it is evaluated on.
    """
    frames, step = read.frames, step_of(read)
    given, warnings = _given_point(frames, options), []
    chosen = chosen_point(frames, options, step)
    fitted = fitted_point(frames, options, step)
    if chosen is None and given is None and TRAIN in frames.part.names:
        warnings.append(
            "No threshold could be chosen on the training part, because none of its normal frames "
            "was scored."
        )
    screened = None if given is not None else _screened_point(read)
    points = [given, chosen, screened, crossed, fitted]
    lists = any(rule.is_list for rule in read.scored.rules)
    if screened is not None and lists and _lists_by_class(frames):
        warnings.append(
            "The exams were screened with reading lists, but the screened folders are not exams "
            "that the labels name; a list for each class would give similar metrics to every "
            f"detector. The first metrics are those for {options.specificity:g} % specificity."
        )
        points = [chosen, crossed, fitted, screened]
    known = tuple(point for point in points if point is not None)
    if not known:
        raise ParameterError(
            "threshold",
            "is missing: no normal frame was scored, so no threshold can be chosen; give one",
        )
    return known, tuple(warnings)


def _given_point(frames: LabelledFrames, options: EvaluationOptions) -> OperatingPoint | None:
    rule = options.rule
    if rule is None:
        return None
    text = "As given."
    if rule.is_list:
        text = "Reading list as given, formed in each exam that the labels name."
    return OperatingPoint("given", rule, flagged_by(frames, rule), text)


def _screened_point(read: LabelledResults) -> OperatingPoint | None:
    """Return the column flagged as an operating point; None for scores of other programs."""
    if not read.scored.rules:
        return None
    rule, text = None, "As screened; the exams have different rules."
    if len(set(read.scored.rules)) == 1:
        rule, text = read.scored.rules[0], "As screened."
    optimistic = bool(read.calibration_frames)
    return OperatingPoint("screened", rule, read.frames.flagged, text, optimistic)


def _lists_by_class(frames: LabelledFrames) -> bool:
    """Return whether the screened folders are classes of a data set, and not exams.

    A share of each class would give the same sensitivity and specificity to every detector.
    """
    exam, unit = frames.exam.code[frames.labelled], frames.unit.code[frames.labelled]
    polyp = frames.truth[frames.labelled] == POLYP

    def count(*columns: NDArray[Any]) -> int:
        return np.unique(np.stack(columns), axis=1).shape[1]

    if (unit < 0).any() or count(exam, unit) > count(exam):  # a folder has frames of several exams
        return True
    one_class = count(exam, polyp) == count(exam) and count(polyp) > 1
    return one_class and count(unit) < count(exam)


def _cross_fitted(
    frames: LabelledFrames, options: EvaluationOptions, step: float | None
) -> tuple[tuple[Metric, ...], OperatingPoint | None, Table | None, list[str]]:
    """Return rates with the threshold of each fold chosen on the other folds."""
    if not has_folds(frames):
        return (), None, None, []
    fit = cross_fit(frames, lambda others: choose_threshold(others, options, step))
    if fit.failed:
        folds = f"fold{'s' if len(fit.failed) > 1 else ''} {', '.join(fit.failed)}"
        warning = (
            f"No threshold could be chosen for {folds}, because the other folds have no scored "
            "normal frame; there are no cross-fitted metrics."
        )
        return (), None, None, [warning]
    inside = frames.part.code >= 0
    metrics = rate_metrics(frames.take(inside), fit.flagged[inside], options, subset="cross-fitted")
    text = "The threshold of each fold is chosen on the other folds."
    point = OperatingPoint("cross-fitted", None, fit.flagged, text)
    return metrics, point, cross_fit_table(frames, fit), []


def _compared(
    read: LabelledResults,
    others: ScoredFrames,
    flagged: Mask,
    options: EvaluationOptions,
) -> Comparison:
    """Compare both on the frames that both scored, at the same share of frames to read."""
    frames, rows = read.frames, _same_frames(read.scored, others)
    there = rows >= 0
    other_score = np.where(there, others.frames.score[rows], np.nan)
    mine, theirs = read.scored.pixel_hash, others.pixel_hash
    if mine is not None and theirs is not None:
        both = there & frames.scored & ~np.isnan(other_score)
        if (np.asarray(mine)[both] != np.asarray(theirs)[rows[both]]).any():
            raise FileError(
                f"frames of the same number in {read.scored.name} and {others.name} have "
                "different pixels; screen the same exams with both"
            )
    return compare_detectors(
        frames,
        other_score,
        flags=(flagged, flagged_alike(frames, flagged, other_score)),
        names=_two_names(read.scored.name, others.name),
        options=options,
    )


def _same_frames(first: ScoredFrames, second: ScoredFrames) -> Integers:
    """Return for each frame of the first its row in the second, or -1.

    Files are compared if there are any, because images in a table may have no numbers.
    """

    def rows(column: Literal["file", "frame"]) -> Integers:
        keys: list[list[tuple[Any, ...]]] = []
        for scored in (first, second):
            exam, heads = scored.frames.exam, scored.frames.head.tolist()
            named = scored.frames.frame if column == "frame" else scored.frames.file
            assert named is not None
            keys.append(list(zip((exam.names[i] for i in exam.code), heads, named, strict=True)))
        row_of = {key: row for row, key in enumerate(keys[1]) if key[2] is not None}
        return np.array([row_of.get(key, -1) for key in keys[0]], np.int64)

    if first.frames.file is not None and second.frames.file is not None:
        by_file = rows("file")
        if (by_file >= 0).any() or not (first.numbered and second.numbered):
            return by_file
    return rows("frame")


def _two_names(first: str, second: str) -> tuple[str, str]:
    names = Path(first).name, Path(second).name
    return (
        names if names[0] != names[1] else (first, second if first != second else f"{second} (2)")
    )
