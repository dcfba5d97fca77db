"""Evaluating screened exams: read, match, check for leaks, judge, write."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from capsieve.errors import FileError
from capsieve.statistics.settings import Settings
from capsieve.store.record import Record

if TYPE_CHECKING:
    from capsieve.statistics.curves import RocCurve
    from capsieve.statistics.evaluation import Comparison, Evaluation, OperatingPoint
    from capsieve.statistics.labels.label_set import LabelSet
    from capsieve.statistics.matching import Matched

__all__ = ["evaluate"]


def evaluate(
    results: str | Path,
    labels: str | Path,
    out: str | Path | None = None,
    *,
    layout: str | None = None,
    regions: str | Path | None = None,
    splits: str | Path | None = None,
    train_patients: Sequence[str] = (),
    target_specificity: float = 0.9,
    threshold: float | None = None,
    against: str | Path | None = None,
    rounds: int = 2000,
    seed: int = 0,
    reading_speed: float = 10.0,
    within: float = 10.0,
    gap: float = 1.0,
    shortest: float = 0.0,
    allow_leaks: bool = False,
    galleries: bool = True,
) -> "Evaluation":
    """Judge screened exams by labels.

    Parameters
    ----------
    results
        The folder that :func:`capsieve.screen` wrote: OUT, or one exam OUT/EXAM.
    labels
        What the frames truly show: a CSV or Parquet table, or a known collection's folder.
    out
        Folder for report.html, metrics.json, tables/ and figures/; without it nothing is written.
    layout
        The labels' layout, where it is not recognised.
    regions
        Where the polyps lie on the frames: COCO, YOLO, masks.
    splits
        A file of ``capsieve splits``: parts "train" and "test", or folds.
    train_patients
        Patients on whose frames the operating point is chosen; the others are the test.
    target_specificity
        That the chosen operating point must reach, a share of 1.
    threshold
        An operating point of your own.
    against
        Results of another detector or setting on the same frames.
    rounds, seed
        Of the bootstrap.
    reading_speed
        Frames that a reader looks at in a second.
    within, gap, shortest
        Seconds: how soon a polyp must be flagged; the longest pause inside an alarm; the shortest
        alarm that counts.
    allow_leaks
        Go on although training and test share patients or pictures. The report says so.
    galleries
        Whether the report shows frames. They are read again from the exams' sources.

    Returns
    -------
    Evaluation
        Every number with its definition, counts and intervals.

    Raises
    ------
    FileError
        Results or labels that cannot be read or do not fit each other.
    LeakError
        The parts of the split share patients or pictures.
    ParameterError
        A setting that makes no sense.
    """
    from capsieve.statistics.labels import read_labels

    settings = Settings(
        target_specificity=target_specificity,
        threshold=threshold,
        train_patients=tuple(train_patients),
        rounds=rounds,
        seed=seed,
        reading_speed=reading_speed,
        within=within,
        gap=gap,
        shortest=shortest,
    )
    evaluation = _evaluated(
        Path(results),
        read_labels(labels, layout=layout),
        settings,
        regions=None if regions is None else Path(regions),
        splits=None if splits is None else Path(splits),
        against=None if against is None else Path(against),
        allow_leaks=allow_leaks,
    )
    if out is not None:
        from capsieve.report.evaluation.gallery_pictures import recalling
        from capsieve.report.evaluation.writing import write_evaluation

        fetch = recalling(Path(results)) if galleries else None
        write_evaluation(evaluation, Path(out), fetch=fetch, galleries=galleries)
    return evaluation


def _evaluated(
    results: Path,
    labels: "LabelSet",
    settings: Settings,
    *,
    regions: Path | None,
    splits: Path | None,
    against: Path | None,
    allow_leaks: bool,
) -> "Evaluation":
    from capsieve.engine.judged_results import read_judged
    from capsieve.statistics.accounts import account_table
    from capsieve.statistics.evaluation import Evaluation
    from capsieve.statistics.judging import judge
    from capsieve.statistics.points import operating_points

    read = read_judged(
        results,
        labels,
        splits=splits,
        train_patients=settings.train_patients,
        allow_leaks=allow_leaks,
    )
    matched, judged, record = read.matched, read.judged, read.record
    detector, parameters = record["detector"], record["parameters"]
    points = operating_points(judged, settings, detector=detector, flagging=read.flagging)
    judgement = judge(judged, points, settings, detector=detector, parameters=parameters)
    metrics, tables, problems = judgement.metrics, judgement.tables, matched.problems
    froc = None
    if regions is not None:
        from capsieve.statistics.regions.localisation import localise
        from capsieve.statistics.regions.reading import read_regions

        folders = dict(zip(judged.exams, matched.folders, strict=True))
        pointed = localise(
            read_regions(regions),
            judged,
            folders=folders,
            threshold=points[0].threshold,
            rounds=settings.rounds,
            seed=settings.seed,
        )
        metrics += pointed.metrics
        tables += () if pointed.table is None else (pointed.table,)
        problems += pointed.problems
        froc = pointed.froc
    comparison = None
    if against is not None:
        comparison = _compared(matched, record, labels, settings, results, against, points[0])
        metrics += comparison.metrics
        tables += (comparison.values, comparison.changed)
    return Evaluation(
        results=str(results),
        labels=labels.path,
        settings=settings.to_dict()
        | {
            "layout": labels.layout,
            "splits": None if splits is None else str(splits),
            "regions": None if regions is None else str(regions),
            "against": None if against is None else str(against),
            "allow_leaks": allow_leaks,
        },
        detector=detector,
        parameters=parameters,
        judged=judged,
        problems=problems,
        warnings=read.warnings,
        leaks=read.leaks,
        points=points,
        metrics=metrics,
        tables=(account_table(matched), *tables),
        roc_frames=_drawable(judgement.frames.curve),
        roc_frames_band=judgement.frames.band,
        roc_polyps=_drawable(judgement.polyps.curve),
        roc_polyps_band=judgement.polyps.band,
        histograms=judgement.histograms,
        effort=judgement.effort,
        alarms=judgement.alarms,
        froc=froc,
        comparison=comparison,
    )


def _drawable(curve: "RocCurve") -> "RocCurve | None":
    """Return the curve, or None where a class is empty and there is nothing to draw."""
    return curve if curve.positives and curve.negatives else None


def _compared(
    matched: "Matched",
    record: Record,
    labels: "LabelSet",
    settings: Settings,
    results: Path,
    against: Path,
    point: "OperatingPoint",
) -> "Comparison":
    from capsieve.detectors import same_detector
    from capsieve.engine.judged_results import read_matched
    from capsieve.statistics.comparison import compare, same_frames
    from capsieve.statistics.matching import pixel_codes
    from capsieve.statistics.points import operating_points

    others, other_records = read_matched(against, labels)
    other_detector = other_records[0]["detector"]
    mine, theirs = same_frames(matched.judged, others.judged)
    pixels = pixel_codes([*matched.folders, *others.folders])
    if (pixels[mine] != pixels[len(matched.judged) + theirs]).any():
        raise FileError(
            f"frames of the same number in {results} and {against} are not the same pictures; "
            "screen the same exams with both"
        )
    judged = matched.judged.take(mine)
    # The threshold of the other is chosen by the same rule, on the same training part.
    other = replace(
        judged, score=others.judged.score[theirs], flagged=others.judged.flagged[theirs]
    )
    # One number means nothing on the scale of another detector's score.
    same_scale = same_detector(record["detector"], other_detector)
    points = operating_points(
        other,
        settings if same_scale else replace(settings, threshold=None),
        detector=other_detector,
        flagging=[each["flagging"] for each in other_records],
    )
    return compare(
        judged,
        other,
        names=_two_names(results, against),
        thresholds=(point.threshold, points[0].threshold),
        settings=settings,
        left_out=int((matched.judged.truth >= 0).sum()) - len(mine),
    )


def _two_names(results: Path, against: Path) -> tuple[str, str]:
    one, two = results.resolve(), against.resolve()
    return (one.name, two.name) if one.name != two.name else (str(results), str(against))
