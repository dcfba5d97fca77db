"""Connected components and their moments in one pass over the runs of each row."""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.elementary import largest

__all__ = ["COLUMNS", "components"]

SIZE, ROW, COL, ROW_ROW, ROW_COL, COL_COL, BALL_ROW, BALL_COL = range(8)
COLUMNS = 8
"""Columns of the table that :func:`components` returns, in the order of the names above."""


@compiled
def _root(parents, run):
    while parents[run] != run:
        parents[run] = parents[parents[run]]
        run = parents[run]
    return run


@compiled
def _find_edges(line, theta, edges):
    """Write the columns where a row enters or leaves values >= theta; return how many there are."""
    count = 0
    inside = False
    for col in range(line.size):
        edges[count] = col  # kept only if something changes here: no branch to mispredict
        now = line[col] >= theta
        count += now != inside
        inside = now
    edges[count] = line.size
    return count + inside


@compiled
def _find_runs(values, theta):
    """Return (row, start, stop) of every run of values >= theta."""
    rows, cols = values.shape
    runs = np.empty((256, 3), np.int64)
    edges = np.empty(cols + 2, np.int64)
    count = 0
    for row in range(rows):
        if largest(values[row]) < theta:  # most rows hold nothing
            continue
        found = _find_edges(values[row], theta, edges) // 2
        if count + found > len(runs):
            longer = np.empty((2 * (count + found), 3), np.int64)
            longer[:count] = runs[:count]
            runs = longer
        for run in range(found):
            runs[count, 0] = row
            runs[count, 1] = edges[2 * run]
            runs[count, 2] = edges[2 * run + 1]
            count += 1
    return runs[:count]


@compiled
def _join(runs):
    """Return the root of every run: runs of neighbouring rows that touch, diagonals included."""
    count = len(runs)
    parents = np.arange(count)
    previous = 0  # the first run of the row above that may still touch
    for run in range(count):
        row, start, stop = runs[run, 0], runs[run, 1], runs[run, 2]
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
    for run in range(count):
        parents[run] = _root(parents, run)
    return parents


@compiled
def _number(runs, parents, rows):
    """Return the number of every run's component: by its first pixel, column by column."""
    count = len(runs)
    firsts = np.full(count, np.iinfo(np.int64).max)
    for run in range(count):
        place = runs[run, 1] * rows + runs[run, 0]
        firsts[parents[run]] = min(firsts[parents[run]], place)
    order = np.argsort(firsts)
    numbers = np.zeros(count, np.int64)
    for rank in range(count):
        if firsts[order[rank]] == np.iinfo(np.int64).max:
            break
        numbers[order[rank]] = rank + 1
    return numbers[parents]


@compiled
def components(values, theta, labels):
    """Label values >= theta and return a row of moments per component.

    The second moments are central. The ball's centre is weighted with the values. `labels` is
    written where a component lies, and must be zero elsewhere; a plane of size 0 is left alone.
    """
    rows = values.shape[0]
    runs = _find_runs(values, theta)
    count = len(runs)
    numbers = _number(runs, _join(runs), rows)
    total = 0
    for run in range(count):
        total = max(total, numbers[run])
    table = np.zeros((total, COLUMNS))
    weights = np.zeros(total)
    for run in range(count):
        row, start, stop = runs[run, 0], runs[run, 1], runs[run, 2]
        sums = table[numbers[run] - 1]
        line = values[row]
        weight, weighted = 0.0, 0.0
        for col in range(start, stop):
            weight += line[col]
            weighted += line[col] * col
        length = stop - start
        sums[SIZE] += length
        sums[ROW] += length * row
        sums[COL] += 0.5 * length * (start + stop - 1)
        sums[BALL_ROW] += weight * row
        sums[BALL_COL] += weighted
        weights[numbers[run] - 1] += weight
        if labels.size:
            for col in range(start, stop):
                labels[row, col] = numbers[run]
    for k in range(total):
        sums = table[k]
        sums[ROW] /= sums[SIZE]
        sums[COL] /= sums[SIZE]
        sums[BALL_ROW] /= weights[k]
        sums[BALL_COL] /= weights[k]
    # A second pass about the centres: differences of large sums would lose digits.
    for run in range(count):
        sums = table[numbers[run] - 1]
        length = runs[run, 2] - runs[run, 1]
        down = runs[run, 0] - sums[ROW]
        across = 0.5 * (runs[run, 1] + runs[run, 2] - 1) - sums[COL]
        sums[ROW_ROW] += length * down * down
        sums[ROW_COL] += length * down * across
        sums[COL_COL] += length * across * across + length * (length * length - 1.0) / 12.0
    return table
