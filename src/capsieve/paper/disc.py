"""The circular mask and what follows from it alone.

With 1-based pixels (i, j): d_i = i - Ny/2, d_j = j - Nx/2, rho = hypot(d_i, d_j), and the mask is
rho <= R_mask. For an even N the centre is a pixel, for an odd N it lies between two.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Disc", "Spans", "disc", "grown", "whole"]


@dataclass(frozen=True, slots=True)
class Spans:
    """The columns [starts[i], stops[i]) that are wanted in each row i."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Disc:
    """A circular mask on a grid; two are equal if their numbers are.

    Attributes
    ----------
    rows, cols, centre_row, centre_col, radius
        The grid, the 0-based centre and R_mask.
    row_offsets, col_offsets
        d_i and d_j.
    distance
        rho.
    mask
        rho <= R_mask.
    spans
        The mask's columns in each row.
    """

    rows: int
    cols: int
    centre_row: float
    centre_col: float
    radius: float
    row_offsets: NDArray[np.float64] = field(compare=False, repr=False)
    col_offsets: NDArray[np.float64] = field(compare=False, repr=False)
    distance: NDArray[np.float64] = field(compare=False, repr=False)
    mask: NDArray[np.bool_] = field(compare=False, repr=False)
    spans: Spans = field(compare=False, repr=False)


@lru_cache(maxsize=32)
def disc(rows: int, cols: int, radius: float, centre: tuple[float, float] | None = None) -> Disc:
    """Return the mask of that radius about the paper's centre, or about another (row, col)."""
    centre_row, centre_col = centre if centre else (rows / 2 - 1, cols / 2 - 1)
    row_offsets = np.arange(rows, dtype=np.float64) - centre_row
    col_offsets = np.arange(cols, dtype=np.float64) - centre_col
    distance = np.hypot(row_offsets[:, None], col_offsets[None, :])
    mask = distance <= radius
    for array in (row_offsets, col_offsets, distance, mask):
        array.flags.writeable = False
    filled = mask.any(axis=1)
    starts = np.where(filled, mask.argmax(axis=1), 0)
    stops = np.where(filled, cols - mask[:, ::-1].argmax(axis=1), 0)
    return Disc(
        rows=rows,
        cols=cols,
        centre_row=centre_row,
        centre_col=centre_col,
        radius=radius,
        row_offsets=row_offsets,
        col_offsets=col_offsets,
        distance=distance,
        mask=mask,
        spans=Spans(starts, stops),
    )


def whole(rows: int, cols: int) -> Spans:
    """Return the spans of the whole frame."""
    return Spans(np.zeros(rows, np.int64), np.full(rows, cols, np.int64))


def grown(spans: Spans, cols: int, *, by_rows: int, by_cols: int) -> Spans:
    """Return the spans that cover every pixel within that many rows and columns of a wanted one."""
    rows = len(spans.starts)
    starts, stops = np.full(rows, cols, np.int64), np.zeros(rows, np.int64)
    empty = spans.starts >= spans.stops
    for row in range(rows):
        near = slice(max(0, row - by_rows), row + by_rows + 1)
        near_starts = np.where(empty[near], cols, spans.starts[near])
        near_stops = np.where(empty[near], 0, spans.stops[near])
        starts[row] = max(0, near_starts.min() - by_cols)
        stops[row] = min(cols, near_stops.max() + by_cols)
        if near_starts.min() == cols:  # no wanted row nearby
            starts[row] = stops[row] = 0
    return Spans(starts, stops)
