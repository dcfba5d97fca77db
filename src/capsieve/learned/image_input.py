"""The picture that a network looks at: the field of view as a square, and nothing around it.

Training and running both call :func:`crop`, so that a model sees what it learned from.
"""

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.frames import FieldOfView, Placement, ShapeName
from capsieve.paper.kernels import pixels as kernels

__all__ = ["CROP_VERSION", "MARGIN", "crop", "crop_placement", "visible"]

CROP_VERSION = 1
"""Raised with any change of a crop's pixels: crops of another version are not used again."""

MARGIN = 0.02
"""Of the radius; the rim of a field of view is black, blurred or full of marks."""

_CUT = 1.62
"""Of the radius; |row| + |col| at the cut corners of Kvasir-Capsule's square."""


def crop(
    pixels: NDArray[Any],
    field_of_view: FieldOfView | None,
    size: int,
    *,
    whole: bool = False,
    mask: bool = True,
) -> NDArray[np.uint8]:
    """Return the square around the field of view, black outside of it.

    Where the picture shrinks, each pixel is the mean over the area that it covers; where it grows,
    it is interpolated linearly. What lies outside the frame is black.

    Parameters
    ----------
    pixels
        uint8 or float32 on 0..255, grey or RGB, see :func:`capsieve.frames.checked_pixels`.
    field_of_view
        Where the picture lies. Without it, or where its confidence is 0, the centred square of
        the frame's shorter side is taken, and all of it is seen.
    size
        Rows and columns of the square.
    whole
        Take the whole frame instead, stretched to the square.
    mask
        Whether what lies outside the field of view becomes black: outside the circle, or outside
        the square or cut square, less :data:`MARGIN`. Marks in the corners are then never seen.

    Returns
    -------
    array
        size x size x 3, RGB. A grey frame gives three equal channels.
    """
    rows, cols = pixels.shape[:2]
    placement = crop_placement(rows, cols, field_of_view, size, whole=whole)
    flat = np.ascontiguousarray(pixels).reshape(rows, -1)
    channels = flat.shape[1] // cols
    down = _taps(rows, size, placement.row_scale, placement.row_offset, 1)
    across = _taps(cols, size, placement.col_scale, placement.col_offset, channels)
    sampled = np.empty((size, size * channels), np.float32)
    kernels.resample(flat, channels, *down, *across, sampled)
    rounded = np.asarray(cv2.convertScaleAbs(sampled), np.uint8)
    out = rounded.reshape(size, size, channels)
    if channels == 1:
        out = np.repeat(out, 3, axis=2)
    if mask and field_of_view is not None and field_of_view.confidence > 0:
        shape, place = field_of_view.shape, _relative(placement, field_of_view)
        out &= _bytes_inside(shape, size, size, *place)
    return out


def crop_placement(
    rows: int, cols: int, field_of_view: FieldOfView | None, size: int, *, whole: bool = False
) -> Placement:
    """Return where the pixels of :func:`crop` lie on a frame of rows x cols."""
    if whole:
        top, left, height, width = -0.5, -0.5, float(rows), float(cols)
    elif field_of_view is None or field_of_view.confidence == 0:
        height = width = float(min(rows, cols))
        top, left = (rows - height) / 2 - 0.5, (cols - width) / 2 - 0.5
    else:
        height = width = 2.0 * field_of_view.radius
        top = field_of_view.row - field_of_view.radius
        left = field_of_view.col - field_of_view.radius
    return Placement(
        rows=size,
        cols=size,
        row_scale=height / size,
        col_scale=width / size,
        row_offset=top + 0.5 * height / size,
        col_offset=left + 0.5 * width / size,
    )


def visible(placement: Placement, field_of_view: FieldOfView | None) -> NDArray[np.bool_]:
    """Return which pixels of a grid on the frame lie inside the field of view; read-only."""
    if field_of_view is None or field_of_view.confidence == 0:
        return np.ones((placement.rows, placement.cols), np.bool_)
    place = _relative(placement, field_of_view)
    return _inside(field_of_view.shape, placement.rows, placement.cols, *place)


def _relative(placement: Placement, circle: FieldOfView) -> tuple[float, float, float, float]:
    """Return scale and offset of the rows, then of the columns, in radii from the centre."""
    radius = circle.radius
    # Rounded: every exam has its own circle, but seen from the circle all crops are the same.
    return (
        round(placement.row_scale / radius, 9),
        round((placement.row_offset - circle.row) / radius, 9),
        round(placement.col_scale / radius, 9),
        round((placement.col_offset - circle.col) / radius, 9),
    )


@lru_cache(maxsize=32)
def _inside(
    shape: ShapeName,
    height: int,
    width: int,
    row_scale: float,
    row_offset: float,
    col_scale: float,
    col_offset: float,
) -> NDArray[np.bool_]:
    rows = np.abs(row_offset + row_scale * np.arange(height))[:, None]
    cols = np.abs(col_offset + col_scale * np.arange(width))[None, :]
    limit = 1.0 - MARGIN
    if shape == "full":  # there is nothing around it
        inside = np.ones((height, width), np.bool_)
    elif shape == "circle":
        inside = rows**2 + cols**2 <= limit**2
    else:
        inside = (rows <= limit) & (cols <= limit)
        if shape == "cut-square":
            inside &= rows + cols <= _CUT * limit
    inside.setflags(write=False)  # it is kept, and everybody gets the same one
    return inside


@lru_cache(maxsize=32)
def _bytes_inside(shape: ShapeName, height: int, width: int, *place: float) -> NDArray[np.uint8]:
    """255 inside and 0 outside, for three channels."""
    inside = _inside(shape, height, width, *place)
    return np.repeat(np.where(inside, np.uint8(255), np.uint8(0))[:, :, None], 3, axis=2)


@lru_cache(maxsize=64)
def _taps(
    source: int, size: int, scale: float, offset: float, channels: int
) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
    """For every place of the crop the first source place that it takes from, and its weights."""
    centres = offset + scale * np.arange(size, dtype=np.float64)
    reach = 0.5 * scale if scale > 1.0 else 1.0
    # Rounded first: a bound such as 1.5 - 1e-16 must not reach into one pixel more.
    first = np.floor(np.round(centres - reach + 0.5, 9)).astype(np.int64)
    places = first[:, None] + np.arange(int(np.ceil(2 * reach)) + 1)
    if scale > 1.0:
        low, high = centres[:, None] - reach, centres[:, None] + reach
        covered = np.minimum(high, places + 0.5) - np.maximum(low, places - 0.5)
        weights = np.maximum(covered, 0.0) / scale
    else:
        weights = np.maximum(1.0 - np.abs(places - centres[:, None]), 0.0)
    # Outside the source is black: what would be taken from there has no weight.
    weights[(places < 0) | (places >= source)] = 0.0
    table = np.zeros((size, source))
    np.add.at(table, (np.arange(size)[:, None], np.clip(places, 0, source - 1)), weights)
    taken = table > 0
    firsts = np.where(taken.any(axis=1), taken.argmax(axis=1), 0)
    lasts = np.where(taken.any(axis=1), source - 1 - taken[:, ::-1].argmax(axis=1), 0)
    count = int((lasts - firsts).max()) + 1
    firsts = np.minimum(firsts, source - count)  # near the end the window moves inside
    picked = np.take_along_axis(table, firsts[:, None] + np.arange(count), axis=1)
    steps = np.repeat(firsts * channels, channels) + np.tile(np.arange(channels), size)
    spread = np.repeat(picked, channels, axis=0).T
    return steps.astype(np.uint64), np.ascontiguousarray(spread, np.float32)
