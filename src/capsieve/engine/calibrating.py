"""Choosing the operating point of screened exams: read, choose, redraw, judge, write."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from capsieve.calibration.target import Scale, Target
from capsieve.errors import ParameterError
from capsieve.parameters import Parameters
from capsieve.statistics.settings import Settings

if TYPE_CHECKING:
    from capsieve.calibration.outcome import Calibration
    from capsieve.calibration.portions import Portion
    from capsieve.statistics.judged import Judged

__all__ = ["calibrate"]


def calibrate(
    results: str | Path,
    labels: str | Path,
    out: str | Path | None = None,
    *,
    target: Target | None = None,
    layout: str | None = None,
    splits: str | Path | None = None,
    train_patients: Sequence[str] = (),
    rounds: int = 2000,
    seed: int = 0,
    reading_speed: float = 10.0,
    gap: float = 1.0,
    allow_leaks: bool = False,
) -> "Calibration":
    """Choose the threshold that reaches a target, and tell what it costs.

    Parameters
    ----------
    results
        The folder that :func:`capsieve.screen` wrote: OUT, or one exam OUT/EXAM.
    labels
        What the frames truly show: a CSV or Parquet table, or a known collection's folder.
    out
        Folder for calibration.json, .csv, .md and .tex and, for the paper's detector,
        calibrated.toml; without it nothing is written.
    target
        What to reach; a specificity of 90 %, as in the paper, where it is not given.
    layout
        The labels' layout, where it is not recognised.
    splits
        A file of ``capsieve splits``. The part "train" chooses and the others judge; with folds all
        choose together, and each is judged by the threshold of the others.
    train_patients
        Patients on whose frames the threshold is chosen; the others judge it.
    rounds, seed
        Of the bootstrap.
    reading_speed
        Frames that a reader looks at in a second.
    gap
        Flagged frames of one head no further apart, in seconds, are one event.
    allow_leaks
        Go on although training and test share patients or pictures. The files say so.

    Returns
    -------
    Calibration
        The threshold and every number with its definition, counts and intervals.

    Raises
    ------
    FileError
        Results or labels that cannot be read or do not fit each other.
    LeakError
        The parts of the split share patients or pictures.
    ParameterError
        A setting that makes no sense, or a target that no threshold reaches.
    """
    from capsieve.calibration.choice import choose_or_fail, why_chosen
    from capsieve.calibration.figures import choice_metrics, portion_metrics
    from capsieve.calibration.folds import cross_fit
    from capsieve.calibration.outcome import Calibration
    from capsieve.calibration.portions import (
        choosing_portion,
        fold_portion,
        has_folds,
        in_parts,
        judging_portions,
        left_out,
    )
    from capsieve.calibration.redrawing import redraw
    from capsieve.detectors import is_out_of_fold, screens_with
    from capsieve.engine.judged_results import read_judged
    from capsieve.statistics.flags import flagged_at
    from capsieve.statistics.labels import read_labels
    from capsieve.statistics.points import TRAIN, screened_threshold, step_of
    from capsieve.statistics.short_threshold import short_threshold

    if splits is not None and train_patients:
        raise ParameterError("splits", "a split and training patients both say who chooses")
    target = target or Target()
    settings = Settings(rounds=rounds, seed=seed, reading_speed=reading_speed, gap=gap)
    label_set = read_labels(labels, layout=layout)
    read = read_judged(
        Path(results),
        label_set,
        splits=None if splits is None else Path(splits),
        train_patients=train_patients,
        allow_leaks=allow_leaks,
    )
    detector = read.record["detector"]
    screens = screens_with(detector, Path(results))
    base = Parameters.from_dict(read.record["parameters"])
    step = step_of(detector)
    scale = Scale("score threshold", None)
    if step is not None:
        scale = Scale("R_P", step, float(base.derived.radius_search))
    judged = in_parts(read.judged)
    choosing = choosing_portion(judged)
    folds = fold_portion(judged) if has_folds(judged) else None
    _check_whole(target, judged, choosing, folds)

    choosers = judged.take(choosing.frames)
    threshold = choose_or_fail(choosers, target, scale)
    if step is None:
        threshold = short_threshold(threshold, judged.score)
    part = "the training part" if choosing.key == TRAIN else ""
    how = why_chosen(choosers, target, scale, part=part)
    redrawn = redraw(choosers, target, scale, rounds=rounds, seed=seed)
    flagged = flagged_at(judged.score, threshold)
    portions = [choosing, *judging_portions(judged)]
    metrics = [
        *choice_metrics(threshold, redrawn, target, scale, how=how, unit=judged.unit),
        *(
            metric
            for portion in portions
            for metric in portion_metrics(judged, flagged, portion, settings)
        ),
    ]
    fold_thresholds: dict[str, float] = {}
    warnings = [*read.warnings, left_out(judged)]
    if folds is not None:
        fitted, why = cross_fit(judged, target, scale)
        warnings.append(why)
        if fitted is not None:
            fold_thresholds = {judged.parts[c]: value for c, value in fitted.thresholds.items()}
            portions.append(folds)
            metrics += portion_metrics(judged, fitted.flagged, folds, settings)
    warnings += _warnings(choosers, threshold, scale, portions)
    if is_out_of_fold(detector):
        warnings.append(
            "These are out-of-fold results: each fold was scored by a model of its own, none of "
            "which is kept. The threshold is for screening with the model that was trained on all "
            f"frames, {screens}."
        )
    calibration = Calibration(
        results=str(results),
        labels=label_set.path,
        settings={
            "rounds": rounds,
            "seed": seed,
            "reading_speed": reading_speed,
            "gap": gap,
            "layout": label_set.layout,
            "splits": None if splits is None else str(splits),
            "train_patients": list(train_patients),
            "allow_leaks": allow_leaks,
        },
        target=target,
        scale=scale,
        detector=screens,
        screened=screened_threshold(read.flagging, judged),
        base=base,
        parameters=_with_threshold(base, threshold, scale),
        threshold=threshold,
        how=how,
        fold_thresholds=fold_thresholds,
        portions=tuple(portions),
        metrics=tuple(metrics),
        unit=judged.unit,
        resampled=judged.group_kind,
        problems=read.matched.problems,
        warnings=tuple(dict.fromkeys(filter(None, warnings))),
        leaks=read.leaks,
    )
    if out is not None:
        from capsieve.calibration.files import write_calibration

        write_calibration(calibration, Path(out))
    return calibration


def _with_threshold(base: Parameters, threshold: float, scale: Scale) -> Parameters:
    """Return the parameters; for the paper's detector with the threshold as R_P."""
    if scale.step is None:
        return base
    return replace(base, radius_threshold=int(threshold))


