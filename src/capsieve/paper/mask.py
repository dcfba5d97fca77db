"""The circular mask (section III-A).

With 1-based pixels (i, j): d_i = i - Ny/2, d_j = j - Nx/2, rho = hypot(d_i, d_j); a pixel is inside
if rho <= R_mask. For an even N the centre is a pixel, for an odd N it is halfway between two.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 16


@dataclass(frozen=True, slots=True, eq=False)
class CircularMask:
    """A circular mask and the arrays that follow from it."""

    rows: int  # of the frame
    cols: int
    centre: tuple[float, float]  # 0-based row and column
    radius: float  # R_mask
    row_offsets: NDArray[np.float64]  # d_i
    col_offsets: NDArray[np.float64]  # d_j
    distance: NDArray[np.float64]  # rho
    inside: NDArray[np.bool_]  # whether rho <= R_mask
    # Columns starts[row] to stops[row] - 1 are inside; both 0 in rows without any.
    starts: NDArray[np.uint64]
    stops: NDArray[np.uint64]
    # The same, widened to multiples of 16 columns, which filters compute faster.
    block_starts: NDArray[np.int64]
    block_stops: NDArray[np.int64]


@lru_cache(maxsize=32)
def circular_mask(
    rows: int, cols: int, radius: float, centre: tuple[float, float] | None = None
) -> CircularMask:
    """Return the mask of a radius in pixels.

    Parameters
    ----------
    rows, cols
        Size of the frame.
    radius
        R_mask; infinite for a mask that covers the whole frame.
    centre
        Row and column of a pixel or of a point halfway between pixels; the paper's centre by
        default.
    """
    row, col = centre or (rows / 2 - 1, cols / 2 - 1)
    row_offsets, col_offsets = np.arange(0.0, rows) - row, np.arange(0.0, cols) - col
    distance = np.hypot(row_offsets[:, None], col_offsets)
    inside = distance <= radius
    filled = inside.any(axis=1)
    starts = np.where(filled, inside.argmax(axis=1), 0)
    stops = np.where(filled, cols - inside[:, ::-1].argmax(axis=1), 0)
    block_stops = np.where(filled, np.minimum(-(-stops // _BLOCK) * _BLOCK, cols), 0)
    blocks = starts // _BLOCK * _BLOCK, block_stops
    spans = starts.astype(np.uint64), stops.astype(np.uint64), *blocks
    arrays: tuple[NDArray[Any], ...] = row_offsets, col_offsets, distance, inside, *spans
    for array in arrays:  # the mask is shared between frames and threads
        array.flags.writeable = False
    return CircularMask(rows, cols, (row, col), radius, *arrays)
