"""Intervals of proportions and means, with a bootstrap over whole groups.

Frames of one exam resemble each other, so single frames are never drawn. A bootstrap sample draws
as many groups (patients) as there are, with replacement; a group that is drawn twice counts twice
with all its frames. Counts per group times a matrix of how often each group was drawn give the
counts of all samples at once, exactly.

With few groups the percentiles of the samples are too narrow. Measured coverage of 95 % intervals
(specificity, 8,000 simulated studies of unequal patients each;
``pytest -m soak -s tests/statistics/test_intervals.py``):

    patients      5     10     20     30     50
    coverage   79 %   87 %   90 %   92 %   93 %

Below :data:`FEWEST_GROUPS` there is no interval, and below :data:`FEW_GROUPS` it has a caution.

References
----------
E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212.
A. C. Davison and D. V. Hinkley, Bootstrap Methods and their Application, Cambridge (1997), 3.8.
"""

import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.errors import ParameterError
from capsieve.frame_table import Coded, Floats, Integers, LabelledFrames, Mask
from capsieve.plurals import plural
from capsieve.statistics.frames import dense_units, exam_units
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.results import LEVEL, Interval, Metric, define, make_metric

FEWEST_GROUPS = 10
"""With fewer groups that have the class in question there is no interval."""

FEW_GROUPS = 30
"""With fewer groups the interval has a caution."""

_FRAMES = "treats frames as independent, which frames of one exam are not: too narrow"
_EQUAL = 1e-12  # rounding: samples that differ by less are the same value


def normal_quantile(level: float = LEVEL) -> float:
    """Return the half-width of a two-sided interval in standard errors: 1.96 for 0.95."""
    if not 0 < level < 1:
        raise ParameterError("level", f"must be between 0 and 1, not {level}")
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(k: int, n: int, level: float = LEVEL) -> tuple[float, float] | None:
    """Return Wilson's score interval of the proportion k / n.

    The bounds are the two proportions p from which k / n is z standard errors sqrt(p (1 - p) / n)
    away:

        (k + z^2 / 2 -+ z sqrt(k (n - k) / n + z^2 / 4)) / (n + z^2)

    None if n is 0.
    """
    if not 0 <= k <= n:
        raise ParameterError("k", f"must be a count from 0 to {n}, not {k}")
    if n == 0:
        return None
    z = normal_quantile(level)
    centre = k + z * z / 2
    reach = z * math.sqrt(k * (n - k) / n + z * z / 4)
    # At the ends one bound is exact; rounding must not push it past the proportion.
    low = 0.0 if k == 0 else max(0.0, (centre - reach) / (n + z * z))
    high = 1.0 if k == n else min(1.0, (centre + reach) / (n + z * z))
    return low, high


def least_count(share: float, n: int) -> int:
    """Return the smallest k with k / n >= share, for the share with its decimals.

    In floating point, 0.07 * 100 is 7.000000000000001, which would require one frame too many.
    """
    if not 0 <= share <= 1:
        raise ParameterError("share", f"must be from 0 to 1, not {share}")
    return math.ceil(Fraction(repr(float(share))) * n)


def few_units(units: int, kind: str) -> str:
    """Return what so few units mean for an interval, or "" if they are enough.

    Blocks always get a caution, because several may be of one patient: intervals over 30 blocks,
    ten of each of three patients, contain the true specificity in 3 of 10 simulated studies.
    """
    noun = kind if units == 1 else plural(kind)
    if units < FEWEST_GROUPS:
        count = "no" if units == 0 else f"only {units}"
        return f"{count} {noun}, at least {FEWEST_GROUPS} are needed"
    few = f"based on {units} {noun}, which is few: somewhat too narrow"
    blocks = "treats blocks as independent: much too narrow if several are of one patient"
    cautions = [few if units < FEW_GROUPS else "", blocks if "block" in kind.split(" or ") else ""]
    return "; ".join(filter(None, cautions))