def _check_whole(
    target: Target, judged: "Judged", choosing: "Portion", folds: "Portion | None"
) -> None:
    """Refuse to count frames per exam where the split tears exams apart."""
    from capsieve.statistics.reading_units import reading_units

    if target.kind != "frames":
        return
    units = reading_units(judged)
    known = (units.unit >= 0) & (judged.part >= 0)
    torn = np.zeros(len(units), np.bool_)
    if folds is not None:
        places = np.unique(np.stack([units.unit[known], judged.part[known]]), axis=1)[0]
        torn = np.bincount(places, minlength=len(units)) > 1
    if not choosing.whole or torn.any():
        raise ParameterError(
            "frames",
            f"the split puts frames of one {units.word} into several parts, or only some of them "
            "into one, so that frames per exam cannot be counted; split by patient or exam, leave "
            "the split out, or give another target",
        )


def _warnings(
    choosers: "Judged", threshold: float, scale: Scale, portions: "Sequence[Portion]"
) -> list[str]:
    from capsieve.statistics.flags import flagged_at

    warnings = []
    if not flagged_at(choosers.score, threshold).any():
        warnings.append(f"{scale.name} = {threshold:g} flags none of the frames that chose it.")
    if scale.step is None and flagged_at(choosers.score, threshold)[choosers.score > 0].all():
        warnings.append(
            f"{scale.name} = {threshold:g} flags every frame that chose it: the target leaves "
            "nothing to choose."
        )
    if threshold == scale.step:
        warnings.append(
            f"{scale.name} = {threshold:g} flags every frame in which a radius was measured: the "
            "target leaves nothing to choose."
        )
    if all(portion.optimistic for portion in portions):
        warnings.append(
            "All figures are of the frames that chose the threshold, so they are optimistic; "
            "--splits or --train-patient gives honest ones."
        )
    return warnings
