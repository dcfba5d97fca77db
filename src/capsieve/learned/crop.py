"""The image that a network sees: the field of view as a square, black outside of it.

Training and screening both call :func:`crop`, so a model sees what it was trained on.
"""

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.frames import FieldOfView, Placement, ShapeName, checked_field_of_view
from capsieve.paper.kernels import pixels as kernels

CROP_VERSION = 1
"""Raised with any change of a crop's pixels: stored crops of another version are not used."""

MARGIN = 0.02
"""Of the radius; the edge of a field of view is black, blurred or has marks."""

_CUT = 1.62  # radii: |row| + |col| at the cut corners of Kvasir-Capsule's square


def crop(
    pixels: NDArray[Any],
    field_of_view: FieldOfView | None,
    size: int,
    *,
    whole: bool = False,
    mask: bool = True,
) -> NDArray[np.uint8]:
    """Return the square around the field of view, black outside of it and outside the frame.

    If the image shrinks, each pixel is the mean of the area that it covers; if it grows, it is
    interpolated linearly.

    Parameters
    ----------
    pixels
        uint8 or float32 on 0..255, grey or RGB, see :func:`capsieve.frames.checked_pixels`.
    field_of_view
        Without it, or if its confidence is 0, the centred square with the frame's shorter side is
        used, and nothing in it is black.
    size
        Rows and columns of the result.
    whole
        Use the whole frame, stretched to the square.
    mask
        Whether pixels outside the circle, or outside the square or cut square, reduced by
        :data:`MARGIN`, become black.

    Returns
    -------
    array
        size x size x 3, RGB. A grey frame gives three equal channels.

    Raises
    ------
    FrameError
        The field of view does not fit the frame.
    """
    rows, cols = pixels.shape[:2]
    placement = crop_placement(rows, cols, field_of_view, size, whole=whole)
    flat = np.ascontiguousarray(pixels).reshape(rows, -1)
    channels = flat.shape[1] // cols
    down = _weights(rows, size, placement.row_scale, placement.row_offset, 1)
    across = _weights(cols, size, placement.col_scale, placement.col_offset, channels)
    sampled = np.empty((size, size * channels), np.float32)
    kernels.resample(flat, channels, *down, *across, sampled)
    out = np.asarray(cv2.convertScaleAbs(sampled), np.uint8).reshape(size, size, channels)
    if channels == 1:
        out = np.repeat(out, 3, axis=2)
    if mask:
        out = cv2.copyTo(out, visible(placement, field_of_view).view(np.uint8))
    return np.asarray(out, np.uint8)


def crop_placement(
    rows: int, cols: int, field_of_view: FieldOfView | None, size: int, *, whole: bool = False
) -> Placement:
    """Return the place of the result of :func:`crop` on a frame of rows x cols."""
    circle = checked_field_of_view(rows, cols, field_of_view)
    if circle is not None:
        row, col, radius = circle.row, circle.col, circle.radius
    else:
        row, col, radius = (rows - 1) / 2, (cols - 1) / 2, min(rows, cols) / 2
    height = width = 2.0 * radius
    top, left = row - radius, col - radius
    if whole:
        top, left, height, width = -0.5, -0.5, float(rows), float(cols)
    down, across = height / size, width / size
    return Placement(size, size, down, across, top + 0.5 * down, left + 0.5 * across)


def visible(placement: Placement, field_of_view: FieldOfView | None) -> NDArray[np.bool_]:
    """Return the pixels of a grid on the frame that are in the field of view; read-only."""
    view = field_of_view
    if view is None or view.confidence == 0 or view.shape == "full":
        return _inside("full", placement.rows, placement.cols, 0.0, 0.0, 0.0, 0.0)
    # In radii from the centre and rounded: the crops of all exams then share one mask.
    return _inside(
        view.shape,
        placement.rows,
        placement.cols,
        round(placement.row_scale / view.radius, 9),
        round((placement.row_offset - view.row) / view.radius, 9),
        round(placement.col_scale / view.radius, 9),
        round((placement.col_offset - view.col) / view.radius, 9),
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
    cols = np.abs(col_offset + col_scale * np.arange(width))
    limit = 1.0 - MARGIN
    if shape == "full":
        inside = np.ones((height, width), np.bool_)
    elif shape == "circle":
        inside = rows**2 + cols**2 <= limit**2
    else:
        inside = (rows <= limit) & (cols <= limit)
        if shape == "cut-square":
            inside &= rows + cols <= _CUT * limit
    inside.setflags(write=False)  # it is shared
    return inside


@lru_cache(maxsize=64)
def _weights(
    source: int, size: int, scale: float, offset: float, channels: int
) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
    """Return the first source place and the weights (taps x places) of each place of the crop.

    Unlike :func:`capsieve.paper.working_frame.resampling_weights`, this does not repeat the border:
    outside the source there is no weight, which is black.
    """
    centres = offset + scale * np.arange(size, dtype=np.float64)
    reach = 0.5 * scale if scale > 1.0 else 1.0
    # Rounded: a bound such as 1.5 - 1e-16 must not include one pixel more.
    first = np.floor(np.round(centres - reach + 0.5, 9)).astype(np.int64)
    places = first[:, None] + np.arange(int(np.ceil(2 * reach)) + 1)
    if scale > 1.0:
        low, high = centres[:, None] - reach, centres[:, None] + reach
        covered = np.minimum(high, places + 0.5) - np.maximum(low, places - 0.5)
        weights = np.maximum(covered, 0.0) / scale
    else:
        weights = np.maximum(1.0 - np.abs(places - centres[:, None]), 0.0)
    weights[(places < 0) | (places >= source)] = 0.0
    places = np.clip(places, 0, source - 1)
    taps = int(np.ptp(places, axis=1).max()) + 1
    firsts = np.minimum(places[:, 0], source - taps)  # the window ends in the source
    table = np.zeros((size, taps))
    np.add.at(table, (np.arange(size)[:, None], places - firsts[:, None]), weights)
    firsts = np.repeat(firsts * channels, channels) + np.tile(np.arange(channels), size)
    table = np.ascontiguousarray(np.repeat(table, channels, axis=0).T, np.float32)
    return firsts.astype(np.uint64), table
