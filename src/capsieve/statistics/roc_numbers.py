"""The ROC curves of an evaluation with their areas, bands and intervals."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from capsieve.statistics.areas import MOST, area, partial_area, standardised_partial_area
from capsieve.statistics.curve_rounds import CurveRounds, curve_band, curve_rounds
from capsieve.statistics.curves import Band, RocCurve
from capsieve.statistics.delong import clustered_area
from capsieve.statistics.flags import normal_frames, polyp_frames, positive_scores
from capsieve.statistics.judged import Judged
from capsieve.statistics.metric import Interval, Metric
from capsieve.statistics.polyps import polyp_scores
from capsieve.statistics.roc import roc_curve, sensitivity_at_specificity
from capsieve.statistics.settings import Settings

__all__ = ["RocNumbers", "frame_roc", "polyp_roc"]

_HIGH = 0.95  # the second specificity at which the sensitivity is told


class RocNumbers(NamedTuple):
    """A curve, its band, its metrics, and what the bootstrap rounds say."""

    curve: RocCurve
    band: Band
    metrics: tuple[Metric, ...]
    rounds: CurveRounds


def frame_roc(judged: Judged, settings: Settings) -> RocNumbers:
    """Return the curve per frame: polyp frames against normal frames."""
    polyp, normal = polyp_frames(judged), normal_frames(judged)
    curve = roc_curve(judged.score[polyp], judged.score[normal])
    specificities = _specificities(settings)
    rounds = curve_rounds(
        judged.score[polyp],
        judged.score[normal],
        positive_units=judged.group[polyp],
        negative_units=judged.group[normal],
        kind=judged.group_kind,
        specificities=specificities,
        rounds=settings.rounds,
        seed=settings.seed,
    )
    both = polyp | normal
    formula = clustered_area(
        positive_scores(judged.score[both]),
        polyp[both],
        judged.group[both],
        kind=judged.group_kind,
    ).interval()
    if formula.low is not None and formula.high is not None:  # a formula knows no bounds of areas
        formula = replace(formula, low=max(formula.low, 0.0), high=min(formula.high, 1.0))
    return _numbers(curve, rounds, "frames", "frame", "polyp frame", (formula,), specificities)


def polyp_roc(judged: Judged, settings: Settings) -> RocNumbers:
    """Return the curve per polyp: the best frame of every polyp against normal frames.

    Two bootstraps stand beside each other: over the groups, with all their polyps and frames, and
    over the polyps alone, the normal frames as they are.
    """
    polyps = polyp_scores(judged)
    normal = normal_frames(judged)
    curve = roc_curve(polyps.score, judged.score[normal], unit=judged.unit)
    specificities = _specificities(settings)
    rounds = curve_rounds(
        polyps.score,
        judged.score[normal],
        positive_units=polyps.group,
        negative_units=judged.group[normal],
        kind=judged.group_kind,
        specificities=specificities,
        rounds=settings.rounds,
        seed=settings.seed,
    )
    over_polyps = curve_rounds(
        polyps.score,
        judged.score[normal],
        positive_units=np.arange(len(polyps.score)),
        negative_units=None,
        kind=judged.unit,
        specificities=specificities,
        rounds=settings.rounds,
        seed=settings.seed,
    )
    caution = f"takes the normal frames as they are, and {judged.unit}s as independent"
    more = over_polyps.interval(over_polyps.area, caution=caution)
    return _numbers(curve, rounds, "polyps", judged.unit, judged.unit, (more,), specificities)


def _specificities(settings: Settings) -> tuple[float, ...]:
    return tuple(dict.fromkeys((settings.target_specificity, _HIGH)))


def _numbers(
    curve: RocCurve,
    rounds: CurveRounds,
    key: str,
    unit: str,
    positive: str,
    more: tuple[Interval, ...],
    specificities: tuple[float, ...],
) -> RocNumbers:
    band = curve_band(rounds, end=float(curve.false_positive_rate[-1]))
    empty = "" if curve.positives and curve.negatives else "No value: a class is empty."
    name = f"Area under the ROC curve per {unit}"
    metrics = [
        Metric(
            f"{key}.auc",
            name,
            area(curve),
            f"The chance that a {positive} scores higher than a normal frame, ties counted half. "
            "Frames that were rejected before they were scored count as 0, which is the straight "
            "line from the end of the curve to (1, 1).",
            "area",
            intervals=(rounds.interval(rounds.area), *more),
            note=empty,
        ),
        Metric(
            f"{key}.auc_20",
            f"{name}, up to {100 * MOST:g} % false positives",
            partial_area(curve),
            f"The mean true positive rate over false positive rates from 0 to {100 * MOST:g} %.",
            "area",
            intervals=(rounds.interval(rounds.partial_area),),
            note=empty,
        ),
        Metric(
            f"{key}.auc_20_standardised",
            f"{name}, up to {100 * MOST:g} % false positives, standardised",
            standardised_partial_area(curve),
            "The same area after McClish: 0.5 for a sieve that guesses, 1 for a perfect one.",
            "area",
            note=empty,
        ),
    ]
    for column, specificity in enumerate(specificities):
        best = sensitivity_at_specificity(curve, specificity)
        percent = f"{100 * specificity:g} %"
        metrics.append(
            Metric(
                f"{key}.sensitivity_at_{100 * specificity:g}",
                f"Sensitivity per {unit} at {percent} specificity",
                None if best is None else best[0],
                f"The highest sensitivity of a threshold whose specificity is at least {percent} "
                "on the same frames; so it looks a little better than it is.",
                intervals=(rounds.interval(rounds.sensitivity[:, column]),),
                note=empty if best is None else f"At the threshold {best[1]:g}.",
            )
        )
    return RocNumbers(curve, band, tuple(metrics), rounds)
