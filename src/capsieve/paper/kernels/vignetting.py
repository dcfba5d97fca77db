"""Loops of the vignetting correction. Voters come in rings, so that their sums are runs."""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.elementary import exp2, log2

__all__ = ["divide_falloff", "fit_falloff", "radial_derivative", "square_weights"]


_ALPHA = np.float32(0.6)
_PER_E = np.float32(-1.0 / np.log(2.0))  # e^-x = 2^(_PER_E x)
_LN2 = np.float32(np.log(2.0))


@compiled
def radial_derivative(
    gray, row_offsets, col_offsets, half_inverse, starts, stops, places, logarithm, plane, out
):
    """Write grad(ln(Z + 1)) . r_hat of every voter, in the order of `places`.

    `half_inverse` is 1 / (2 rho). The derivative is computed row by row, where it runs in vectors,
    and only then brought into the order of the rings.
    """
    rows, cols = gray.shape
    one = np.float32(1.0)
    for row in range(rows):  # a voter's neighbours lie in the mask as well
        start, stop = starts[row], stops[row]
        values, result = gray[row, start:stop], logarithm[row, start:stop]
        for n in range(stop - start):
            result[n] = _LN2 * log2(values[n] + one)
    for row in range(1, rows - 1):
        # The mask's own ends have a neighbour outside: they do not vote.
        start, stop = starts[row] + 1, stops[row] - 1
        if start >= stop:
            continue
        left, right = logarithm[row, start - 1 : stop - 1], logarithm[row, start + 1 : stop + 1]
        up, down = logarithm[row - 1, start:stop], logarithm[row + 1, start:stop]
        inverse, across = half_inverse[row, start:stop], col_offsets[start:stop]
        below = row_offsets[row]
        result = plane[row, start:stop]
        for n in range(stop - start):
            slope = (right[n] - left[n]) * across[n] + (down[n] - up[n]) * below
            result[n] = slope * inverse[n]
    flat = plane.reshape(rows * cols)
    for voter in range(places.size):
        out[voter] = flat[places[voter]]


@compiled
def square_weights(residuals):
    """Turn residuals e into w^2 with w = exp(-s1) (1 - exp(-s2)), in place.

    s1 = |e|, s2 = alpha s1^(alpha - 1); w(0) = 1. A loop of its own: inside a larger function the
    compiler would not put it into vectors.
    """
    for voter in range(residuals.size):
        first = max(np.abs(residuals[voter]), np.float32(1e-12))
        second = _ALPHA * exp2((_ALPHA - np.float32(1.0)) * log2(first))
        weight = exp2(_PER_E * first) * (np.float32(1.0) - exp2(_PER_E * second))
        residuals[voter] = weight * weight


@compiled
def _residuals(derivative, fractions, ring_starts, slopes, out):
    """Write psi_Z - psi_V of every voter."""
    for ring in range(slopes.size - 1):
        first, last = ring_starts[ring], ring_starts[ring + 1]
        values, parts, result = (
            derivative[first:last],
            fractions[first:last],
            out[first:last],
        )
        start = np.float32(slopes[ring])
        rise = np.float32(slopes[ring + 1] - slopes[ring])
        for n in range(last - first):
            result[n] = values[n] - start - parts[n] * rise


@compiled
def _solve_tridiagonal(diagonal, beside, right):
    """Solve a symmetric tridiagonal system in place (Thomas); the answer is in `right`."""
    size = diagonal.size
    for k in range(1, size):
        factor = beside[k - 1] / diagonal[k - 1]
        diagonal[k] -= factor * beside[k - 1]
        right[k] -= factor * right[k - 1]
    right[size - 1] /= diagonal[size - 1]
    for k in range(size - 2, -1, -1):
        right[k] = (right[k] - beside[k] * right[k + 1]) / diagonal[k]


@compiled
def _add_penalty(diagonal, beside, penalty, ridge):
    size = diagonal.size
    for k in range(size - 1):
        diagonal[k] += penalty
        diagonal[k + 1] += penalty
        beside[k] -= penalty
    for k in range(size):
        diagonal[k] += ridge


