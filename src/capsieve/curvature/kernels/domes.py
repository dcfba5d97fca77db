"""Curvatures of a surface, the points of its domes, and their radii."""

import numpy as np

from capsieve.compiling import compiled


@compiled
def curvatures(surface):
    """Return H, K and sqrt(w) of every pixel; the surface is mirrored at its border."""
    rows, last = surface.shape[0], surface.shape[1] - 1
    mean, gaussian, area = np.empty_like(surface), np.empty_like(surface), np.empty_like(surface)
    for i in range(rows):
        above, row, below = surface[max(i - 1, 0)], surface[i], surface[min(i + 1, rows - 1)]
        means, gaussians, areas = mean[i], gaussian[i], area[i]
        for j in range(1, last):
            means[j], gaussians[j], areas[j] = _curvatures(above, row, below, j - 1, j, j + 1)
        for j in (0, last):
            left, right = max(j - 1, 0), min(j + 1, last)
            means[j], gaussians[j], areas[j] = _curvatures(above, row, below, left, j, right)
    return mean, gaussian, area


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
def dome_points(mean, gaussian, mask, squared_tangent, least_squared):
    """Return 1 for each point of a dome, else 0; `least_squared` is a bound of its c^2.

    s >= a for a > 1/2 is the same as H >= 0 and H^2 >= t^2 (H^2 - K) with t = tan(pi a / 2).
    """
    points = np.empty(mask.shape, np.uint8)
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            h, k = mean[i, j], gaussian[i, j]
            inside = mask[i, j] & (k > 0.0) & (h > 0.0)
            inside &= squared_tangent * k >= (squared_tangent - 1.0) * h * h
            points[i, j] = inside & (2.0 * h * h - k >= least_squared)
    return points


@compiled
def dome_radii(labels, count, mean, gaussian, area, least_pixels):
    """Return H dA / (2 pi) at the points of domes with enough pixels, its sums, and the largest K.

    There is a sum for each of `count` labels; label 0 is the background. K is of all domes.
    """
    pixels, radii, highest = np.zeros(count, np.int64), np.zeros(count), 0.0
    for label in labels.flat:
        pixels[label] += 1
    density = np.zeros(labels.shape, np.float32)
    for i in range(labels.shape[0]):
        for j in range(labels.shape[1]):
            label = labels[i, j]
            if label > 0:
                highest = max(highest, gaussian[i, j])
                if pixels[label] >= least_pixels:
                    density[i, j] = mean[i, j] * area[i, j] / (2.0 * np.pi)
                    radii[label] += density[i, j]
    return density, radii, highest
