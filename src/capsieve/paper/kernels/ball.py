"""The search for the best-fit ball: as printed, and as a hemisphere."""

import numpy as np

from capsieve.compiling import compiled

_SLACK = 1e-6  # more than the rounding of a bound


@compiled
def best_radius(values, row, col, largest):
    """Return the radius R in 1..largest with the smallest misfit, the first of equals.

    With A = Nx^2, b = (R^2 - d^2) / A and sums over d < R,

        A^2 sum (b^2 - 2 u b) = R^4 sum 1 - 2 R^2 sum (d^2 + A u) + sum d^2 (d^2 + 2 A u).
    """
    area = float(values.shape[1] ** 2)
    rings = _ring_sums(values, row, col, largest)
    best, least = 1, np.inf
    count, linear, constant = 0.0, 0.0, 0.0
    for radius in range(largest + 1):
        count += rings[radius, 0]
        linear += rings[radius, 1] + area * rings[radius, 3]
        constant += rings[radius, 2] + 2.0 * area * rings[radius, 4]
        square = float(radius * radius)
        misfit = square * (square * count - 2.0 * linear) + constant
        if radius > 0 and misfit < least:
            best, least = radius, misfit
    return best


@compiled
def best_hemisphere(values, row, col, largest):
    """Return the radius R in 1..largest of the best hemisphere, the first of equals.

    With b = sqrt(R^2 - d^2) / Nx and sums over d < R,

        Nx^2 sum (b^2 - 2 u b) = R^2 sum 1 - sum d^2 - 2 Nx sum u sqrt(R^2 - d^2).

    The last sum does not follow from sums over rings, but they bound it: the square root is
    concave, so a ring adds at most (sum u) sqrt(R^2 - q), with q the mean of d^2 weighted with u.
    The sum itself is computed for the radii that may be the best by this bound, often one or two.
    """
    rings = _ring_sums(values, row, col, largest)
    area, bound = np.zeros(largest + 1), np.full(largest + 1, np.inf)
    count, inertia = 0.0, 0.0
    for radius in range(largest + 1):
        count += rings[radius, 0]
        inertia += rings[radius, 1]
        area[radius] = radius * radius * count - inertia
        overlap = 0.0
        for ring in range(radius + 1):
            mass = rings[ring, 3]
            if mass > 0:
                overlap += mass * np.sqrt(max(radius * radius - rings[ring, 4] / mass, 0.0))
        if radius > 0:
            bound[radius] = area[radius] - 2.0 * values.shape[1] * overlap
    likely = np.argmin(bound)
    reached = area[likely] - 2.0 * values.shape[1] * _overlap(values, row, col, likely)
    best, least = 1, np.inf
    for radius in range(1, largest + 1):
        if bound[radius] <= reached + _SLACK * abs(reached):
            overlap = _overlap(values, row, col, radius)
            misfit = area[radius] - 2.0 * values.shape[1] * overlap
            if misfit < least:
                best, least = radius, misfit
    return best


@compiled
def _ring_sums(values, row, col, largest):
    """Return the sums of 1, d^2, d^4, u and u d^2 over each ring k - 1 < d <= k, k = 0..largest."""
    rows, cols = values.shape
    # Two sums by turns: neighbouring pixels are often in one ring and would wait for each other.
    banks = np.zeros((2, largest + 2, 5))
    squares, rings = np.empty(cols), np.empty(cols, np.int32)
    outside = np.int32(largest + 1)
    first_row, last_row = max(0, int(np.ceil(row - largest))), min(rows - 1, int(row + largest))
    for i in range(first_row, last_row + 1):
        down = (i - row) ** 2
        reach = np.sqrt(max(largest * largest - down, 0.0))
        first, last = max(0, int(np.ceil(col - reach))), min(cols - 1, int(col + reach))
        line = values[i, first : last + 1]
        for n in range(line.size):
            square = down + (first + n - col) ** 2
            squares[n] = square
            rings[n] = min(np.int32(np.ceil(np.sqrt(square))), outside)
        for n in range(line.size):
            square, value = squares[n], float(line[n])
            sums = banks[np.uint32(n & 1), np.uint32(rings[n])]
            sums[0] += 1.0
            sums[1] += square
            sums[2] += square * square
            sums[3] += value
            sums[4] += value * square
    return banks[0] + banks[1]


@compiled
def _overlap(values, row, col, radius):
    """Return sum u sqrt(R^2 - d^2) over d < R."""
    rows, cols = values.shape
    total = 0.0
    for i in range(max(0, int(np.ceil(row - radius))), min(rows - 1, int(row + radius)) + 1):
        left = radius * radius - (i - row) ** 2
        reach = np.sqrt(max(left, 0.0))
        for j in range(max(0, int(np.ceil(col - reach))), min(cols - 1, int(col + reach)) + 1):
            total += values[i, j] * np.sqrt(max(left - (j - col) ** 2, 0.0))
    return total
