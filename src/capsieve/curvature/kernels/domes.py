"""Curvatures of a surface, the points of its domes, and their radii."""

import numpy as np

from capsieve.compiling import compiled

__all__ = ["dome_points", "dome_radii", "write_curvatures"]


@compiled
def _curvatures(above, row, below, left, j, right):
    """Return H, K and sqrt(w) of a pixel; formulas in :mod:`capsieve.curvature.domes`."""
    r, c = 0.5 * (below[j] - above[j]), 0.5 * (row[right] - row[left])
    rr = below[j] - 2.0 * row[j] + above[j]
    cc = row[right] - 2.0 * row[j] + row[left]
    rc = 0.25 * (below[right] - below[left] - above[right] + above[left])
    w = 1.0 + r * r + c * c
    area = np.sqrt(w)
    mean = (2.0 * r * c * rc - (1.0 + c * c) * rr - (1.0 + r * r) * cc) / (2.0 * w * area)
    return mean, (rr * cc - rc * rc) / (w * w), area


@compiled
def write_curvatures(surface, mean, gaussian, area):
    """Write H, K and sqrt(w) of every pixel; the surface is mirrored at its border."""
    rows, cols = surface.shape
    last = cols - 1
    for i in range(rows):
        above, row, below = surface[max(i - 1, 0)], surface[i], surface[min(i + 1, rows - 1)]
        means, gaussians, areas = mean[i], gaussian[i], area[i]
        for j in range(1, last):
            means[j], gaussians[j], areas[j] = _curvatures(above, row, below, j - 1, j, j + 1)
        for j in (0, last):
            left, right = max(j - 1, 0), min(j + 1, last)
            means[j], gaussians[j], areas[j] = _curvatures(above, row, below, left, j, right)


@compiled
def dome_points(mean, gaussian, mask, squared_tangent, least_squared, points):
    """Write 1 for each point of a dome, else 0. All arrays are flat.

    s >= a for a > 1/2 is the same as H >= 0 and H^2 >= t^2 (H^2 - K) with t = tan(pi a / 2).

    Parameters
    ----------
    mean, gaussian
        H and K.
    mask
        Pixels to search.
    squared_tangent
        t^2.
    least_squared
        Smallest square of the curvedness.
    points
        Output, uint8.
    """
    for n in range(points.size):
        h, k = mean[n], gaussian[n]
        inside = mask[n] & (k > 0.0) & (h > 0.0)
        inside &= squared_tangent * k >= (squared_tangent - 1.0) * h * h
        points[n] = inside & (2.0 * h * h - k >= least_squared)


@compiled
def dome_radii(labels, count, mean, gaussian, area, least_pixels, density):
    """Write H dA / (2 pi) at the points of domes with enough pixels, else 0. All arrays are flat.

    Returns
    -------
    radii
        Sum of the density for each of `count` labels; label 0 is the background.
    highest
        Largest K of any dome, also of small ones.
    """
    pixels = np.zeros(count, np.int64)
    for n in range(labels.size):
        pixels[labels[n]] += 1
    radii = np.zeros(count)
    highest = 0.0
    for n in range(labels.size):
        label = labels[n]
        density[n] = 0.0
        if label > 0:
            highest = max(highest, gaussian[n])
            if pixels[label] >= least_pixels:
                density[n] = mean[n] * area[n] / (2.0 * np.pi)
                radii[label] += density[n]
    return radii, highest
