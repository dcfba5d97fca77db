"""Connected components and their moments, from the runs of each row."""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.elementary import largest

_SIZE, _ROW, _COL, _ROW_ROW, _ROW_COL, _COL_COL, _BALL_ROW, _BALL_COL = range(8)


@compiled
def component_moments(values, theta):
    """Return a row per 8-connected component of values >= theta, numbered column by column.

    Its entries are the size, the centre (row, column), the central second moments (row-row,
    row-column, column-column) and the centre weighted with the values (row, column).
    """
    runs = _find_runs(values, theta)
    numbers = _number(runs, _join(runs), values.shape[0])
    total = 0
    for run in range(len(runs)):
        total = max(total, numbers[run] + 1)
    table, weights = np.zeros((total, 8)), np.zeros(total)
    for run in range(len(runs)):
        row, start, stop = runs[run]
        sums, line = table[numbers[run]], values[row]
        weight, weighted = 0.0, 0.0
        for col in range(start, stop):
            weight += line[col]
            weighted += line[col] * col
        length = stop - start
        sums[_SIZE] += length
        sums[_ROW] += length * row
        sums[_COL] += 0.5 * length * (start + stop - 1)
        sums[_BALL_ROW] += weight * row
        sums[_BALL_COL] += weighted
        weights[numbers[run]] += weight
    for k in range(total):
        sums = table[k]
        sums[_ROW] /= sums[_SIZE]
        sums[_COL] /= sums[_SIZE]
        sums[_BALL_ROW] /= weights[k]
        sums[_BALL_COL] /= weights[k]
    # A second pass about the centres: differences of large sums would lose digits.
    for run in range(len(runs)):
        row, start, stop = runs[run]
        sums, length = table[numbers[run]], stop - start
        down, across = row - sums[_ROW], 0.5 * (start + stop - 1) - sums[_COL]
        sums[_ROW_ROW] += length * down * down
        sums[_ROW_COL] += length * down * across
        sums[_COL_COL] += length * across * across + length * (length * length - 1.0) / 12.0
    return table


@compiled
def _find_edges(line, theta, edges):
    """Write the columns at which runs of values >= theta start or stop; return their number."""
    count, inside = 0, False
    for col in range(line.size):
        edges[count] = col  # overwritten unless something changes here: no branch to mispredict
        now = line[col] >= theta
        count += now != inside
        inside = now
    edges[count] = line.size
    return count + inside


@compiled
def _find_runs(values, theta):
    """Return (row, start, stop) of every run of values >= theta."""
    runs, count = np.empty((256, 3), np.int64), 0
    edges = np.empty(values.shape[1] + 2, np.int64)
    for row in range(values.shape[0]):
        if largest(values[row]) < theta:  # most rows have none
            continue
        new_runs = _find_edges(values[row], theta, edges) // 2
        if count + new_runs > len(runs):
            longer = np.empty((2 * (count + new_runs), 3), np.int64)
            longer[:count] = runs[:count]
            runs = longer
        for run in range(new_runs):
            runs[count, 0] = row
            runs[count, 1] = edges[2 * run]
            runs[count, 2] = edges[2 * run + 1]
            count += 1
    return runs[:count]


@compiled
def _root(parents, run):
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = parents[run]
    return run


@compiled
def _join(runs):
    """Return the root of every run: runs of neighbouring rows that touch, diagonally too."""
    parents = np.arange(len(runs))
    previous = 0  # the first run of the row above that may still touch
    for run in range(len(runs)):
        row, start, stop = runs[run]
        while previous < run and (
            runs[previous, 0] < row - 1
            or (runs[previous, 0] == row - 1 and runs[previous, 2] < start)
        ):
            previous += 1
        other = previous
        while other < run and runs[other, 0] == row - 1 and runs[other, 1] <= stop:
            if runs[other, 2] >= start:
                a, b = _root(parents, other), _root(parents, run)
                parents[max(a, b)] = min(a, b)
            other += 1
    for run in range(len(runs)):
        parents[run] = _root(parents, run)
    return parents


@compiled
def _number(runs, parents, rows):
    """Return the component of every run, from 0, in the order of first pixels by column."""
    firsts = np.full(len(runs), np.iinfo(np.int64).max)
    for run in range(len(runs)):
        place = runs[run, 1] * rows + runs[run, 0]
        firsts[parents[run]] = min(firsts[parents[run]], place)
    numbers = np.empty(len(runs), np.int64)
    # Runs that are not a root have no first pixel and get the last numbers, which are not used.
    numbers[np.argsort(firsts)] = np.arange(len(runs))
    return numbers[parents]
