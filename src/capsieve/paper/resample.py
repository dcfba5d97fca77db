"""To the working width: down by area average, up by bicubic interpolation, on colour.

The kernels are those of OpenCV's INTER_AREA and INTER_CUBIC (a = -3/4), but the working grid may
lie anywhere on the source: a field of view's circle seldom starts at a whole pixel. They matter:
another kernel shifts T_max by a tenth.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.frames import Placement
from capsieve.paper.kernels import resample as kernels

__all__ = ["place_circle", "place_frame", "resample"]

_CUBIC = -0.75


def place_frame(source_rows: int, source_cols: int, *, width: int) -> Placement:
    """Place the whole source on a working frame of that width, keeping its proportions."""
    rows = max(1, round(source_rows * width / source_cols))
    row_scale, col_scale = source_rows / rows, source_cols / width
    return Placement(
        rows=rows,
        cols=width,
        row_scale=row_scale,
        col_scale=col_scale,
        row_offset=0.5 * row_scale - 0.5,
        col_offset=0.5 * col_scale - 0.5,
    )


def place_circle(row: float, col: float, radius: float, *, width: int) -> Placement:
    """Place a circle of the source so that it gets the radius Nx/2 about the paper's centre."""
    scale = 2.0 * radius / width
    centre = width / 2 - 1
    return Placement(
        rows=width,
        cols=width,
        row_scale=scale,
        col_scale=scale,
        row_offset=row - centre * scale,
        col_offset=col - centre * scale,
    )


@dataclass(frozen=True, slots=True)
class _Taps:
    """For every working place the first source place that it takes from, and taps x weights.

    With several channels side by side every pixel has that many places.
    """

    firsts: NDArray[np.uint64]
    weights: NDArray[np.float32]


@lru_cache(maxsize=64)
def _taps(source: int, size: int, scale: float, offset: float, channels: int = 1) -> _Taps:
    centres = offset + scale * np.arange(size, dtype=np.float64)
    # A mere shift is interpolated: the mean over a pixel's width would blur it.
    places, weights = _area(centres, scale) if scale > 1.0 else _cubic(centres)
    # Outside the source its border is repeated: fold those weights onto the border's pixels.
    clipped = np.clip(places, 0, source - 1)
    firsts = clipped.min(axis=1)
    folded = np.zeros((size, int((clipped.max(axis=1) - firsts).max()) + 1))
    np.add.at(folded, (np.arange(size)[:, None], clipped - firsts[:, None]), weights)
    firsts = np.minimum(firsts, max(0, source - folded.shape[1]))
    shift = clipped.min(axis=1) - firsts
    for index in np.flatnonzero(shift):  # near the end the window is moved inside the source
        folded[index] = np.roll(folded[index], shift[index])
    places = np.repeat(firsts * channels, channels) + np.tile(np.arange(channels), size)
    weights = np.repeat(folded, channels, axis=0).T
    return _Taps(places.astype(np.uint64), np.ascontiguousarray(weights, np.float32))


def _area(centres: NDArray[np.float64], scale: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return places and weights of the mean over [centre - scale/2, centre + scale/2]."""
    # Rounding first: a bound such as 1.5 - 1e-16 must not reach into one pixel more.
    low = np.round(centres - 0.5 * scale + 0.5, 9)
    high = np.round(centres + 0.5 * scale + 0.5, 9)
    first = np.floor(low)
    places = first[:, None] + np.arange(int((np.ceil(high) - first).max()))
    covered = np.minimum(high[:, None], places + 1.0) - np.maximum(low[:, None], places)
    weights = np.maximum(covered, 0.0)
    return places.astype(np.int64), weights / weights.sum(axis=1, keepdims=True)


def _cubic(centres: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return places and weights of the cubic convolution with four taps."""
    first = np.floor(centres) - 1.0
    places = first[:, None] + np.arange(4)
    away = np.abs(centres[:, None] - places)
    near = ((_CUBIC + 2.0) * away - (_CUBIC + 3.0)) * away**2 + 1.0
    far = ((_CUBIC * away - 5.0 * _CUBIC) * away + 8.0 * _CUBIC) * away - 4.0 * _CUBIC
    return places.astype(np.int64), np.where(away <= 1.0, near, far)


def resample(pixels: NDArray[Any], placement: Placement) -> NDArray[Any]:
    """Bring a source frame to the working grid, 0..255.

    Parameters
    ----------
    pixels
        uint8 or float32 on 0..255, grey or RGB.
    placement
        Where the working grid lies on the source.

    Returns
    -------
    array
        float32; or the very pixels that came in, where every one lies on a working pixel.
    """
    rows, cols = pixels.shape[:2]
    if placement == Placement(rows, cols, 1.0, 1.0, 0.0, 0.0):
        return pixels
    flat = np.ascontiguousarray(pixels).reshape(rows, -1)
    channels = flat.shape[1] // cols
    down = _taps(rows, placement.rows, placement.row_scale, placement.row_offset)
    across = _taps(cols, placement.cols, placement.col_scale, placement.col_offset, channels)
    out = np.empty((placement.rows, placement.cols * channels), np.float32)
    kernels.resample(flat, channels, down.firsts, down.weights, across.firsts, across.weights, out)
    return out.reshape((placement.rows, placement.cols, *pixels.shape[2:]))
