"""How good a training is, on frames that its models never saw: by source, with intervals."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.engine.training_frames import TrainingFrames
from capsieve.statistics.flags import flagged_at
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, Judged
from capsieve.statistics.judging import judge
from capsieve.statistics.metric import Metric
from capsieve.statistics.operating_point import cross_fitted, smallest_threshold
from capsieve.statistics.points import operating_points
from capsieve.statistics.rates import frame_metrics, rate_metrics
from capsieve.statistics.settings import Settings

__all__ = ["SourceFigures", "out_of_fold_figures"]

_HIGH = 0.95
"""The second specificity at which the sensitivity is told."""

_AT_HIGH = "cross-fitted-95"


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """What was found on the frames of one source.

    Attributes
    ----------
    source
        Its name.
    trained
        Whether the models learned from it: it has polyp frames.
    counts
        Frames: "polyp", "normal", "other"; and "polyps" and "groups".
    group_kind, unit
        What is drawn again for intervals, and what one polyp is.
    metrics
        With the keys of an evaluation, see docs/evaluation.md. Those of "cross-fitted" have the
        threshold of each fold chosen on the others; those of "cross-fitted-95" the same for 95 %
        specificity. A source without polyp frames has specificity and false alarms alone, with
        the thresholds that the other sources chose.
    """

    source: str
    trained: bool
    counts: dict[str, int]
    group_kind: str
    unit: str
    metrics: tuple[Metric, ...]

    def metric(self, key: str) -> Metric | None:
        """Return a metric by its key; None where it is not there."""
        return next((metric for metric in self.metrics if metric.key == key), None)


def out_of_fold_figures(
    frames: TrainingFrames,
    probability: NDArray[np.float64],
    *,
    threshold: float,
    target_specificity: float,
    rounds: int,
    seed: int,
    detector: Mapping[str, Any],
) -> tuple[SourceFigures, ...]:
    """Judge probabilities of frames that the fits never saw, source by source.

    Polyp frames are compared with frames of the same source alone: a model that tells sources apart
    would win any other comparison.

    Parameters
    ----------
    frames, probability
        The examples, and one probability for each.
    threshold
        Of the model.
    target_specificity, rounds, seed
        See :class:`~capsieve.statistics.settings.Settings`.
    detector
        Its identity, for the rules that depend on it.
    """
    settings = Settings(target_specificity=target_specificity, rounds=rounds, seed=seed)
    # Also frames that could not be scored: a polyp that nobody could score is a missed one.
    wanted = (frames.judged.truth >= 0) & (frames.judged.part >= 0)
    score = frames.spread(probability)[wanted]
    flagged = flagged_at(score, threshold)
    judged = replace(
        frames.judged.take(wanted),
        score=score,
        flagged=flagged,
        reasons=("polyp", "score-low"),
        reason=np.where(flagged, 0, 1).astype(np.int16),
    )
    source = frames.source[wanted]
    trained = np.isin(source, np.unique(frames.examples.source[frames.trained]))
    found: list[SourceFigures] = []
    for code in np.unique(source).tolist():
        here = source == code
        some = judged.take(here)
        with_polyps = bool(trained[here].any())
        if with_polyps:
            metrics = _judged(some, settings, detector, threshold)
        else:
            metrics = _false_alarms(judged, here, trained, settings)
        found.append(
            SourceFigures(
                source=frames.examples.sources[code],
                trained=with_polyps,
                counts=_counts(some),
                group_kind=some.group_kind,
                unit=some.unit,
                metrics=metrics,
            )
        )
    return tuple(sorted(found, key=lambda figures: (not figures.trained, figures.source)))


def _judged(
    judged: Judged, settings: Settings, detector: Mapping[str, Any], threshold: float
) -> tuple[Metric, ...]:
    flagging = [{"rule": "threshold", "value": threshold}]
    points = operating_points(judged, settings, detector=detector, flagging=flagging)
    judgement = judge(judged, points, settings, detector=detector, parameters={})
    high: tuple[Metric, ...] = ()
    fitted_others = any(".cross-fitted." in metric.key for metric in judgement.metrics)
    if fitted_others and settings.target_specificity != _HIGH:
        fitted = cross_fitted(judged.score, judged.truth, judged.part, target_specificity=_HIGH)
        high = rate_metrics(
            judged,
            fitted.flagged,
            subset=_AT_HIGH,
            rounds=settings.rounds,
            seed=settings.seed,
        )
    return (*judgement.metrics, *high)


def _false_alarms(
    judged: Judged,
    here: NDArray[np.bool_],
    trained: NDArray[np.bool_],
    settings: Settings,
) -> tuple[Metric, ...]:
    """Return the rates of frames without polyps, flagged by thresholds of the trained sources."""
    metrics: list[Metric] = []
    for target in dict.fromkeys((settings.target_specificity, _HIGH)):
        flagged = np.zeros(len(judged), np.bool_)
        for code in np.unique(judged.part[here]):
            others = trained & (judged.part != code)
            threshold = smallest_threshold(
                judged.score[others & (judged.truth == NORMAL)],
                target_specificity=target,
                candidates=judged.score[others],
            )
            chosen = here & (judged.part == code)
            flagged[chosen] = flagged_at(judged.score[chosen], threshold)
        metrics += frame_metrics(
            judged.take(here),
            flagged[here],
            subset="cross-fitted" if target == settings.target_specificity else _AT_HIGH,
            rounds=settings.rounds,
            seed=settings.seed,
        )
    return tuple(metrics)


def _counts(judged: Judged) -> dict[str, int]:
    words = {"polyp": POLYP, "normal": NORMAL, "other": OTHER}
    counts = {word: int((judged.truth == code).sum()) for word, code in words.items()}
    polyps = np.unique(judged.polyp[judged.polyp >= 0])
    return counts | {"polyps": len(polyps), "groups": len(np.unique(judged.group))}