@lru_cache(maxsize=2)
def draws(units: int, *, samples: int, seed: int) -> Floats:
    """Return how often each unit is drawn in each bootstrap sample: samples x units, read-only.

    The draws depend on the arguments alone, so two detectors are drawn alike, sample by sample.
    """
    if samples < 1:
        raise ParameterError("samples", f"must be at least 1, not {samples}")
    drawn = np.empty((samples, units))
    generator = np.random.default_rng(seed)
    for start in range(0, samples, 256):  # in blocks, to limit memory with thousands of units
        block = min(256, samples - start)
        drawn_units = generator.integers(0, max(units, 1), size=(block, units))
        drawn_units += units * np.arange(block)[:, None]
        counts = np.bincount(drawn_units.ravel(), minlength=block * units)
        drawn[start : start + block] = counts.reshape(block, units)
    drawn.flags.writeable = False
    return drawn


def percentile_interval(samples: ArrayLike, level: float = LEVEL) -> tuple[float, float] | None:
    """Return the central percentiles of bootstrap samples without NaN; None if none is left."""
    values = np.asarray(samples, np.float64).ravel()
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled_interval(samples: ArrayLike, *, kind: str, units: int) -> Interval:
    """Return the percentile interval of bootstrap samples, or why there is none.

    A sample is NaN if a class was empty in it. `kind` is the word for the drawn units, of which
    `units` have the class in question.
    """
    method = f"bootstrap over {plural(kind)}"
    values = np.asarray(samples, np.float64).ravel()
    why = few_units(units, kind)
    if units < FEWEST_GROUPS:
        return Interval(method, None, None, why, units)
    bounds = percentile_interval(values)
    if bounds is None:
        return Interval(method, None, None, "a class is empty in every sample", units)
    if np.nanmax(values) - np.nanmin(values) <= _EQUAL:
        return Interval(method, None, None, "every sample gives the same value", units)
    empty = int(np.count_nonzero(np.isnan(values)))
    if empty:
        left_out = f"{empty:,} of {len(values):,} samples left out: a class is empty in them"
        why = "; ".join(filter(None, [why, left_out]))
    return Interval(method, *bounds, why, units)


def ratio_interval(
    numerator: ArrayLike, denominator: ArrayLike, *, kind: str, options: EvaluationOptions
) -> Interval:
    """Return the bootstrap interval of a ratio of sums over units.

    Numerator and denominator are counts per unit, for instance flagged and all normal frames of
    each patient. All units are drawn from; those with a denominator of 0 do not count as units that
    the interval is based on.
    """
    above, below = np.asarray(numerator, np.float64), np.asarray(denominator, np.float64)
    units = int(np.count_nonzero(below))
    if units < FEWEST_GROUPS:
        return resampled_interval([], kind=kind, units=units)
    drawn = draws(len(below), samples=options.bootstrap_samples, seed=options.seed)
    sums = drawn @ np.stack([above, below], axis=1)
    filled = np.where(sums[:, 1] > 0, sums[:, 1], np.nan)
    return resampled_interval(sums[:, 0] / filled, kind=kind, units=units)


