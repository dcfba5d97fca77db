"""Areas under curves and their paired difference by formula: DeLong, and Obuchowski for clusters.

Each positive X has the structural component V10(X), the share of negatives below it, and each
negative Y has V01(Y), the share of positives above it, ties counted half. Their means are the area
A. DeLong takes frames as independent. Obuchowski sums the components of each cluster (patient)
first, and lets positives and negatives of one cluster go together:

    S10[r, s] = I10 / ((I10 - 1) m) sum_i (V10_r(X_i.) - m_i A_r) (V10_s(X_i.) - m_i A_s)
    S01[r, s] = I01 / ((I01 - 1) n) sum_i (V01_r(Y_i.) - n_i A_r) (V01_s(Y_i.) - n_i A_s)
    S11[r, s] = I   / (I - 1)       sum_i (V10_r(X_i.) - m_i A_r) (V01_s(Y_i.) - n_i A_s)
    cov(A_r, A_s) = S10[r, s] / m + S01[r, s] / n + (S11[r, s] + S11[s, r]) / (m n)

with m positives and n negatives in all, m_i and n_i of them in cluster i, I clusters, I10 of which
hold a positive and I01 a negative. Clusters of a single frame give DeLong's formula.

References
----------
E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, Biometrics 44 (1988) 837-845.
N. A. Obuchowski, Biometrics 53 (1997) 567-578.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.errors import ParameterError
from capsieve.statistics.bootstrap import FEWEST_GROUPS, few_units
from capsieve.statistics.intervals import FRAMES_NOT_INDEPENDENT, normal_quantile
from capsieve.statistics.metric import LEVEL, Interval

__all__ = ["AreaEstimate", "PairedAreas", "clustered", "clustered_area", "delong", "delong_area"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AreaEstimate:
    """An area, or a difference of two, with its standard error.

    Attributes
    ----------
    value
        NaN where a class is empty.
    standard_error
        NaN where a class has fewer than two frames, or clusters.
    units
        How many clusters (or frames) hold the rarer class.
    kind
        What the clusters are, such as "patient"; "" where frames are taken as independent.
    """

    value: float
    standard_error: float
    units: int
    kind: str = ""

    @property
    def z(self) -> float:
        """The value in standard errors; NaN where that means nothing."""
        if self.value == 0 and self.standard_error == 0:
            return 0.0
        return self.value / self.standard_error if self.standard_error > 0 else math.nan

    @property
    def p(self) -> float:
        """The two-sided p value of the hypothesis that the true value is 0."""
        return math.erfc(abs(self.z) / math.sqrt(2))

    def interval(self, *, level: float = LEVEL) -> Interval:
        """Return value -+ z standard errors, or why that would not be honest."""
        method = "DeLong, clustered after Obuchowski" if self.kind else "DeLong"
        few = few_units(self.units, self.kind) if self.kind else FRAMES_NOT_INDEPENDENT
        if self.kind and self.units < FEWEST_GROUPS:
            return Interval(method, None, None, few, self.units)
        if not self.standard_error > 0:
            why = "the standard error is not defined, or 0"
            return Interval(method, None, None, why, self.units)
        reach = normal_quantile(level) * self.standard_error
        return Interval(method, self.value - reach, self.value + reach, few, self.units)


@dataclass(frozen=True, slots=True, eq=False)
class PairedAreas:
    """Two areas on the same frames.

    Attributes
    ----------
    areas
        Of the first and the second.
    covariance
        Of both, 2 x 2.
    first, second, difference
        With their standard errors; the difference is the first minus the second.
    """

    areas: Floats
    covariance: Floats
    first: AreaEstimate
    second: AreaEstimate
    difference: AreaEstimate


def delong(scores_a: ArrayLike, scores_b: ArrayLike, truth: ArrayLike) -> PairedAreas:
    """Compare the areas of two scores of the same frames, taken as independent.

    Parameters
    ----------
    scores_a, scores_b
        Without NaN, rejected frames at 0 (see :mod:`capsieve.statistics.flags`).
    truth
        True for positives.
    """
    scores, positive = _checked([scores_a, scores_b], truth)
    # Every frame a cluster of its own: one formula for both.
    return _paired(scores, positive, np.arange(len(positive)), kind="")


def clustered(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    truth: ArrayLike,
    groups: ArrayLike,
    *,
    kind: str = "patient",
) -> PairedAreas:
    """Compare the areas of two scores of the same frames, which come in clusters.

    Parameters
    ----------
    scores_a, scores_b, truth
        As for :func:`delong`.
    groups
        The code of each frame's cluster.
    kind
        What the clusters are, for people.
    """
    scores, positive = _checked([scores_a, scores_b], truth)
    return _paired(scores, positive, _codes(groups, positive), kind=kind)


def delong_area(scores: ArrayLike, truth: ArrayLike) -> AreaEstimate:
    """Return the area of one score, frames taken as independent; see :func:`delong`."""
    return delong(scores, scores, truth).first


def clustered_area(
    scores: ArrayLike, truth: ArrayLike, groups: ArrayLike, *, kind: str = "patient"
) -> AreaEstimate:
    """Return the area of one score of frames that come in clusters; see :func:`clustered`."""
    return clustered(scores, scores, truth, groups, kind=kind).first


def _paired(
    scores: list[Floats], positive: NDArray[np.bool_], cluster: NDArray[np.int64], *, kind: str
) -> PairedAreas:
    of_positive, of_negative = cluster[positive], cluster[~positive]
    clusters = int(cluster.max()) + 1 if len(cluster) else 0
    units = min(len(np.unique(of_positive)), len(np.unique(of_negative)))
    areas = np.full(2, np.nan)
    # Sums per cluster of V10 - A and V01 - A, one row per score.
    rising, falling = np.zeros((2, clusters)), np.zeros((2, clusters))
    if units:
        for row, score in enumerate(scores):
            v10, v01 = _components(score[positive], score[~positive])
            areas[row] = v10.mean()
            rising[row] = np.bincount(of_positive, v10 - areas[row], minlength=clusters)
            falling[row] = np.bincount(of_negative, v01 - areas[row], minlength=clusters)

    def spread(rising: Floats, falling: Floats) -> Floats:
        return _covariance(rising, falling, of_positive, of_negative)

    covariance = spread(rising, falling)
    # Of the differences themselves: nothing cancels where both scores are nearly alike.
    contrast = np.array([[1.0, -1.0]])
    variance = spread(contrast @ rising, contrast @ falling).item()

    def estimate(value: float, variance: float) -> AreaEstimate:
        # Rounding may leave a variance of 0 a little below it.
        error = math.sqrt(max(variance, 0.0)) if not math.isnan(variance) else math.nan
        return AreaEstimate(float(value), error, units, kind)

    return PairedAreas(
        areas=areas,
        covariance=covariance,
        first=estimate(areas[0], covariance[0, 0]),
        second=estimate(areas[1], covariance[1, 1]),
        difference=estimate(areas[0] - areas[1], variance),
    )


def _covariance(
    rising: Floats,
    falling: Floats,
    of_positive: NDArray[np.int64],
    of_negative: NDArray[np.int64],
) -> Floats:
    """Return the covariance from the sums per cluster; NaN where a class has a single cluster."""
    m, n, clusters = len(of_positive), len(of_negative), rising.shape[1]
    with_positive, with_negative = len(np.unique(of_positive)), len(np.unique(of_negative))
    if min(with_positive, with_negative) < 2:  # one cluster does not tell how clusters differ
        return np.full((len(rising), len(rising)), np.nan)
    s10 = with_positive / ((with_positive - 1) * m) * (rising @ rising.T)
    s01 = with_negative / ((with_negative - 1) * n) * (falling @ falling.T)
    s11 = clusters / (clusters - 1) * (rising @ falling.T)
    return s10 / m + s01 / n + (s11 + s11.T) / (m * n)


def _components(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Return V10 of each positive and V01 of each negative in O(N log N)."""
    up, down = np.sort(positives), np.sort(negatives)
    below = np.searchsorted(down, positives, "left") + np.searchsorted(down, positives, "right")
    above = np.searchsorted(up, negatives, "left") + np.searchsorted(up, negatives, "right")
    return below / (2 * len(down)), 1 - above / (2 * len(up))


def _checked(scores: list[ArrayLike], truth: ArrayLike) -> tuple[list[Floats], NDArray[np.bool_]]:
    positive = np.asarray(truth).ravel().astype(np.bool_)
    arrays = [np.asarray(each, dtype=np.float64).ravel() for each in scores]
    for array in arrays:
        if len(array) != len(positive):
            raise ParameterError(
                "scores", f"{len(array)} scores for {len(positive)} frames; give one for each"
            )
        if np.isnan(array).any():
            raise ParameterError(
                "scores", "frames that were not scored have no rank; leave them out of both"
            )
    return arrays, positive


def _codes(groups: ArrayLike, positive: NDArray[np.bool_]) -> NDArray[np.int64]:
    codes = np.unique(np.ravel(groups), return_inverse=True)[1]
    if len(codes) != len(positive):
        raise ParameterError("groups", "one group per frame is needed")
    return codes
