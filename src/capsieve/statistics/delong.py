"""Variance of an AUC and of a difference of two: DeLong, and Obuchowski for clusters.

Each positive X has the structural component V10(X), the share of negatives below it, and each
negative Y has V01(Y), the share of positives above it, ties counted half. Their means are the
area A. DeLong treats frames as independent. Obuchowski sums the components of each cluster
(patient) first, and accounts for positives and negatives of one cluster:

    S10[r, s] = I10 / ((I10 - 1) m) sum_i (V10_r(X_i.) - m_i A_r) (V10_s(X_i.) - m_i A_s)
    S01[r, s] = I01 / ((I01 - 1) n) sum_i (V01_r(Y_i.) - n_i A_r) (V01_s(Y_i.) - n_i A_s)
    S11[r, s] = I   / (I - 1)       sum_i (V10_r(X_i.) - m_i A_r) (V01_s(Y_i.) - n_i A_s)
    cov(A_r, A_s) = S10[r, s] / m + S01[r, s] / n + (S11[r, s] + S11[s, r]) / (m n)

with m positives and n negatives in all, m_i and n_i of them in cluster i, I clusters, I10 of which
have a positive and I01 a negative. Clusters of a single frame give DeLong's formula.

References
----------
E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, Biometrics 44 (1988) 837-845.
N. A. Obuchowski, Biometrics 53 (1997) 567-578.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from capsieve.errors import ParameterError
from capsieve.frame_table import Floats, Integers, Mask
from capsieve.statistics.intervals import FEWEST_GROUPS, few_units, normal_quantile
from capsieve.statistics.results import Interval


@dataclass(frozen=True, slots=True)
class AucEstimate:
    """An AUC, or a difference of two, with its standard error; NaN if they are not defined.

    `units` clusters have the rarer class; `kind` is what they are, such as "patient", and "" if
    frames are treated as independent.
    """

    value: float
    standard_error: float
    units: int
    kind: str = ""

    @property
    def z(self) -> float:
        """The value in standard errors; NaN if it is not defined."""
        if self.value == 0 and self.standard_error == 0:
            return 0.0
        return self.value / self.standard_error if self.standard_error > 0 else math.nan

    @property
    def p(self) -> float:
        """Two-sided p value of the hypothesis that the true value is 0."""
        return math.erfc(abs(self.z) / math.sqrt(2))

    def interval(self, *, least: float = -1.0) -> Interval:
        """Return value -+ z standard errors within `least` and 1, or why there is no interval."""
        method = "DeLong, clustered after Obuchowski" if self.kind else "DeLong"
        why = few_units(self.units, self.kind) if self.kind else "treats frames as independent"
        if self.kind and self.units < FEWEST_GROUPS:
            return Interval(method, None, None, why, self.units)
        if not self.standard_error > 0:
            why = "the standard error is 0 or not defined"
            return Interval(method, None, None, why, self.units)
        reach = normal_quantile() * self.standard_error
        low, high = max(self.value - reach, least), min(self.value + reach, 1.0)
        return Interval(method, low, high, why, self.units)


class PairedAuc(NamedTuple):
    """Two AUCs on the same frames, their difference (first minus second) and covariance."""

    first: AucEstimate
    second: AucEstimate
    difference: AucEstimate
    covariance: Floats


def delong(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    truth: ArrayLike,
    group: ArrayLike | None = None,
    *,
    kind: str = "patient",
) -> PairedAuc:
    """Compare the AUCs of two scores of the same frames.

    Scores are without NaN; rejected frames are -inf. `truth` is true for positives. `group` is the
    cluster of each frame, None if frames are independent; `kind` is what the clusters are.
    """
    positive = np.asarray(truth).ravel().astype(np.bool_)
    scores = [_checked(each, positive) for each in (scores_a, scores_b)]
    if group is None:  # every frame is a cluster
        group, kind = np.arange(len(positive)), ""
    _, cluster = np.unique(np.ravel(group), return_inverse=True)
    if len(cluster) != len(positive):
        raise ParameterError("group", "must have one value per frame")
    of_positive, of_negative = cluster[positive], cluster[~positive]
    clusters = int(cluster.max(initial=-1)) + 1
    units = min(len(np.unique(of_positive)), len(np.unique(of_negative)))
    areas = np.full(2, np.nan)
    # Sums per cluster of V10 - A and V01 - A, one row per score.
    v10_sums, v01_sums = np.zeros((2, clusters)), np.zeros((2, clusters))
    if units:
        for row, score in enumerate(scores):
            v10, v01 = _components(score[positive], score[~positive])
            areas[row] = v10.mean()
            v10_sums[row] = np.bincount(of_positive, v10 - areas[row], minlength=clusters)
            v01_sums[row] = np.bincount(of_negative, v01 - areas[row], minlength=clusters)
    covariance = _covariance(v10_sums, v01_sums, of_positive, of_negative)
    # Of the differences themselves: nothing cancels if both scores are nearly equal.
    contrast = np.array([[1.0, -1.0]])
    of_difference = _covariance(contrast @ v10_sums, contrast @ v01_sums, of_positive, of_negative)

    def estimate(value: float, variance: float) -> AucEstimate:
        # Rounding may leave a variance of 0 a little below it.
        error = math.nan if math.isnan(variance) else math.sqrt(max(variance, 0.0))
        return AucEstimate(float(value), error, units, kind)

    return PairedAuc(
        estimate(areas[0], covariance[0, 0]),
        estimate(areas[1], covariance[1, 1]),
        estimate(areas[0] - areas[1], of_difference.item()),
        covariance,
    )


def delong_auc(
    scores: ArrayLike, truth: ArrayLike, group: ArrayLike | None = None, *, kind: str = "patient"
) -> AucEstimate:
    """Return the AUC of one score with its standard error; see :func:`delong`."""
    return delong(scores, scores, truth, group, kind=kind).first


def _covariance(
    v10_sums: Floats,
    v01_sums: Floats,
    of_positive: Integers,
    of_negative: Integers,
) -> Floats:
    """Return the covariance from sums per cluster; NaN if a class has fewer than two clusters."""
    m, n, clusters = len(of_positive), len(of_negative), v10_sums.shape[1]
    with_positive, with_negative = len(np.unique(of_positive)), len(np.unique(of_negative))
    if min(with_positive, with_negative) < 2:
        return np.full((len(v10_sums), len(v10_sums)), np.nan)
    s10 = with_positive / ((with_positive - 1) * m) * (v10_sums @ v10_sums.T)
    s01 = with_negative / ((with_negative - 1) * n) * (v01_sums @ v01_sums.T)
    s11 = clusters / (clusters - 1) * (v10_sums @ v01_sums.T)
    return s10 / m + s01 / n + (s11 + s11.T) / (m * n)


def _components(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Return V10 of each positive and V01 of each negative in O(N log N)."""
    up, down = np.sort(positives), np.sort(negatives)
    below = np.searchsorted(down, positives, "left") + np.searchsorted(down, positives, "right")
    above = np.searchsorted(up, negatives, "left") + np.searchsorted(up, negatives, "right")
    return below / (2 * len(down)), 1 - above / (2 * len(up))


def _checked(scores: ArrayLike, positive: Mask) -> Floats:
    array = np.asarray(scores, np.float64).ravel()
    if len(array) != len(positive):
        raise ParameterError(
            "scores", f"must have one value per frame, not {len(array)} for {len(positive)}"
        )
    if np.isnan(array).any():
        raise ParameterError("scores", "must not be NaN; leave out frames without a score")
    return array
