"""Intervals of shares, and metrics that carry them."""

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from capsieve.errors import ParameterError
from capsieve.statistics.metric import LEVEL, Interval, Metric

__all__ = [
    "FRAMES_NOT_INDEPENDENT",
    "least_count",
    "normal_quantile",
    "percentile_interval",
    "share_metric",
    "wilson",
    "wilson_interval",
]

FRAMES_NOT_INDEPENDENT = (
    "treats frames as independent, which frames of one exam are not: too narrow"
)


def normal_quantile(level: float) -> float:
    """Return how many standard errors a two-sided interval of this level reaches: 1.96 for 0.95."""
    if not 0 < level < 1:
        raise ParameterError("level", f"{level} is not a level; give a number between 0 and 1")
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(k: int, n: int, level: float = LEVEL) -> tuple[float, float] | None:
    """Return Wilson's score interval of the share k / n.

    The bounds are the two shares p at which k / n lies z standard errors sqrt(p (1 - p) / n) away:

        (k + z^2 / 2 -+ z sqrt(k (n - k) / n + z^2 / 4)) / (n + z^2)

    Parameters
    ----------
    k, n
        How many of how many.
    level
        Of the interval.

    Returns
    -------
    tuple or None
        Both bounds; None without a single case.

    References
    ----------
    E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209-212.
    """
    if n == 0:
        return None
    if not 0 <= k <= n:
        raise ParameterError("k", f"{k} of {n} is no share; give a count from 0 to {n}")
    z = normal_quantile(level)
    centre = k + z * z / 2
    reach = z * math.sqrt(k * (n - k) / n + z * z / 4)
    # At the ends one bound is exact; rounding must not push it past its share.
    low = 0.0 if k == 0 else max(0.0, (centre - reach) / (n + z * z))
    high = 1.0 if k == n else min(1.0, (centre + reach) / (n + z * z))
    return low, high


def percentile_interval(samples: ArrayLike, level: float = LEVEL) -> tuple[float, float] | None:
    """Return the percentiles of bootstrap rounds that hold the level between them.

    Rounds that are NaN are left out; None where nothing is left.
    """
    values = np.asarray(samples, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if not len(values):
        return None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def least_count(share: float, n: int) -> int:
    """Return the smallest k with k / n >= share, for the share as it is written.

    In floating point, 0.07 * 100 is 7.000000000000001, and one frame too many would be asked for.
    """
    if not 0 <= share <= 1:
        raise ParameterError("share", f"{share} is no share; give a number from 0 to 1")
    return math.ceil(Fraction(repr(float(share))) * n)


def wilson_interval(k: int, n: int, *, level: float = LEVEL, why: str = "") -> Interval:
    """Return Wilson's interval as it stands in a metric."""
    bounds = wilson(k, n, level)
    if bounds is None:
        return Interval("Wilson", None, None, "there is nothing to count", units=0)
    return Interval("Wilson", *bounds, why, units=n)


def share_metric(
    key: str,
    name: str,
    definition: str,
    *,
    numerator: int,
    denominator: int,
    resampled: Sequence[Interval] = (),
    independent: str = "",
    note: str = "",
    empty: str = "there is nothing to count",
    level: float = LEVEL,
) -> Metric:
    """Return the metric of a proportion, with Wilson's interval and those of a bootstrap.

    The bootstrap stands first, also where it declines to give bounds: Wilson's interval must not
    step in for it unseen.

    Parameters
    ----------
    key, name, definition, note
        See :class:`~capsieve.statistics.metric.Metric`.
    numerator, denominator
        How many of how many.
    resampled
        Intervals of a bootstrap, the one to quote first.
    independent
        What Wilson's interval wrongly takes for granted, such as
        :data:`FRAMES_NOT_INDEPENDENT`; or "".
    empty
        Why there is no value where the denominator is 0.
    level
        Of Wilson's interval.
    """
    if denominator == 0:
        text = f"No value: {empty}."
        return Metric(
            key, name, None, definition, "share", 0, 0, (), f"{text} {note}" if note else text
        )
    proper = wilson_interval(numerator, denominator, level=level, why=independent)
    return Metric(
        key,
        name,
        numerator / denominator,
        definition,
        "share",
        numerator,
        denominator,
        (*resampled, proper),
        note,
    )
