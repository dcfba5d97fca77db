"""Curvatures of a graph, written from the shape operator, and domes by flood fill."""

import math

import numpy as np


def shape_operator(z: np.ndarray, row: int, col: int) -> np.ndarray:
    """The shape operator at a pixel, -(first form)^-1 (second form), a bump being positive."""
    zr = (z[row + 1, col] - z[row - 1, col]) / 2
    zc = (z[row, col + 1] - z[row, col - 1]) / 2
    zrr = z[row + 1, col] - 2 * z[row, col] + z[row - 1, col]
    zcc = z[row, col + 1] - 2 * z[row, col] + z[row, col - 1]
    zrc = (
        z[row + 1, col + 1] - z[row + 1, col - 1] - z[row - 1, col + 1] + z[row - 1, col - 1]
    ) / 4
    first = np.array([[1 + zr * zr, zr * zc], [zr * zc, 1 + zc * zc]])
    second = np.array([[zrr, zrc], [zrc, zcc]]) / math.sqrt(1 + zr * zr + zc * zc)
    return -np.linalg.inv(first) @ second


def principal(z: np.ndarray, row: int, col: int) -> tuple[float, float]:
    """The principal curvatures, the larger one first."""
    low, high = sorted(np.linalg.eigvals(shape_operator(z, row, col)).real)
    return float(high), float(low)


def area(z: np.ndarray, row: int, col: int) -> float:
    """The area of the surface over a pixel."""
    zr = (z[row + 1, col] - z[row - 1, col]) / 2
    zc = (z[row, col + 1] - z[row, col - 1]) / 2
    return math.sqrt(1 + zr * zr + zc * zc)


def best_radius(
    z: np.ndarray,
    mask: np.ndarray,
    *,
    least_shape: float,
    least_curvedness: float,
    least_pixels: float,
) -> float:
    """The largest integral of H dA / (2 pi) over a connected dome; 0 for none."""
    bulge: dict[tuple[int, int], float] = {}
    for row, col in zip(*np.nonzero(mask), strict=True):
        high, low = principal(z, row, col)
        if low <= 0 or math.sqrt((high**2 + low**2) / 2) < least_curvedness:
            continue
        if high > low and 2 / math.pi * math.atan((high + low) / (high - low)) < least_shape:
            continue
        bulge[int(row), int(col)] = (high + low) / 2 * area(z, row, col)
    best = 0.0
    while bulge:
        pending = [next(iter(bulge))]
        pixels, total = 0, 0.0
        while pending:
            row, col = pending.pop()
            if (row, col) in bulge:
                pixels, total = pixels + 1, total + bulge.pop((row, col))
                pending += [(row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)]
        if pixels >= least_pixels:
            best = max(best, total / (2 * math.pi))
    return best
