"""Types of the results: metrics, curves, operating points, comparisons and evaluations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from capsieve.frame_table import FlagRule, Floats, Integers, LabelledFrames, Mask
from capsieve.result_table import Table
from capsieve.statistics.definitions import DEFINITIONS, Definition, Unit
from capsieve.statistics.options import EvaluationOptions

LEVEL = 0.95
"""Confidence level of every interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval.

    Attributes
    ----------
    method
        "Wilson", "bootstrap over patients", ...
    low, high
        The bounds; None if no interval can be given.
    why
        Why there is none, or a caution, without a final stop; or "".
    units
        Number of independent units that it is based on: frames, polyps, patients.
    """

    method: str
    low: float | None
    high: float | None
    why: str = ""
    units: int | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """A number with its counts and intervals.

    Attributes
    ----------
    key
        A key of :data:`~capsieve.statistics.definitions.DEFINITIONS`.
    value
        The number; None if it is not defined, for instance without a polyp frame, and `note` says
        why.
    numerator, denominator
        Counts of a proportion or of a mean per exam; else None.
    intervals
        The one to quote first.
    note
        A caution, or why there is no value; or "".
    subset
        The frames that it is about: "all", "train", "test", "cross-fitted", "source: NAME".
    name, text
        Name and definition of the metric, for people.
    """

    key: str
    value: float | None
    numerator: int | None = None
    denominator: int | None = None
    intervals: tuple[Interval, ...] = ()
    note: str = ""
    subset: str = "all"
    name: str = ""
    text: str = ""

    @property
    def unit(self) -> Unit:
        """What the value is: a share of 1, an area, a count."""
        return DEFINITIONS[self.key].unit

    @property
    def interval(self) -> Interval | None:
        """The interval to quote."""
        return self.intervals[0] if self.intervals else None


def make_metric(
    key: str,
    value: float | None,
    frames: LabelledFrames,
    options: EvaluationOptions,
    **fields: Any,
) -> Metric:
    """Return a metric with its name and definition, for the polyps and the target in use."""
    name, _, text, _ = define(key, frames, options)
    return Metric(key, value, name=name, text=text, **fields)


def define(key: str, frames: LabelledFrames, options: EvaluationOptions) -> Definition:
    """Return the definition of a metric, for the polyps and the target in use."""
    words = {"polyp": frames.polyp_word, "target": f"{options.specificity:g}"}
    name, unit, text, among = (each.format_map(words) for each in DEFINITIONS[key])
    return Definition(name, cast(Unit, unit), text[:1].upper() + text[1:], among)


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """A ROC curve, with a pointwise bootstrap band if there are enough groups.

    Attributes
    ----------
    thresholds, false_positive_rate, true_positive_rate
        One point per threshold, the strictest first. A frame that a rule rejected before it was
        scored has the score -inf, so the curve ends where pre-selection stops it; the area is
        that of the curve with a straight line from there to (1, 1).
    unit
        "frame", "polyp" or "run".
    band_rate, band_low, band_high
        Bounds of the sensitivity at fixed false positive rates, or None.
    """

    thresholds: Floats
    false_positive_rate: Floats
    true_positive_rate: Floats
    positives: int
    negatives: int
    unit: str = "frame"
    band_rate: Floats | None = None
    band_low: Floats | None = None
    band_high: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EffortCurve:
    """Shares of polyps and polyp frames found against the share of each exam that is read.

    `frames` is the mean number of flagged frames per exam, `unit` is "polyp" or "run".
    """

    share: Floats
    frames: Floats
    polyps_found: Floats
    frames_found: Floats
    exams: int
    polyps: int
    unit: str = "polyp"


@dataclass(frozen=True, slots=True, eq=False)
class FrocCurve:
    """Outlines hit against false marks per frame.

    The frames are the scored normal frames and the polyp frames with outlines.
    """

    thresholds: Floats
    false_marks_per_frame: Floats
    sensitivity: Floats
    outlines: int
    frames: int


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Frames of both classes by a quantity; the last bin also counts larger values.

    `bounds` are the values that decide, with their names: {"T_L": 3.0, "T_U": 8.0}. `polyp_frames`
    and `normal_frames` are the numbers of all frames of the class, which shares are of; `left_out`
    says how many of them are in no bin, and why.
    """

    key: str
    label: str
    edges: Floats
    polyp: Integers
    normal: Integers
    polyp_frames: int
    normal_frames: int
    bounds: Mapping[str, float]
    left_out: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint:
    """Which frames are flagged, by which rule, and who chose it.

    Attributes
    ----------
    key
        "screened" (the column flagged), "given" (--threshold or --read), "chosen" (on the training
        part), "cross-fitted" (for each fold on the others), "fitted" (on the frames that it is
        evaluated on).
    rule
        Rule that flags the frames; None if exams or folds have different ones.
    flagged
        Mask over all frames.
    text
        Description for people: on which frames it was chosen, and how.
    optimistic
        Whether the frames that it is evaluated on were used to choose it.
    """

    key: Literal["screened", "given", "chosen", "cross-fitted", "fitted"]
    rule: FlagRule | None
    flagged: Mask
    text: str
    optimistic: bool = False

    @property
    def threshold(self) -> float | None:
        """The threshold of the rule; None if it is a reading list or not one rule."""
        return None if self.rule is None or self.rule.is_list else self.rule.value


