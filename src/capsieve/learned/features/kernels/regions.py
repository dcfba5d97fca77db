"""Sums over a disc and over the ring around it."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["region_sums"]


@compiled
def region_sums(plane, mask, row, col, inside, ring):
    """Return counts and sums: (2, 2), first inside, then the ring.

    Parameters
    ----------
    plane, mask
        Values, and which of their pixels count.
    row, col
        Centre of the disc.
    inside
        Square of the largest distance from it that is inside.
    ring
        Squares of the least and the largest distance of the ring.
    """
    rows, cols = mask.shape
    sums = np.zeros((2, 2))
    reach = np.sqrt(max(inside, ring[1])) + 1.0
    for i in range(max(0, int(row - reach)), min(rows, int(row + reach) + 2)):
        down = (i - row) ** 2
        for j in range(max(0, int(col - reach)), min(cols, int(col + reach) + 2)):
            square = down + (j - col) ** 2
            if not mask[i, j]:
                continue
            if square <= inside:
                region = 0
            elif ring[0] <= square <= ring[1]:
                region = 1
            else:
                continue
            sums[region, 0] += 1.0
            sums[region, 1] += np.float64(plane[i, j])
    return sums
