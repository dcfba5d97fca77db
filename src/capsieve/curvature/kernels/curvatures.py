"""Curvatures of a surface, from its pixels in one pass."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["write_curvatures"]


@compiled
def _bent(kind, above, row, below, left, col, right):
    """Return H, K and the area at a pixel; formulas in :mod:`capsieve.curvature.curvatures`.

    `kind` makes a number of the surface's own type: others would widen every product.
    """
    half, one, two = kind(0.5), kind(1.0), kind(2.0)
    r, c = half * (below[col] - above[col]), half * (row[right] - row[left])
    rr = below[col] - two * row[col] + above[col]
    cc = row[right] - two * row[col] + row[left]
    rc = half * half * (below[right] - below[left] - above[right] + above[left])
    w = one + r * r + c * c
    area = np.sqrt(w)
    mean = (two * r * c * rc - (one + c * c) * rr - (one + r * r) * cc) / (two * w * area)
    return mean, (rr * cc - rc * rc) / (w * w), area


@compiled
def write_curvatures(surface, mean, gaussian, area):
    """Write H, K and the element of area; beyond its border the surface is mirrored."""
    rows, cols = surface.shape
    kind = surface.dtype.type
    last = cols - 1
    for i in range(rows):
        above, row, below = surface[max(i - 1, 0)], surface[i], surface[min(i + 1, rows - 1)]
        means, gaussians, areas = mean[i], gaussian[i], area[i]
        for col in range(1, last):
            found = _bent(kind, above, row, below, col - 1, col, col + 1)
            means[col], gaussians[col], areas[col] = found
        for col in (0, last):
            left, right = max(col - 1, 0), min(col + 1, last)
            found = _bent(kind, above, row, below, left, col, right)
            means[col], gaussians[col], areas[col] = found
