"""The search for the best-fit ball."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["best_radius"]


@compiled
def best_radius(values, row, col, largest):
    """Return the radius R in 1..largest with the smallest misfit, the first of equals.

    With A = Nx^2, b = (R^2 - d^2) / A and sums over d < R,

        A^2 sum (b^2 - 2 u b) = R^4 sum 1 - 2 R^2 sum (d^2 + A u) + sum d^2 (d^2 + 2 A u).

    Each pixel is visited once: the three sums are collected for each ring k - 1 < d <= k.
    """
    rows, cols = values.shape
    area = float(cols * cols)
    # Two sums by turns: neighbouring pixels are often in one ring and would wait for each other.
    banks = np.zeros((2, largest + 2, 3))
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
            square, mass = squares[n], area * line[n]
            sums = banks[np.uint32(n & 1), np.uint32(rings[n])]
            sums[0] += 1.0
            sums[1] += square + mass
            sums[2] += square * (square + 2.0 * mass)
    best, least = 1, np.inf
    count, linear, constant = 0.0, 0.0, 0.0
    for radius in range(largest + 1):
        count += banks[0, radius, 0] + banks[1, radius, 0]
        linear += banks[0, radius, 1] + banks[1, radius, 1]
        constant += banks[0, radius, 2] + banks[1, radius, 2]
        square = float(radius * radius)
        misfit = square * (square * count - 2.0 * linear) + constant
        if radius > 0 and misfit < least:
            best, least = radius, misfit
    return best
