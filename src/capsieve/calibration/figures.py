"""What an operating point reaches, and what it costs on the other axes."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.portions import Portion
from capsieve.calibration.redrawing import Redrawn
from capsieve.calibration.target import Scale, Target
from capsieve.statistics.effort import effort_metrics
from capsieve.statistics.judged import Judged
from capsieve.statistics.metric import Metric, Unit
from capsieve.statistics.rates import rate_metrics
from capsieve.statistics.settings import Settings
from capsieve.statistics.subsets import named

__all__ = ["choice_metrics", "portion_metrics"]

_RATES = ("specificity", "sensitivity", "sensitivity_long")
_EFFORT = ("share_of_frames", "frames_per_exam", "events_per_exam", "minutes_per_exam")
_OPTIMISTIC = "Measured on the frames that chose the threshold: better than to be expected."
_TORN = "No value: exams of these frames are also in other parts, or partly in none."


def choice_metrics(
    threshold: float, redrawn: Redrawn, target: Target, scale: Scale, *, how: str, unit: str
) -> tuple[Metric, ...]:
    """Return the threshold, and what the target comes to on somebody new, with their intervals.

    Parameters
    ----------
    threshold, how
        The choice, and the sentence that says how it was made.
    redrawn
        The choice made again and again.
    target, scale
        What was chosen by.
    unit
        What stands for a polyp.
    """
    name = {
        "specificity": "Specificity",
        "frames": "Frames to read per exam",
        "sensitivity": f"Sensitivity per {unit}",
    }[target.kind]
    kind: Unit = "frames" if target.kind == "frames" else "share"
    drawn = redrawn.spread.method.removeprefix("bootstrap over ")
    note = "" if redrawn.new is not None else f"No value: {redrawn.spread.why}."
    return (
        Metric(
            "choice.threshold",
            scale.name,
            threshold,
            f"{how} A frame is flagged where its score is at least this. The interval: {drawn} are "
            "drawn again, and the threshold is chosen again on them.",
            "score",
            intervals=(redrawn.threshold,),
        ),
        Metric(
            "choice.new",
            f"{name} of others, {scale.name} chosen again",
            redrawn.new,
            f"What the target comes to on somebody new: {drawn} are drawn again, the threshold is "
            "chosen on those drawn and judged on those not drawn, all rounds together.",
            kind,
            intervals=() if redrawn.new is None else (redrawn.spread,),
            note=note,
        ),
    )


def portion_metrics(
    judged: Judged, flagged: NDArray[np.bool_], portion: Portion, settings: Settings
) -> tuple[Metric, ...]:
    """Return the rates and the reading that flags mean for a portion of the frames.

    Parameters
    ----------
    judged
        All frames.
    flagged
        Which of them are flagged; folds may have different thresholds.
    portion
        The frames to count.
    settings
        Rounds, seed, reading speed and gap.
    """
    some, marks = judged.take(portion.frames), flagged[portion.frames]
    drawing = {"rounds": settings.rounds, "seed": settings.seed}
    rates = [
        metric
        for metric in rate_metrics(some, marks, subset=portion.key, **drawing)
        if metric.key.rpartition(".")[2] in _RATES
    ]
    # With flags in place of scores one threshold stands for those of all folds.
    as_flags = replace(some, score=np.where(np.isnan(some.score), np.nan, marks.astype(np.float64)))
    effort = {
        metric.key: metric
        for metric in effort_metrics(
            as_flags,
            threshold=1.0,
            frames_per_second=settings.reading_speed,
            gap=settings.gap,
            **drawing,
        )
    }
    costs = [
        replace(
            _untorn(effort[f"effort.{name}"], portion),
            key=f"effort.{portion.key}.{name}",
            name=named(effort[f"effort.{name}"].name, portion.key),
        )
        for name in _EFFORT
    ]
    found = (*rates, *costs)
    return tuple(map(_warned, found)) if portion.optimistic else found


def _untorn(metric: Metric, portion: Portion) -> Metric:
    """Take back what is counted per exam where exams are not there as a whole."""
    if portion.whole or metric.unit == "share":
        return metric
    return Metric(metric.key, metric.name, None, metric.definition, metric.unit, note=_TORN)


def _warned(metric: Metric) -> Metric:
    if metric.value is None:
        return metric
    return replace(metric, note=f"{metric.note} {_OPTIMISTIC}".strip())
