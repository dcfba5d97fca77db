"""The points of domes, and what a dome adds up to."""

import numpy as np

from capsieve.compiling import compiled
from capsieve.paper.kernels.elementary import largest

__all__ = ["mark_points", "measure", "weigh"]


@compiled
def mark_points(mean, gaussian, mask, squared_tangent, least_squared, points):
    """Write 1 where a point belongs to a dome, else 0; return the largest K of such a point.

    s >= a, where a > 1/2, is H >= 0 and H^2 >= t^2 (H^2 - K) with t = tan(pi a / 2), without the
    arctangent. All planes are flat.

    Parameters
    ----------
    mean, gaussian, mask
        H, K and where to look.
    squared_tangent
        t^2.
    least_squared
        Least square of the curvedness.
    points
        Where to write.
    """
    zero, one, two = np.float32(0.0), np.float32(1.0), np.float32(2.0)
    heights = np.empty(points.size, np.float32)
    for n in range(points.size):
        squared = mean[n] * mean[n]
        inside = mask[n] & (gaussian[n] > zero) & (mean[n] > zero)
        inside &= squared_tangent * gaussian[n] >= (squared_tangent - one) * squared
        inside &= two * squared - gaussian[n] >= least_squared
        points[n] = inside
        heights[n] = gaussian[n] if inside else zero
    return largest(heights)


@compiled
def weigh(labels, count, mean, area, least_pixels, share, density):
    """Write H dA times `share` at the points of domes that are large enough, else 0.

    Return the label of the dome where it adds up to most, the first of equals; 0 where there is
    none. Label 0 is no dome. All planes are flat.
    """
    sizes = np.zeros(count, np.int64)
    for n in range(labels.size):
        sizes[labels[n]] += 1
    totals = np.zeros(count)
    for n in range(labels.size):
        label = labels[n]
        if label > 0 and sizes[label] >= least_pixels:
            density[n] = mean[n] * area[n] * share
            totals[label] += density[n]
        else:
            density[n] = np.float32(0.0)
    best = 0
    for label in range(1, count):
        if totals[label] > totals[best]:
            best = label
    return best


@compiled
def measure(labels, label, density, mean, gaussian, area):
    """Return seven sums over the pixels of a label.

    Of 1, the density, the density times row and times column, K dA, shape index and curvedness.
    """
    sums = np.zeros(7)
    for row in range(labels.shape[0]):
        for col in range(labels.shape[1]):
            if labels[row, col] != label:
                continue
            weight = np.float64(density[row, col])
            h, k = np.float64(mean[row, col]), np.float64(gaussian[row, col])
            spread = np.sqrt(max(h * h - k, 0.0))
            sums[0] += 1.0
            sums[1] += weight
            sums[2] += weight * row
            sums[3] += weight * col
            sums[4] += k * area[row, col]
            sums[5] += 2.0 / np.pi * np.arctan2(h, spread)
            sums[6] += np.hypot(h, spread)
    return sums