class Changes(NamedTuple):
    """Frames or polyps on which only one of two detectors is correct.

    `gained` and `lost` count those of the first and of the second, `p_value` is that of McNemar's
    test.
    """

    gained: int
    lost: int
    p_value: float


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two detectors on the same frames: the evaluated results first, then the baseline.

    Attributes
    ----------
    names
        Names of both for people.
    first, second, differences
        The metrics of both and their differences (first minus second), by the same keys.
    changes
        Numbers of frames or polyps that changed, by the keys of metrics that are proportions.
    rocs
        The ROC curves per frame.
    frames, second_score, flags
        The labelled frames that both scored, with the scores of the first; the scores of the
        second; and the frames that each flags.
    left_out
        Number of labelled frames that one of them did not score.
    """

    names: tuple[str, str]
    first: tuple[Metric, ...]
    second: tuple[Metric, ...]
    differences: tuple[Metric, ...]
    changes: Mapping[str, Changes]
    rocs: tuple[RocCurve, RocCurve]
    frames: LabelledFrames
    second_score: Floats
    flags: tuple[Mask, Mask]
    left_out: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation:
    """All numbers of an evaluation.

    Attributes
    ----------
    results, labels
        Paths, or "" for values in memory.
    options, settings
        The options, and further choices for metrics.json: label format, splits, regions, ...
    detector, parameters
        Detector and parameters as in exam.json; {} for scores of other programs.
    frames
        The labelled frames.
    points
        The operating points; the first is the one that was used, and that metrics are about.
    metrics, tables
        Keys of tables are unique, and so are pairs of key and subset of metrics.
    problems
        Problems of the labels and of matching; see :class:`capsieve.labels.LabelProblem`.
    warnings, leaks
        Sentences.
    roc_frames, roc_polyps, effort, froc, histograms, comparison
        Curves, histograms and the comparison; None or () if there is nothing to show.
    on_polyp
        Mask of the frames whose best place is inside an outline; None without outlines.
    """

    results: str
    labels: str
    options: EvaluationOptions
    settings: Mapping[str, Any]
    detector: Mapping[str, Any]
    parameters: Mapping[str, Any]
    frames: LabelledFrames
    points: tuple[OperatingPoint, ...]
    metrics: tuple[Metric, ...]
    tables: tuple[Table, ...]
    problems: tuple[Any, ...] = ()
    warnings: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    roc_frames: RocCurve | None = None
    roc_polyps: RocCurve | None = None
    effort: EffortCurve | None = None
    froc: FrocCurve | None = None
    histograms: tuple[Histogram, ...] = ()
    comparison: Comparison | None = None
    on_polyp: Mask | None = None

    def metric(self, key: str, subset: str = "all") -> Metric:
        """Return a metric.

        Raises
        ------
        KeyError
            There is none; the message names those that exist.
        """
        for metric in self.metrics:
            if metric.key == key and metric.subset == subset:
                return metric
        known = ", ".join(dict.fromkeys(metric.key for metric in self.metrics))
        raise KeyError(f"no metric {key!r} of the subset {subset!r}; there are {known}")

    def table(self, key: str) -> Table:
        """Return a table.

        Raises
        ------
        KeyError
            There is none; the message names those that exist.
        """
        for table in self.tables:
            if table.key == key:
                return table
        known = ", ".join(table.key for table in self.tables)
        raise KeyError(f"no table {key!r}; there are {known}")

    def __repr__(self) -> str:
        parts = [f"{len(self.frames)} frames"]
        for key in ("polyps.sensitivity", "frames.sensitivity", "frames.specificity"):
            metrics = [each for each in self.metrics if each.key == key and each.subset == "all"]
            if metrics and metrics[0].value is not None:
                parts.append(f"{metrics[0].name.lower()} {100 * metrics[0].value:.1f} %")
        return f"Evaluation({', '.join(parts)})"
