"""What an evaluation is made of: everything that metrics.json, tables, figures and page show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.curves import AlarmCurve, Band, EffortCurve, FrocCurve, RocCurve
from capsieve.statistics.judged import Judged
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.metric import Metric
from capsieve.statistics.table import Table

__all__ = ["Comparison", "Evaluation", "Histogram", "OperatingPoint"]


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A threshold, and how it was come by.

    Attributes
    ----------
    key
        "screened" (as the exams were screened), "instead" (the exams were screened with reading
        lists), "chosen" (on the training part), "fitted" (on the frames that it is judged on).
    threshold
        A frame is flagged where its score is at least this.
    how
        One sentence: who chose it, on which frames, by which rule.
    optimistic
        Whether the frames that it is judged on had a say in it.
    """

    key: str
    threshold: float
    how: str
    optimistic: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """A quantity's distribution in both classes.

    Attributes
    ----------
    key, label
        "texture_max", and its name with the paper's symbol for people.
    edges
        Of the bins; the last bin also holds what lies beyond it.
    polyp, normal
        Frames per bin.
    bounds
        Values that decide, with their names: {"T_L": 3.0, "T_U": 8.0}.
    left_out
        Frames for which the quantity is not defined, and why; or "".
    """

    key: str
    label: str
    edges: NDArray[np.float64]
    polyp: NDArray[np.int64]
    normal: NDArray[np.int64]
    bounds: Mapping[str, float]
    left_out: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two detectors or settings on the same frames.

    Attributes
    ----------
    name, other
        Of the evaluated results and of those that they are compared with.
    metrics
        The differences, this minus the other, each with its interval.
    values
        A table of both values and the difference.
    changed
        The frames that changed sides.
    roc, other_roc
        Per frame.
    """

    name: str
    other: str
    metrics: tuple[Metric, ...]
    values: Table
    changed: Table
    roc: RocCurve
    other_roc: RocCurve


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """How good a sieve is, how sure that is, and how much reading it saves.

    Attributes
    ----------
    results, labels
        Where they were read; `settings` says with which options.
    settings
        All that can change a number: target, rounds, seed, seconds, the split's file, ...
    detector, parameters
        Of the results, as in exam.json.
    judged
        The frames.
    problems, warnings
        What was not clear in the labels, and what a careful reader must know.
    leaks
        Sentences that name each leak that was overridden aloud; empty where there is none.
    points
        The operating points; the first is the one that figures mark and tables use.
    metrics, tables
        All numbers. Keys of metrics are unique; so are those of tables.
    roc_frames, roc_polyps, ..., froc
        The curves; None where there is nothing to draw, and then a warning or note says why.
    histograms
        Of T_max and R_max, where the detector has them.
    comparison
        With other results, or None.
    """

    results: str
    labels: str
    settings: Mapping[str, Any]
    detector: Mapping[str, Any]
    parameters: Mapping[str, Any]
    judged: Judged
    problems: tuple[LabelProblem, ...]
    warnings: tuple[str, ...]
    leaks: tuple[str, ...]
    points: tuple[OperatingPoint, ...]
    metrics: tuple[Metric, ...]
    tables: tuple[Table, ...]
    roc_frames: RocCurve | None = None
    roc_frames_band: Band | None = None
    roc_polyps: RocCurve | None = None
    roc_polyps_band: Band | None = None
    histograms: tuple[Histogram, ...] = ()
    effort: EffortCurve | None = None
    alarms: AlarmCurve | None = None
    froc: FrocCurve | None = None
    comparison: Comparison | None = None

    @property
    def unit(self) -> str:
        """What positives are grouped into: "polyp", or "run" where runs stand in for polyps."""
        return self.judged.unit

    def metric(self, key: str) -> Metric:
        """Return the metric of this key."""
        return next(metric for metric in self.metrics if metric.key == key)

    def table(self, key: str) -> Table:
        """Return the table of this key."""
        return next(table for table in self.tables if table.key == key)
