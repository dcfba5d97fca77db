"""Sums over a round patch and over the ring around it."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["region_sums", "rim_sums"]


@compiled
def region_sums(planes, mask, row, col, inside, ring):
    """Return counts, sums and sums of squares: (2, 1 + 2 planes), first inside, then the ring.

    Parameters
    ----------
    planes
        A tuple of planes.
    mask
        Where pixels count.
    row, col
        The patch's centre.
    inside
        Square of the largest distance from it that is inside.
    ring
        Squares of the least and the largest distance of the ring.
    """
    rows, cols = mask.shape
    kinds = len(planes)
    sums = np.zeros((2, 1 + 2 * kinds))
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
            total = sums[region]
            total[0] += 1.0
            for kind in range(kinds):
                value = np.float64(planes[kind][i, j])
                total[1 + kind] += value
                total[1 + kinds + kind] += value * value
    return sums


@compiled
def rim_sums(plane, mask, row, col, low, high):
    """Return the sums of the squared gradient along the radius, and of the whole.

    Central differences without the factor 1/2, at the pixels of the mask whose squared distance
    lies in low .. high. Those on the frame's border have no such difference, and do not count; the
    centre has no radius, and adds to the whole alone.
    """
    rows, cols = mask.shape
    reach = int(np.sqrt(high)) + 1
    radial, total = 0.0, 0.0
    for i in range(max(1, int(row) - reach), min(rows - 1, int(row) + reach + 1)):
        y = i - row
        for j in range(max(1, int(col) - reach), min(cols - 1, int(col) + reach + 1)):
            x = j - col
            square = x * x + y * y
            if mask[i, j] and low <= square <= high:
                down = np.float64(plane[i + 1, j] - plane[i - 1, j])
                across = np.float64(plane[i, j + 1] - plane[i, j - 1])
                radial += (down * y + across * x) ** 2 / max(square, 1e-6)
                total += down * down + across * across
    return radial, total
