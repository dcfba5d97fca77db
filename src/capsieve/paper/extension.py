r"""Linear extension of the frame outside the mask (equations 1 and 2).

The upwind discretisation of :math:`\nabla f \cdot \hat r = q` (q = 1 in the paper), with f fixed
inside the mask: with :math:`a = |d_i| / \rho` and :math:`b = |d_j| / \rho`,

.. math:: f_{ij} = (q + a f_{i - \mathrm{sgn} d_i, j} + b f_{i, j - \mathrm{sgn} d_j}) / (a + b).

In the order of growing :math:`|d_i| + |d_j|` both neighbours are known, so one pass solves the
system. If the centre is halfway between two rows, the pixels on both sides of it are neighbours of
each other. Their two equations with the same a and b have the solution

.. math:: x = \frac{q}{b} + \frac{(a + b) x' + a y'}{2 a + b}

in which x' and y' are the inner neighbours of x and of its partner y along the row. The same holds
for columns. So each pixel follows from two known pixels, two weights and a lift.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FrameError
from capsieve.paper.kernels import pixels as kernels
from capsieve.paper.mask import CircularMask

_SMALLEST_RADIUS = 2.0  # below it, the pairs around the centre of a row and of a column meet


def extend(
    frame: NDArray[np.float32], mask: CircularMask, slope: float = 1.0
) -> NDArray[np.float32]:
    """Extend the values inside the mask to the whole frame.

    Parameters
    ----------
    frame
        f inside the mask; values outside are not used.
    mask
        Of the size of the frame.
    slope
        q, grey levels per pixel; 0 gives values that are constant along rays.
    """
    out = frame.copy()
    kernels.extend(out.reshape(-1), np.float32(slope), *_outward(mask))
    return out


@lru_cache(maxsize=16)
def _outward(mask: CircularMask) -> tuple[NDArray[Any], ...]:
    """The pixels outside in outward order, both neighbours of each, their weights, and the lift."""
    if mask.radius < _SMALLEST_RADIUS:
        raise FrameError(
            f"a mask of radius {mask.radius:g} pixels is too small to extend; at least "
            f"{_SMALLEST_RADIUS:g} pixels are needed"
        )
    row, col = np.nonzero(~mask.inside)
    down, across = mask.row_offsets[row], mask.col_offsets[col]
    order = np.argsort(np.abs(down) + np.abs(across), kind="stable")
    row, col, down, across = row[order], col[order], down[order], across[order]
    a, b = np.abs(down), np.abs(across)  # times rho
    inner_row, inner_col = row - np.sign(down).astype(int), col - np.sign(across).astype(int)
    first, second = np.stack([inner_row, col]), np.stack([row, inner_col])
    weight, other, lift = a / (a + b), b / (a + b), np.hypot(a, b) / (a + b)
    # A pair on both sides of the centre line: neighbours are those of the pixel and its partner.
    rows, cols = a == 0.5, b == 0.5
    first[:, rows] = inner_row[rows], inner_col[rows]
    weight[rows], other[rows] = (a / (2 * a + b))[rows], ((a + b) / (2 * a + b))[rows]
    second[:, cols] = inner_row[cols], inner_col[cols]
    weight[cols], other[cols] = ((a + b) / (a + 2 * b))[cols], (b / (a + 2 * b))[cols]
    lift[rows] = (np.hypot(a, b) / np.maximum(b, 1))[rows]
    lift[cols] = (np.hypot(a, b) / np.maximum(a, 1))[cols]
    # On an axis one neighbour has no weight; it must not be a pixel outside that is not yet known.
    first[:, a == 0], second[:, b == 0] = second[:, a == 0], first[:, b == 0]
    places = ((row, col), first, second)
    return (
        *((rows * mask.cols + cols).astype(np.uint32) for rows, cols in places),
        *(each.astype(np.float32) for each in (weight, other, lift)),
    )
