"""The search for the best-fit ball."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["best_radius"]


@compiled
def best_radius(values, row, col, largest):
    """Return the radius 1..largest of least misfit, the first of equals."""
    rows, cols = values.shape
    # Two banks by turns: neighbours are often in one ring, and would wait for each other's sum.
    banks = np.zeros((2, largest + 2, 5))
    squares_of = np.empty(cols)
    rings = np.empty(cols, np.int32)
    outside = np.int32(largest + 1)
    first_row, last_row = max(0, int(np.ceil(row - largest))), min(rows - 1, int(row + largest))
    for i in range(first_row, last_row + 1):
        down = (i - row) ** 2
        reach = np.sqrt(max(largest * largest - down, 0.0))
        first, last = max(0, int(np.ceil(col - reach))), min(cols - 1, int(col + reach))
        count = last - first + 1
        line = values[i, first : last + 1]
        for n in range(count):
            square = down + (first + n - col) ** 2
            squares_of[n] = square
            rings[n] = min(np.int32(np.ceil(np.sqrt(square))), outside)
        for n in range(count):
            value, square = np.float64(line[n]), squares_of[n]
            total = banks[np.uint32(n & 1), np.uint32(rings[n])]
            total[0] += 1.0
            total[1] += square
            total[2] += square * square
            total[3] += value
            total[4] += value * square
    sums = banks[0] + banks[1]
    best, least = 1, np.inf
    area = float(cols * cols)
    ones, squares, fourths = sums[0, 0], sums[0, 1], sums[0, 2]
    mass, moment = sums[0, 3], sums[0, 4]
    for radius in range(1, largest + 1):
        ones += sums[radius, 0]
        squares += sums[radius, 1]
        fourths += sums[radius, 2]
        mass += sums[radius, 3]
        moment += sums[radius, 4]
        top = float(radius * radius)
        ball = (top * top * ones - 2.0 * top * squares + fourths) / (area * area)
        misfit = ball - 2.0 * (top * mass - moment) / area
        if misfit < least:
            best, least = radius, misfit
    return best
