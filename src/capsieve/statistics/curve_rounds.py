"""Receiver operating characteristics of bootstrap rounds: areas, bands, sensitivities.

Per unit (patient or polyp) only two things are needed: how many of its positives and negatives lie
at or above each threshold, and the Mann-Whitney sums U[i, j] between the positives of unit i and
the negatives of unit j. A round that draws unit i w_i times has

    TPR(t) = sum_i w_i p_i(t) / sum_i w_i p_i,    AUC = sum_ij w_i U_ij w_j / (P N)

so that no round looks at a frame again.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.errors import ParameterError
from capsieve.statistics.areas import MOST, mean_rate
from capsieve.statistics.bootstrap import ROUNDS, SEED, draws, plural, resampled_interval
from capsieve.statistics.curves import Band
from capsieve.statistics.flags import positive_scores, rejected_to_zero
from capsieve.statistics.metric import LEVEL, Interval

__all__ = ["CurveRounds", "curve_band", "curve_rounds", "pair_sums", "threshold_grid"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_THRESHOLDS = 2000
_BLOCK = 128  # rounds at a time: a block of curves is then about 2 MB per array
_CELLS = 4_000_000  # of a table of counts made at a time


@dataclass(frozen=True, slots=True, eq=False)
class CurveRounds:
    """What every bootstrap round says about a curve.

    Two calls with the same units, rounds and seed draw the same rounds, so that the values of two
    detectors on the same frames may be subtracted round by round.

    Attributes
    ----------
    kind
        What was drawn: "patient", "polyp", ...
    units
        How many of them hold a positive and a negative, the smaller of both; only positives count
        where the negatives were not drawn again.
    area, partial_area
        One value per round; NaN where a class is empty in it.
    false_positive_rate
        The grid of `true_positive_rate`.
    true_positive_rate
        Rounds x grid; on the straight line between two points of the curve, held after its end.
    specificities, sensitivity
        Rounds x specificities: the highest sensitivity that a threshold has at each.
    """

    kind: str
    units: int
    area: Floats
    partial_area: Floats
    false_positive_rate: Floats
    true_positive_rate: Floats
    specificities: tuple[float, ...]
    sensitivity: Floats

    @property
    def left_out(self) -> int:
        """In how many rounds a class is empty."""
        return int(np.count_nonzero(np.isnan(self.area)))

    def interval(self, samples: Floats, *, level: float = LEVEL, caution: str = "") -> Interval:
        """Return the interval of one of the arrays of rounds, or of a difference of two."""
        return resampled_interval(
            samples, kind=self.kind, units=self.units, level=level, caution=caution
        )


def curve_rounds(
    positives: ArrayLike,
    negatives: ArrayLike,
    *,
    positive_units: ArrayLike,
    negative_units: ArrayLike | None,
    kind: str,
    most: float = MOST,
    grid: Floats | None = None,
    specificities: tuple[float, ...] = (0.9,),
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> CurveRounds:
    """Draw units again and return the area, the curve and more of every round.

    Areas are exact. The rest looks at no more than 2,000 thresholds, and is exact where there are
    no more distinct scores (:func:`threshold_grid`).

    Parameters
    ----------
    positives, negatives
        Scores of polyp frames or best scores of polyps, and of normal frames. NaN counts as
        missed among positives and is left out among negatives.
    positive_units, negative_units
        The code of the unit that each belongs to. Without those of the negatives (None), normal
        frames stay as they are in every round: so are polyps drawn.
    kind
        What the units are: "patient", "polyp", ...
    most
        False positive rate up to which the partial area reaches.
    grid
        False positive rates at which curves are kept; 201 from 0 to 1 unless given.
    specificities
        At which the sensitivity is kept.
    rounds, seed
        As for :func:`~capsieve.statistics.bootstrap.draws`.
    """
    found = positive_scores(positives)
    raw = np.asarray(negatives, dtype=np.float64).ravel()
    of_found = np.ravel(positive_units)
    of_false = np.zeros(len(raw)) if negative_units is None else np.ravel(negative_units)
    if len(of_found) != len(found):
        raise ParameterError("positive_units", "one unit per positive is needed")
    if len(of_false) != len(raw):
        raise ParameterError("negative_units", "one unit per negative is needed")
    # An unscored normal frame is left out, but its unit is still one to draw from.
    scored = ~np.isnan(raw)
    false = rejected_to_zero(raw[scored])
    if negative_units is None:
        units, found_unit = np.unique(of_found, return_inverse=True)
        false_unit = np.zeros(len(false), dtype=np.int64)
    else:
        units, code = np.unique(np.concatenate([of_found, of_false]), return_inverse=True)
        found_unit, false_unit = code[: len(found)], code[len(found) :][scored]

    weights = draws(len(units), rounds=rounds, seed=seed)
    # Units without a positive have no row among the positives; likewise for negatives.
    with_positive, found_row = np.unique(found_unit, return_inverse=True)
    with_negative, false_row = np.unique(false_unit, return_inverse=True)
    of_positive = weights[:, with_positive]
    of_negative = weights[:, with_negative] if negative_units is not None else None

    thresholds = threshold_grid(found, false, most=most)
    true_counts = _counts_at_least(found, found_row, len(with_positive), thresholds)
    false_counts = _counts_at_least(false, false_row, len(with_negative), thresholds)
    sums = pair_sums(found, found_row, false, false_row)

    rates = np.linspace(0, 1, 201) if grid is None else np.asarray(grid, dtype=np.float64)
    area, partial = np.full(rounds, np.nan), np.full(rounds, np.nan)
    curve = np.full((rounds, len(rates)), np.nan)
    sensitivity = np.full((rounds, len(specificities)), np.nan)
    for start in range(0, rounds, _BLOCK):
        block = slice(start, min(start + _BLOCK, rounds))
        w = of_positive[block]
        v = np.ones((len(w), len(with_negative))) if of_negative is None else of_negative[block]
        true, false_ = w @ true_counts, v @ false_counts
        # The last column counts all, at whatever score.
        good = np.flatnonzero((true[:, -1] > 0) & (false_[:, -1] > 0))
        if not len(good):
            continue
        here = start + good
        true, false_, w, v = true[good], false_[good], w[good], v[good]
        every, none = true[:, -1:], false_[:, -1:]
        area[here] = ((w @ sums) * v).sum(axis=1) / (every * none)[:, 0]
        tpr, fpr = true[:, :-1] / every, false_[:, :-1] / none
        partial[here] = mean_rate(fpr, tpr, most)
        curve[here] = [np.interp(rates, x, y) for x, y in zip(fpr, tpr, strict=True)]
        for column, specificity in enumerate(specificities):
            # A share of whole numbers: half a frame's tolerance undoes what 1 - 0.9 loses.
            allowed = (1 - specificity) * none + 1e-6
            last = np.count_nonzero(false_[:, :-1] <= allowed, axis=1) - 1
            sensitivity[here, column] = tpr[np.arange(len(good)), last]
    held = len(with_positive)
    return CurveRounds(
        kind=kind,
        units=held if negative_units is None else min(held, len(with_negative)),
        area=area,
        partial_area=partial,
        false_positive_rate=rates,
        true_positive_rate=curve,
        specificities=specificities,
        sensitivity=sensitivity,
    )


def curve_band(rounds: CurveRounds, *, end: float = 1.0, level: float = LEVEL) -> Band:
    """Return the pointwise band of a curve; an empty one, with the reason, where units are few.

    Parameters
    ----------
    rounds
        Of the curve.
    end
        The false positive rate at which the curve itself ends: the band ends there too.
    level
        Of the interval at each false positive rate.
    """
    middle = rounds.interval(rounds.area, level=level)
    x = rounds.false_positive_rate[rounds.false_positive_rate <= end]
    method = f"bootstrap over {plural(rounds.kind)}, at each false positive rate"
    if middle.low is None:
        empty = np.empty(0)
        return Band(empty, empty, empty, method, rounds.units, middle.why)
    heights = rounds.true_positive_rate[~np.isnan(rounds.area), : len(x)]
    low, high = np.quantile(heights, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Band(x, low, high, method, rounds.units, middle.why)


def threshold_grid(positives: Floats, negatives: Floats, *, most: float = MOST) -> Floats:
    """Return the thresholds at which rounds are counted, falling from infinity.

    All distinct positive scores where there are no more than 2,000. Otherwise quantiles: half of
    them where the false positive rate is at most `most`, the rest over both classes.
    """
    false = np.sort(negatives[negatives > 0])[::-1]
    found = np.sort(positives[positives > 0])[::-1]
    distinct = np.unique(np.concatenate([false, found]))
    if len(distinct) > _THRESHOLDS:
        strict = false[: max(1, int(np.ceil(most * len(negatives))))]
        quarter = _THRESHOLDS // 4
        lowest = distinct[:1]
        picked = [
            _spread(strict, 2 * quarter),
            _spread(found, quarter),
            _spread(false, quarter - 1),
        ]
        distinct = np.unique(np.concatenate([lowest, *picked]))
    return np.concatenate([[np.inf], distinct[::-1]])


def pair_sums(
    positives: Floats, positive_row: Codes, negatives: Floats, negative_row: Codes
) -> Floats:
    """Return U[i, j]: pairs of a positive of i above a negative of j, ties counted half."""
    rows = int(positive_row.max()) + 1 if len(positive_row) else 0
    cols = int(negative_row.max()) + 1 if len(negative_row) else 0
    sums = np.zeros((rows, cols))
    if not rows or not cols:
        return sums
    levels, rank = np.unique(positives, return_inverse=True)
    order = np.argsort(positive_row, kind="stable")
    rank, starts = rank[order], np.searchsorted(positive_row[order], np.arange(rows))
    # A negative between two levels is below the upper one; at a level it is half below it.
    lower = np.searchsorted(levels, negatives, side="left")
    upper = np.searchsorted(levels, negatives, side="right")
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


def _spread(falling: Floats, count: int) -> Floats:
    """Return about so many of the scores, evenly by rank, both ends included."""
    if len(falling) <= count:
        return falling
    return falling[np.linspace(0, len(falling) - 1, count).round().astype(np.int64)]


def _counts_at_least(scores: Floats, row: Codes, rows: int, thresholds: Floats) -> Floats:
    """Return per row how many scores each threshold flags, and in a last column how many are.

    `thresholds` fall from infinity; rejected frames are below them all.
    """
    rising = thresholds[:0:-1]
    passed = np.searchsorted(rising, scores, side="right")  # 0: flagged by none
    width = len(rising) + 1
    cells = np.bincount(row * width + (len(rising) - passed), minlength=rows * width)
    counts = np.cumsum(cells.reshape(rows, width), axis=1, dtype=np.float64)
    return np.concatenate([np.zeros((rows, 1)), counts], axis=1)
