"""ROC curves per frame and per polyp: areas, sensitivity at a specificity, bootstrap bands.

For the bootstrap two things are needed per group (patient): how many of its positives and negatives
are at or above each threshold, and the Mann-Whitney sums U[i, j] between the positives of group i
and the negatives of group j. A sample that draws group i w_i times has

    TPR(t) = sum_i w_i p_i(t) / sum_i w_i p_i,    AUC = sum_ij w_i U_ij w_j / (P N)

so no sample looks at a frame again.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.frame_table import Floats, Integers, LabelledFrames
from capsieve.statistics.delong import delong_auc
from capsieve.statistics.frames import dense_units, polyp_scores
from capsieve.statistics.intervals import FEWEST_GROUPS, draws, least_count, resampled_interval
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.results import LEVEL, Interval, Metric, RocCurve, make_metric

_GRID = np.linspace(0, 1, 201)  # false positive rates of the band
_THRESHOLDS = 2000
_STRICT = 0.2  # false positive rates with half of the thresholds: more frames are not read
_BLOCK = 128  # samples at a time: a block of curves is then about 2 MB per array
_CELLS = 4_000_000  # of a table of counts that is made at a time


@dataclass(frozen=True, slots=True, eq=False)
class RocSamples:
    """What bootstrap samples give; arrays are empty if there are too few groups.

    Two results with the same groups, number of samples and seed have the same draws, so their
    values may be subtracted sample by sample. The arrays with the names of metrics have one value
    per sample, NaN if a class is empty; `curves` has the interpolated sensitivity at 201 false
    positive rates from 0 to 1, constant after the end of the curve. `units` of the drawn `kind`
    have the rarer class.
    """

    kind: str
    units: int
    auc: Floats
    sensitivity_at_target: Floats
    curves: Floats

    def interval(self, samples: Floats) -> Interval:
        """Return the interval of one of the arrays, or of a difference of two."""
        return resampled_interval(samples, kind=self.kind, units=self.units)


class RocResult(NamedTuple):
    """A curve (None if a class is empty), its metrics, and its bootstrap samples."""

    curve: RocCurve | None
    metrics: tuple[Metric, ...]
    samples: RocSamples


def roc_curve(positive: ArrayLike, negative: ArrayLike, *, unit: str = "frame") -> RocCurve:
    """Return true against false positive rate at every distinct score.

    Both are shares of scores that are at least the threshold, as in the paper. If frames were
    rejected before they were scored (-inf), the curve ends before (1, 1). A positive without a
    score (NaN) counts as missed, a negative is left out. The rates of an empty class are NaN.
    """
    positives, false = np.sort(_positive(positive)), np.sort(_negative(negative))
    distinct = np.unique(np.concatenate([positives, false]))[::-1]
    distinct = distinct[distinct > -np.inf]
    return RocCurve(
        thresholds=np.concatenate([[np.inf], distinct]),
        false_positive_rate=_share_at_least(false, distinct),
        true_positive_rate=_share_at_least(positives, distinct),
        positives=len(positives),
        negatives=len(false),
        unit=unit,
    )


def auc(positive: ArrayLike, negative: ArrayLike) -> float | None:
    """Return the chance that a positive scores higher than a negative, ties counted half.

    That is the area under the curve with a straight line from its end to (1, 1).

    None if a class is empty. Scores are as for :func:`roc_curve`.
    """
    return _area(roc_curve(positive, negative))


def sensitivity_at_specificity(curve: RocCurve, specificity: float) -> tuple[float, float] | None:
    """Return the highest sensitivity that a threshold reaches at this specificity or more.

    With it comes the highest threshold that has it, infinite if only flagging nothing is specific
    enough. None if a class is empty.
    """
    if not curve.positives or not curve.negatives:
        return None
    allowed = curve.negatives - least_count(specificity, curve.negatives)
    flagged = np.rint(curve.false_positive_rate * curve.negatives)
    last = int(np.searchsorted(flagged, allowed, side="right")) - 1
    best = float(curve.true_positive_rate[last])
    first = int(np.searchsorted(curve.true_positive_rate, best, side="left"))
    return best, float(curve.thresholds[first])


def frame_roc(
    frames: LabelledFrames, options: EvaluationOptions, *, subset: str = "all"
) -> RocResult:
    """Return the curve per frame: polyp frames against normal frames."""
    shown = np.flatnonzero(frames.polyp_frames)
    score, group = _positive(frames.score[shown]), frames.group.code[shown]
    return _roc("frames", frames, shown, score, group, options, subset)


def polyp_roc(
    frames: LabelledFrames, options: EvaluationOptions, *, subset: str = "all"
) -> RocResult:
    """Return the curve per polyp: the best frame of every named polyp against normal frames."""
    polyps = polyp_scores(frames)
    return _roc("polyps", frames, polyps.shown, polyps.score, polyps.group, options, subset)


def _roc(
    key: str,
    frames: LabelledFrames,
    shown: Integers,
    positive: Floats,
    group: NDArray[np.integer],
    options: EvaluationOptions,
    subset: str,
) -> RocResult:
    """Return curve and metrics of positives, their groups, and the frames that show them."""
    per_frame, word, kind = key == "frames", frames.polyp_word, frames.group_kind
    normal = frames.normal_frames
    negative = frames.score[normal]
    curve = roc_curve(positive, negative, unit="frame" if per_frame else word)
    used = normal.copy()
    used[shown] = True
    code = frames.group.code[used]
    dense, units, _ = dense_units(code)
    number = np.zeros(int(code.max(initial=-1)) + 2, np.int64)
    number[code + 1] = dense
    positive_unit, negative_unit = number[group + 1], number[frames.group.code[normal] + 1]
    samples = _bootstrap(positive, negative, positive_unit, negative_unit, units, kind, options)
    classes = {"polyp frame" if per_frame else f"named {word}": curve.positives}
    classes |= {"scored normal frame": curve.negatives}
    empty = next((f"No value: there is no {name}." for name, n in classes.items() if not n), "")
    formula = delong_auc(
        np.concatenate([positive, negative]),
        np.repeat([True, False], [len(positive), len(negative)]),
        np.concatenate([positive_unit, negative_unit]),
        kind=kind,
    ).interval(least=0.0)
    best = sensitivity_at_specificity(curve, options.target)
    value, hits = None, {}
    if best is not None:
        value, count = best[0], curve.positives
        hits = {"numerator": round(value * count), "denominator": count}
    rows = {
        "auc": (_area(curve), samples.auc, (formula,), {}),
        "sensitivity_at_target": (value, samples.sensitivity_at_target, (), hits),
    }
    metrics = tuple(
        make_metric(
            f"{key}.{name}",
            value,
            frames,
            options,
            intervals=() if empty else (samples.interval(values), *others),
            note=empty,
            subset=subset,
            **counts,
        )
        for name, (value, values, others, counts) in rows.items()
    )
    if not empty and samples.interval(samples.auc).low is not None:
        curve = _with_band(curve, samples)
    return RocResult(None if empty else curve, metrics, samples)


def _with_band(curve: RocCurve, samples: RocSamples) -> RocCurve:
    grid = curve.false_positive_rate[-1] >= _GRID
    heights = samples.curves[~np.isnan(samples.auc)][:, grid]
    low, high = np.quantile(heights, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return replace(curve, band_rate=_GRID[grid], band_low=low, band_high=high)


def _bootstrap(
    positive: Floats,
    negative: Floats,
    positive_unit: Integers,
    negative_unit: Integers,
    units: int,
    kind: str,
    options: EvaluationOptions,
) -> RocSamples:
    """Draw units (numbered from 0) and return areas, curves and sensitivities of all samples.

    Areas are exact. The rest is exact if there are at most 2,000 distinct scores.
    """
    # Units without a positive have no row among the positives; likewise for negatives.
    with_positive, positive_row = np.unique(positive_unit, return_inverse=True)
    with_negative, negative_row = np.unique(negative_unit, return_inverse=True)
    held = min(len(with_positive), len(with_negative))
    if held < FEWEST_GROUPS:
        none = np.empty(0)
        return RocSamples(kind, held, none, none, np.empty((0, len(_GRID))))
    weights = draws(units, samples=options.bootstrap_samples, seed=options.seed)
    thresholds = _thresholds(positive, negative)
    true_counts = _counts_at_least(positive, positive_row, len(with_positive), thresholds)
    false_counts = _counts_at_least(negative, negative_row, len(with_negative), thresholds)
    sums = _pair_sums(positive, positive_row, negative, negative_row)
    area, sensitivity = np.full((2, len(weights)), np.nan)
    curves = np.full((len(weights), len(_GRID)), np.nan)
    for start in range(0, len(weights), _BLOCK):
        drawn = weights[start : start + _BLOCK]
        w, v = drawn[:, with_positive], drawn[:, with_negative]
        true, false = w @ true_counts, v @ false_counts
        # The last column counts everything, at any score.
        good = np.flatnonzero((true[:, -1] > 0) & (false[:, -1] > 0))
        here = start + good
        true, false, w, v = true[good], false[good], w[good], v[good]
        positives, negatives = true[:, -1:], false[:, -1:]
        area[here] = ((w @ sums) * v).sum(axis=1) / (positives * negatives)[:, 0]
        tpr, fpr = true[:, :-1] / positives, false[:, :-1] / negatives
        for row, x, y in zip(here, fpr, tpr, strict=True):
            curves[row] = np.interp(_GRID, x, y)
        # A share of whole numbers; the tolerance undoes the rounding of 1 - 0.9.
        allowed = (1 - options.target) * negatives + 1e-6
        last = np.count_nonzero(false[:, :-1] <= allowed, axis=1) - 1
        sensitivity[here] = tpr[np.arange(len(good)), last]
    return RocSamples(kind, held, area, sensitivity, curves)


def _area(curve: RocCurve) -> float | None:
    """Return the area under the curve and the line from its end to (1, 1)."""
    if not curve.positives or not curve.negatives:
        return None
    false, true = (np.append(r, 1.0) for r in (curve.false_positive_rate, curve.true_positive_rate))
    return float(np.trapezoid(true, false))


def _thresholds(positive: Floats, negative: Floats) -> Floats:
    """Return the thresholds at which samples are counted, falling from infinity.

    All distinct scores if there are at most 2,000. Otherwise quantiles: half of them at low
    false positive rates, the rest over both classes.
    """
    false = np.sort(negative[negative > -np.inf])[::-1]
    true = np.sort(positive[positive > -np.inf])[::-1]
    distinct = np.unique(np.concatenate([false, true]))
    if len(distinct) > _THRESHOLDS:
        strict = false[: max(1, int(np.ceil(_STRICT * len(negative))))]
        quarter = _THRESHOLDS // 4
        picked = [
            scores[np.linspace(0, len(scores) - 1, min(count, len(scores))).round().astype(int)]
            for scores, count in ((strict, 2 * quarter), (true, quarter), (false, quarter - 1))
        ]
        distinct = np.unique(np.concatenate([distinct[:1], *picked]))
    return np.concatenate([[np.inf], distinct[::-1]])


def _counts_at_least(scores: Floats, row: Integers, rows: int, thresholds: Floats) -> Floats:
    """Return per row the number of scores that each threshold flags; in a last column, all.

    `thresholds` fall from infinity.
    """
    rising = thresholds[:0:-1]
    passed = np.searchsorted(rising, scores, side="right")  # 0: flagged by none
    width = len(rising) + 1
    cells = np.bincount(row * width + (len(rising) - passed), minlength=rows * width)
    counts = np.cumsum(cells.reshape(rows, width), axis=1, dtype=np.float64)
    return np.concatenate([np.zeros((rows, 1)), counts], axis=1)


def _pair_sums(
    positive: Floats, positive_row: Integers, negative: Floats, negative_row: Integers
) -> Floats:
    """Return U[i, j]: pairs of a positive of i above a negative of j, ties counted half."""
    rows, cols = int(positive_row.max()) + 1, int(negative_row.max()) + 1
    sums = np.zeros((rows, cols))
    levels, rank = np.unique(positive, return_inverse=True)
    order = np.argsort(positive_row, kind="stable")
    rank, starts = rank[order], np.searchsorted(positive_row[order], np.arange(rows))
    # A negative between two levels is below the upper one; at a level it is half below it.
    lower = np.searchsorted(levels, negative, side="left")
    upper = np.searchsorted(levels, negative, side="right")
    width = len(levels) + 1
    per_block = max(1, _CELLS // width)
    by_col = np.argsort(negative_row, kind="stable")
    bounds = np.searchsorted(negative_row[by_col], np.arange(cols + 1))
    for first in range(0, cols, per_block):
        last = min(first + per_block, cols)
        chosen = by_col[bounds[first] : bounds[last]]
        base = (negative_row[chosen] - first) * width
        size = (last - first) * width
        halves = np.bincount(base + lower[chosen], minlength=size)
        halves += np.bincount(base + upper[chosen], minlength=size)
        below = np.cumsum(halves.reshape(last - first, width), axis=1) / 2
        for col in range(last - first):
            sums[:, first + col] = np.add.reduceat(below[col, rank], starts)
    return sums


def _positive(scores: ArrayLike) -> Floats:
    """Return scores of positives as they count: what was not scored is missed."""
    values = np.asarray(scores, np.float64).ravel()
    return np.where(np.isnan(values), -np.inf, values)


def _negative(scores: ArrayLike) -> Floats:
    """Return scores of negatives as they count: what was not scored is left out."""
    values = np.asarray(scores, np.float64).ravel()
    return values[~np.isnan(values)]


def _share_at_least(scores: Floats, thresholds: Floats) -> Floats:
    """Return the share of sorted scores at or above infinity and each threshold."""
    if not len(scores):
        return np.full(len(thresholds) + 1, np.nan)
    above = len(scores) - np.searchsorted(scores, thresholds, side="left")
    return np.concatenate([[0.0], above / len(scores)])
