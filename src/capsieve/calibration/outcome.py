"""What a calibration is made of: everything that its files and its table show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from capsieve.calibration.portions import Portion
from capsieve.calibration.target import Scale, Target
from capsieve.parameters import Parameters
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.metric import Metric

__all__ = ["Calibration"]


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """An operating point, how it was chosen, and what to expect of it.

    Attributes
    ----------
    results, labels
        Where they were read.
    settings
        All that can change a number: rounds, seed, the split's file, ...
    target, scale
        What was asked for, and of which thresholds.
    detector
        Its name.
    screened
        The threshold that the exams were screened with.
    base
        The parameters that the exams were screened with.
    parameters
        The same, for the paper's detector with the chosen threshold.
    threshold
        The chosen one, for ``capsieve screen --threshold``.
    how
        One sentence: by which rule, on which frames.
    fold_thresholds
        By fold: the threshold that the others chose for it; empty without folds.
    portions
        What was judged: the frames that chose first, then those that had no say.
    metrics
        All numbers; keys are unique.
    unit
        "polyp", or "run" where runs of frames stand in for polyps.
    resampled
        What was drawn again as a whole.
    problems, warnings, leaks
        What was not clear in the labels, what a careful reader must know, and leaks that were
        overridden aloud.
    """

    results: str
    labels: str
    settings: Mapping[str, Any]
    target: Target
    scale: Scale
    detector: str
    screened: float
    base: Parameters
    parameters: Parameters
    threshold: float
    how: str
    fold_thresholds: Mapping[str, float]
    portions: tuple[Portion, ...]
    metrics: tuple[Metric, ...]
    unit: str
    resampled: str
    problems: tuple[LabelProblem, ...]
    warnings: tuple[str, ...]
    leaks: tuple[str, ...]

    @property
    def honest(self) -> bool:
        """Whether some figures are of frames that had no say in the threshold."""
        return any(not portion.optimistic for portion in self.portions)

    def metric(self, key: str) -> Metric:
        """Return the metric of this key."""
        return next(metric for metric in self.metrics if metric.key == key)
