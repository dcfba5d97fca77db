"""From judged frames to an evaluation: a thin composer over the single statistics."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.alarm_numbers import alarm_metrics, alarm_table
from capsieve.statistics.alarms import alarm_curve
from capsieve.statistics.causes import causes_table
from capsieve.statistics.curves import AlarmCurve, EffortCurve
from capsieve.statistics.effort import (
    curve_thresholds,
    effort_curve,
    effort_metrics,
    effort_table,
)
from capsieve.statistics.evaluation import Histogram, OperatingPoint
from capsieve.statistics.flags import flagged_at, normal_frames, number_of
from capsieve.statistics.judged import NORMAL, POLYP, Judged
from capsieve.statistics.metric import Metric
from capsieve.statistics.operating_point import cross_fitted
from capsieve.statistics.patients import false_positives_table
from capsieve.statistics.points import TRAIN, step_of
from capsieve.statistics.points_table import cross_fitted_table, points_table, subsets
from capsieve.statistics.polyps import sequences_table
from capsieve.statistics.preselection import histograms, preselection_metrics, reasons_table
from capsieve.statistics.rates import rate_metrics
from capsieve.statistics.roc_numbers import RocNumbers, frame_roc, polyp_roc
from capsieve.statistics.settings import Settings
from capsieve.statistics.table import Table

__all__ = ["Judgement", "class_warnings", "judge"]


class Judgement(NamedTuple):
    """All that follows from the judged frames alone."""

    metrics: tuple[Metric, ...]
    tables: tuple[Table, ...]
    frames: RocNumbers
    polyps: RocNumbers
    histograms: tuple[Histogram, ...]
    effort: EffortCurve
    alarms: AlarmCurve | None


def judge(
    judged: Judged,
    points: tuple[OperatingPoint, ...],
    settings: Settings,
    *,
    detector: Mapping[str, Any],
    parameters: Mapping[str, Any],
) -> Judgement:
    """Compute every number that needs nothing but the judged frames.

    Parameters
    ----------
    judged
        The frames.
    points
        From :func:`~capsieve.statistics.points.operating_points`; the first one is judged in full.
    settings
        Of the evaluation.
    detector, parameters
        Of the results.
    """
    threshold = points[0].threshold
    flagged = flagged_at(judged.score, threshold)
    labelled = judged.take(judged.truth >= 0)
    frames, polyps = frame_roc(labelled, settings), polyp_roc(labelled, settings)
    thresholds = curve_thresholds(judged.score, points=[point.threshold for point in points])
    seconds = {"within": settings.within, "gap": settings.gap, "shortest": settings.shortest}
    resampling = {"rounds": settings.rounds, "seed": settings.seed}
    speed = settings.reading_speed
    folds, folds_table = _cross_fitted(judged, settings, step=step_of(detector))
    tables = [
        points_table(judged, points),
        folds_table,
        sequences_table(judged, flagged),
        false_positives_table(judged, flagged),
        reasons_table(judged),
        effort_table(judged, threshold=threshold, frames_per_second=speed),
        causes_table(judged, flagged),
        alarm_table(judged, threshold=threshold, gap=settings.gap, shortest=settings.shortest),
    ]
    metrics = [
        *_rates(judged, flagged, settings),
        *folds,
        *frames.metrics,
        *polyps.metrics,
        *preselection_metrics(judged, **resampling),
        *effort_metrics(
            judged,
            threshold=threshold,
            frames_per_second=speed,
            gap=settings.gap,
            **resampling,
        ),
        *alarm_metrics(judged, threshold=threshold, **seconds, **resampling),
    ]
    return Judgement(
        metrics=tuple(metrics),
        tables=tuple(table for table in tables if table is not None and table.rows),
        frames=frames,
        polyps=polyps,
        histograms=histograms(judged, parameters),
        effort=effort_curve(
            judged, thresholds=thresholds, frames_per_second=speed, gap=settings.gap
        ),
        alarms=alarm_curve(judged, thresholds=thresholds, **seconds),
    )


def class_warnings(judged: Judged) -> tuple[str, ...]:
    """Return what a reader must know of the classes: one that is empty, groups that are few."""
    polyp, normal = (int((judged.truth == code).sum()) for code in (POLYP, NORMAL))
    warnings = []
    if not polyp:
        warnings.append("No frame is labelled polyp, so nothing can be said about sensitivity.")
    if not normal:
        warnings.append("No frame is labelled normal, so nothing can be said about specificity.")
    unlabelled = int((judged.truth < 0).sum())
    if unlabelled:
        warnings.append(
            f"{number_of(unlabelled, 'frame')} without a label: in neither class, but among the "
            "frames to read where they are flagged."
        )
    if _has_folds(judged) and (alone := _folds_alone(judged)):
        warnings.append(
            f"No threshold could be chosen for {'fold' if len(alone) == 1 else 'folds'} "
            f"{', '.join(alone)}: the other folds have no normal frame among these results. So "
            "there are no figures with thresholds of the other folds."
        )
    return tuple(warnings)


def _has_folds(judged: Judged) -> bool:
    return len(judged.parts) > 1 and TRAIN not in judged.parts


def _folds_alone(judged: Judged) -> list[str]:
    """Return the folds for which the others cannot choose: they have no normal frame."""
    held = np.bincount(
        judged.part[normal_frames(judged) & (judged.part >= 0)], minlength=len(judged.parts)
    )
    there = np.unique(judged.part[judged.part >= 0])
    return [judged.parts[code] for code in there if held.sum() == held[code]]


def _rates(judged: Judged, flagged: NDArray[np.bool_], settings: Settings) -> list[Metric]:
    return [
        metric
        for name, mask in subsets(judged).items()
        for metric in rate_metrics(
            judged.take(mask),
            flagged[mask],
            subset=name,
            rounds=settings.rounds,
            seed=settings.seed,
        )
    ]


def _cross_fitted(
    judged: Judged, settings: Settings, *, step: float | None
) -> tuple[tuple[Metric, ...], Table | None]:
    """Rates with the threshold of each fold chosen on the others; none where there are no folds."""
    if not _has_folds(judged) or _folds_alone(judged):
        return (), None
    fitted = cross_fitted(
        judged.score,
        judged.truth,
        judged.part,
        target_specificity=settings.target_specificity,
        step=step,
    )
    inside = judged.part >= 0
    metrics = rate_metrics(
        judged.take(inside),
        fitted.flagged[inside],
        subset="cross-fitted",
        rounds=settings.rounds,
        seed=settings.seed,
    )
    return metrics, cross_fitted_table(judged, fitted)
