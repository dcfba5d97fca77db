"""Loops of the vignetting correction.

Pixels at the same distance from the centre see the same slope of ln V. They form groups of up to
eight mirror images, stored as 8 x groups; a missing image has the place of another and `present`
0. Groups are sorted by distance: the pixels of a ring are a range of groups.
"""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.elementary import exp2, log2

_ZERO, _ONE, _UNIT = np.float32(0), np.float32(1), np.uint64(1)
_LN2 = np.float32(np.log(2))
_RIDGE = 1e-8
_SOLVES = 4
_ALPHA = 0.6
_STEPS = 32768  # table entries per unit of |e|


def _squared_weights():
    """w^2 for |e| = 0 .. 5, with w = exp(-s1) (1 - exp(-s2)), s1 = |e|, s2 = alpha s1^(alpha-1)."""
    s1 = np.maximum(np.arange(5 * _STEPS) / _STEPS, 1e-12)
    s2 = _ALPHA * s1 ** (_ALPHA - 1)
    return ((np.exp(-s1) * (1 - np.exp(-s2))) ** 2).astype(np.float32)


_WEIGHTS = _squared_weights()
_SCALE, _LAST = np.float32(_STEPS), np.float32(_WEIGHTS.size - 1)


@compiled
def squared_weight(residual):
    """Return w^2 of a residual e from the table."""
    place = np.abs(residual) * _SCALE + np.float32(0.5)
    return _WEIGHTS[np.uint32(place if place < _LAST else _LAST)]  # NaN is the last one too


@compiled
def radial_derivative(gray, across, down, starts, stops):
    """Return grad(ln(Z + 1)) . r_hat of pixels that are inside the mask with their neighbours.

    `across` and `down` are d_j / (2 rho) and d_i / (2 rho).
    """
    log, out = np.empty_like(gray), np.empty_like(gray)
    for row in range(gray.shape[0]):
        for col in range(starts[row], stops[row]):
            log[row, col] = _LN2 * log2(gray[row, col] + _ONE)
    for row in range(1, gray.shape[0] - 1):
        # The first and the last pixel of a row have a neighbour outside.
        for col in range(starts[row] + _UNIT, max(stops[row], _UNIT) - _UNIT):
            out[row, col] = (log[row, col + _UNIT] - log[row, col - _UNIT]) * across[row, col] + (
                log[row + 1, col] - log[row - 1, col]
            ) * down[row, col]
    return out


@compiled
def _weigh(derivative, present, model, first, totals, moments):
    """Write the sums of w^2 and of w^2 psi over each group; w = 1 in the first solve."""
    for n in range(model.size):
        total, moment = _ZERO, _ZERO
        for image in range(8):
            weight = squared_weight(derivative[image, n] - model[n])
            weight = present[image, n] * (_ONE if first else weight)
            total += weight
            moment += weight * derivative[image, n]
        totals[n], moments[n] = total, moment


@compiled
def _solve_tridiagonal(diagonal, beside, right):
    """Solve a symmetric tridiagonal system (Thomas) in place; the solution is in `right`."""
    size = diagonal.size
    for k in range(1, size):
        factor = beside[k - 1] / diagonal[k - 1]
        diagonal[k] -= factor * beside[k - 1]
        right[k] -= factor * right[k - 1]
    right[size - 1] /= diagonal[size - 1]
    for k in range(size - 2, -1, -1):
        right[k] = (right[k] - beside[k] * right[k + 1]) / diagonal[k]


@compiled
def fit_slopes(derivative_plane, voters, present, rings, parts, penalty):
    """Return the slopes g_k of ln V at the radii k + 1/2.

    A voter at the radius k + 1/2 + part sees the slope (1 - part) g_k + part g_{k+1}; the groups
    of ring k are rings[k] to rings[k + 1] - 1.
    """
    size, groups = rings.size - 1, parts.size
    flat = derivative_plane.reshape(derivative_plane.size)
    derivative = np.empty(voters.shape, np.float32)
    for image in range(8):
        for n in range(groups):
            derivative[image, n] = flat[voters[image, n]]
    slopes = np.zeros(size)
    model = np.zeros(groups, np.float32)
    totals, moments = np.empty(groups, np.float32), np.empty(groups, np.float32)
    for solve in range(_SOLVES):
        for k in range(size - 1):
            for n in range(rings[k], rings[k + 1]):
                model[n] = slopes[k] + parts[n] * (slopes[k + 1] - slopes[k])
        _weigh(derivative, present, model, solve == 0, totals, moments)
        diagonal, beside = np.full(size, 2 * penalty + _RIDGE), np.full(size, -penalty)
        diagonal[0], diagonal[-1] = penalty + _RIDGE, penalty + _RIDGE
        right = np.zeros(size)
        for k in range(size - 1):
            sum0, sum1, sum2, value0, value1 = 0.0, 0.0, 0.0, 0.0, 0.0
            for n in range(rings[k], rings[k + 1]):
                part, weight, value = parts[n], np.float64(totals[n]), np.float64(moments[n])
                sum0 += weight
                sum1 += weight * part
                sum2 += weight * part * part
                value0 += value
                value1 += value * part
            diagonal[k] += sum0 - 2 * sum1 + sum2
            diagonal[k + 1] += sum2
            beside[k] += sum1 - sum2
            right[k] += value0 - value1
            right[k + 1] += value1
        _solve_tridiagonal(diagonal, beside, right)
        slopes[:] = right
    return slopes


@compiled
def inverse_falloff(log_falloff, firsts, beyond):
    """Return exp(-W) at sorted radii; those of [k, k + 1) are k + beyond[firsts[k]:firsts[k+1]]."""
    out = np.empty(beyond.size, np.float32)
    for k in range(log_falloff.size - 1):
        step = log_falloff[k + 1] - log_falloff[k]
        for n in range(firsts[k], firsts[k + 1]):
            out[n] = exp2(np.float32((log_falloff[k] + beyond[n] * step) * (-1 / np.log(2))))
    return out


@compiled
def divide(gray, inverse, radius_of, starts, stops):
    """Return max((Z + 1) / V - 1, 0) inside the mask."""
    out = np.empty_like(gray)
    for row in range(gray.shape[0]):
        for col in range(starts[row], stops[row]):
            corrected = (gray[row, col] + _ONE) * inverse[radius_of[row, col]] - _ONE
            out[row, col] = max(corrected, _ZERO)
    return out