@compiled
def fit_falloff(
    derivative,
    fractions,
    ring_starts,
    first_diagonal,
    first_beside,
    penalty,
    ridge,
    solves,
    weights,
):
    """Return W at whole radii, W_0 = 0.

    A voter at radius k + 1/2 + t sees the slope (1 - t) g_k + t g_{k+1}. The first solve has all
    weights 1, so that its matrix depends on the mask alone.
    """
    size = first_diagonal.size
    slopes = np.zeros(size)
    diagonal, beside = np.empty(size), np.empty(size - 1)
    for solve in range(solves):
        right = np.zeros(size)
        if solve == 0:
            diagonal[:] = first_diagonal
            beside[:] = first_beside
        else:
            diagonal[:] = 0.0
            beside[:] = 0.0
            _residuals(derivative, fractions, ring_starts, slopes, weights)
            square_weights(weights)
        for ring in range(size - 1):
            first, last = ring_starts[ring], ring_starts[ring + 1]
            count = last - first
            values, parts, squares = (
                derivative[first:last],
                fractions[first:last],
                weights[first:last],
            )
            value_sum, value_part = np.float32(0.0), np.float32(0.0)
            if solve == 0:
                for n in range(count):
                    value_sum += values[n]
                    value_part += values[n] * parts[n]
            else:
                total, part_sum = np.float32(0.0), np.float32(0.0)
                part_square = np.float32(0.0)
                for n in range(count):
                    weighted = squares[n] * parts[n]
                    total += squares[n]
                    part_sum += weighted
                    part_square += weighted * parts[n]
                    value_sum += squares[n] * values[n]
                    value_part += weighted * values[n]
                diagonal[ring] += total - 2.0 * part_sum + part_square
                diagonal[ring + 1] += part_square
                beside[ring] += part_sum - part_square
            right[ring] += value_sum - value_part
            right[ring + 1] += value_part
        _add_penalty(diagonal, beside, penalty, ridge)
        _solve_tridiagonal(diagonal, beside, right)
        slopes[:] = right
    falloff = np.zeros(size + 1)
    for k in range(size):
        falloff[k + 1] = falloff[k] + slopes[k]
    return falloff


@compiled
def divide_falloff(
    gray, falloff, starts, stops, side_rows, col_sides, side_radii, reaches, line, out
):
    """Write max((Z + 1) / exp(W) - 1, 0) inside the mask.

    W depends on |d_i| and |d_j| only: `side_rows` are the one or two rows of each |d_i|, -1 for
    none, and `col_sides` is the place of each column's |d_j| among the sorted ones. Between whole
    radii W is linear, so that its exponential is that of the radius below times a short series.
    """
    cols = gray.shape[1]
    zero, one = np.float32(0.0), np.float32(1.0)
    starting = np.exp(-falloff).astype(np.float32)
    steps = np.empty(falloff.size, np.float32)
    steps[falloff.size - 1] = 0.0
    for k in range(falloff.size - 1):
        steps[k] = falloff[k] - falloff[k + 1]
    factors = np.empty(cols, np.float32)
    for side in range(side_radii.shape[0]):
        radii = side_radii[side]
        for other in range(reaches[side]):
            ring = np.uint32(radii[other])
            x = (radii[other] - np.float32(ring)) * steps[ring]
            series = one + x * np.float32(1.0 / 5.0)
            series = one + x * np.float32(1.0 / 4.0) * series
            series = one + x * np.float32(1.0 / 3.0) * series
            series = one + x * np.float32(1.0 / 2.0) * series
            factors[other] = starting[ring] * (one + x * series)
        row = side_rows[side, 0]
        start, stop = starts[row], stops[row]
        for col in range(start, stop):
            line[col] = factors[col_sides[col]]
        spread = line[start:stop]
        for mirrored in range(2):
            row = side_rows[side, mirrored]
            if row >= 0:
                values, result = gray[row, start:stop], out[row, start:stop]
                for n in range(stop - start):
                    result[n] = max((values[n] + one) * spread[n] - one, zero)
