r"""The best-fit ball.

At the u-weighted centre of a feature a ball :math:`b(R) = (R^2 - d^2) / N_x^2`, cut at zero, is
fitted to u over the whole frame: :math:`R_{opt} = \arg\min_R \|u - b(R)\|_F` over the integers
1 .. floor(Nx / 3), the first of equals (equations 23 to 27).

With d the distance to the centre, :math:`\|u - b\|^2 = \mathrm{const} + \sum b^2 - 2 \sum u b`,
and both sums follow from running totals of 1, d^2, d^4, u and u d^2 over rings one pixel wide. One
pass over the pixels is exact for every R.
"""

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.kernels import ball as kernels

__all__ = ["best_ball_radius"]


def best_ball_radius(
    midpass: NDArray[np.float32], row: float, col: float, *, largest: int | None = None
) -> int:
    """Return R_opt of the ball at (row, col), 0-based.

    Parameters
    ----------
    midpass
        u, zero outside the mask.
    row, col
        The ball's centre.
    largest
        The largest radius to try; floor(Nx / 3) by default.
    """
    largest = midpass.shape[1] // 3 if largest is None else largest
    return int(kernels.best_radius(midpass, row, col, largest))