def proportion(
    key: str,
    *,
    hit: Mask,
    among: Mask,
    frames: LabelledFrames,
    options: EvaluationOptions,
    subset: str = "all",
    note: str = "",
    group: NDArray[np.integer] | None = None,
) -> Metric:
    """Return a proportion with its bootstrap interval over groups and Wilson's interval.

    The bootstrap interval is first even if it has no bounds, because Wilson's must not be quoted in
    its place without the reason.

    Parameters
    ----------
    key, subset, note
        See :class:`~capsieve.statistics.results.Metric`.
    hit, among
        Masks: the share of `among` that is a `hit`.
    frames, options
        All groups of the frames are drawn from.
    group
        The masks are over frames; if this is given, over polyps with these codes of groups.
    """
    k, n = int(np.count_nonzero(hit & among)), int(np.count_nonzero(among))
    fields = {"numerator": k, "denominator": n, "subset": subset}
    if n == 0:
        empty = f"No value: there are no {define(key, frames, options).among}."
        note = f"{empty} {note}".strip()
        return make_metric(key, None, frames, options, note=note, **fields)
    over_groups = ratio_interval(
        group_counts(frames, hit & among, group),
        group_counts(frames, among, group),
        kind=frames.group_kind,
        options=options,
    )
    polyps = f"treats {frames.polyp_word}s of one patient as independent"
    independent = _FRAMES if group is None else polyps
    by_formula = Interval("Wilson", *(wilson(k, n) or (None, None)), independent, n)
    intervals = (over_groups, by_formula)
    return make_metric(key, k / n, frames, options, intervals=intervals, note=note, **fields)


def group_counts(
    frames: LabelledFrames, mask: Mask, group: NDArray[np.integer] | None = None
) -> Integers:
    """Count a mask as in :func:`proportion` per group, in the order of the groups' first frames."""
    unit, units, first = dense_units(frames.group.code)
    if group is not None:
        names = frames.group.code[first]
        order = np.argsort(names)
        unit = order[np.searchsorted(names, group, sorter=order)]
    return np.bincount(unit[mask], minlength=units)


def mean_per_exam(
    key: str,
    *,
    counted: Mask,
    frames: LabelledFrames,
    options: EvaluationOptions,
    subset: str = "all",
    note: str = "",
    among: Mask | None = None,
) -> Metric:
    """Return the mean number of counted frames per exam, with its bootstrap interval.

    For exams see :func:`~capsieve.statistics.frames.exam_units`. Exams of one patient are drawn
    together; an exam that is cut into several groups is drawn by itself.

    `counted` is a mask over all frames of the exams; for events, one frame of each. With `among`,
    the value is the share of these frames in all exams. The rest is as for :func:`proportion`.
    """
    exams = exam_units(frames)
    size = len(exams.names)
    total = int(np.count_nonzero(counted))
    below = size if among is None else int(np.count_nonzero(among))
    fields = {"numerator": total, "denominator": below, "subset": subset}
    if not below:
        return make_metric(key, None, frames, options, note=_NO_EXAM, **fields)
    drawn, kind = drawn_with(frames, exams)
    lost = int(np.count_nonzero((counted if among is None else counted | among) & (exams.code < 0)))
    if lost:
        why = f"the exam of {lost:,} frames is not known"
        interval = Interval(f"bootstrap over {plural(kind)}", None, None, why, size)
    else:
        counts = np.bincount(exams.code[counted], minlength=size)
        every = np.ones(size) if among is None else np.bincount(exams.code[among], minlength=size)
        interval = ratio_interval(
            np.bincount(drawn, counts), np.bincount(drawn, every), kind=kind, options=options
        )
    return make_metric(
        key, total / below, frames, options, intervals=(interval,), note=note, **fields
    )


_NO_EXAM = "No value: the labels name neither exam nor patient of some frames."


def drawn_with(frames: LabelledFrames, exams: Coded) -> tuple[Integers, str]:
    """Return for each exam the code of the group it is drawn with, and the word for that."""
    exam, count = exams.code.astype(np.int64), len(exams.names)
    if not count:
        return np.zeros(0, np.int64), "exam"
    has_label = np.zeros(count, np.bool_)
    has_label[exam[frames.labelled & (exam >= 0)]] = True
    # Groups come from the labels; frames without a label count if their exam has none at all.
    chosen = np.flatnonzero((exam >= 0) & (frames.labelled | ~has_label[exam]))
    group, groups, _ = dense_units(frames.group.code[chosen])
    pairs = np.unique(exam[chosen] * max(groups, 1) + group)
    if len(pairs) != count:
        return np.arange(count), "exam"
    return dense_units(pairs % max(groups, 1))[0], frames.group_kind
