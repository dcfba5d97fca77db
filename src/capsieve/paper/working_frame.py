"""The working frame: its place on the source, resampling to it, and the channel to analyse.

The paper downsamples frames to the width Nx before it processes them. Here a source is reduced by
area average and enlarged by bicubic interpolation, in colour, with the kernels of OpenCV's
INTER_AREA and INTER_CUBIC (a = -3/4) on a grid that may start between two pixels. The choice
matters: another kernel shifts T_max by a tenth.
"""

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FrameError
from capsieve.frames import FieldOfView, Placement, checked_field_of_view
from capsieve.paper.kernels import pixels as kernels
from capsieve.parameters import Channel

_SMALLEST_SOURCE = 21  # pixels, the width of the texture kernel
_TALLEST = 4  # times the width; the working frame would become too large
_CUBIC = -0.75


def working_grid(
    rows: int,
    cols: int,
    width: int,
    smallest_side: int,
    field_of_view: FieldOfView | None = None,
) -> Placement:
    """Return the place of the working frame on a source frame.

    Parameters
    ----------
    rows, cols
        Size of the source.
    width
        Nx.
    smallest_side
        Rows that the filters need in working pixels.
    field_of_view
        Its circle gets the radius Nx/2 about the paper's centre. Without it, or if its confidence
        is 0, the whole source is brought to the width, with its proportions.

    Raises
    ------
    FrameError
        The source is too small or too tall, or the field of view does not fit it.
    """
    circle = checked_field_of_view(rows, cols, field_of_view)
    if circle is not None:
        if 2 * circle.radius < _SMALLEST_SOURCE:
            raise FrameError(
                f"a field of view of radius {circle.radius:g} pixels is too small; at least "
                f"{_SMALLEST_SOURCE / 2:g} are needed"
            )
        scale, centre = 2 * circle.radius / width, width / 2 - 1
        row_offset, col_offset = circle.row - centre * scale, circle.col - centre * scale
        grid = Placement(width, width, scale, scale, row_offset, col_offset)
    else:
        if rows > _TALLEST * cols:
            raise FrameError(
                f"the frame is {rows} x {cols}: more than {_TALLEST} times as high as wide; crop "
                "it, or give a field of view"
            )
        height = max(1, round(rows * width / cols))
        down, across = rows / height, cols / width
        grid = Placement(height, width, down, across, 0.5 * down - 0.5, 0.5 * across - 0.5)
    if min(rows, cols) < _SMALLEST_SOURCE or grid.rows < smallest_side:
        raise FrameError(
            f"a frame of {rows} x {cols} pixels is too small: it needs {_SMALLEST_SOURCE} rows "
            f"and columns, and {smallest_side} rows at the working width of {width}"
        )
    return grid


def gray(pixels: NDArray[Any], grid: Placement, channel: Channel = "gray") -> NDArray[np.float32]:
    """Return the channel to analyse on the working grid, 0..255, not rounded.

    Parameters
    ----------
    pixels
        uint8 or float32 on 0..255, grey or RGB.
    grid
        The working grid.
    channel
        "gray" is 0.2989 R + 0.5870 G + 0.1140 B; "red"; "lab-a" is CIE Lab a (sRGB, D65) + 128. A
        grey frame is its own red, and its a is 128.
    """
    averaged = grid.row_scale > 1 and grid.col_scale > 1
    if averaged and channel != "lab-a" and pixels.ndim == 3:
        # The mean of a weighted sum is the weighted sum of means, at a third of the work.
        return resample(_channel(pixels, channel), grid)
    return _channel(resample(pixels, grid), channel)


def _channel(pixels: NDArray[Any], channel: Channel) -> NDArray[np.float32]:
    if pixels.ndim == 2:
        constant = np.full(pixels.shape, 128, np.float32)
        return constant if channel == "lab-a" else pixels.astype(np.float32)
    if channel == "red":
        return pixels[:, :, 0].astype(np.float32)
    if channel == "lab-a":
        lab = cv2.cvtColor(pixels.astype(np.float32) / np.float32(255), cv2.COLOR_RGB2LAB)
        return np.clip(lab[:, :, 1] + np.float32(128), 0, 255)
    return kernels.gray(pixels)


def resample(pixels: NDArray[Any], grid: Placement) -> NDArray[Any]:
    """Bring a source frame to a working grid, 0..255.

    Parameters
    ----------
    pixels
        uint8 or float32 on 0..255, grey or RGB.
    grid
        The working grid.

    Returns
    -------
    array
        float32; `pixels` itself if every one of them is on a working pixel.
    """
    rows, cols = pixels.shape[:2]
    if grid == Placement(rows, cols, 1.0, 1.0, 0.0, 0.0):
        return pixels
    flat = np.ascontiguousarray(pixels).reshape(rows, -1)
    channels = flat.shape[1] // cols
    down = resampling_weights(rows, grid.rows, grid.row_scale, grid.row_offset)
    across = resampling_weights(cols, grid.cols, grid.col_scale, grid.col_offset, channels)
    out = np.empty((grid.rows, grid.cols * channels), np.float32)
    kernels.resample(flat, channels, *down, *across, out)
    return out.reshape((grid.rows, grid.cols, *pixels.shape[2:]))


@lru_cache(maxsize=64)
def resampling_weights(
    source: int, size: int, scale: float, offset: float, channels: int = 1
) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
    """Return the first source place and the weights (taps x places) of each place on a grid.

    With several channels side by side, each pixel has that many places. Outside the source its
    border is repeated.
    """
    centres = offset + scale * np.arange(size)
    # A mere shift is interpolated: the mean over the width of a pixel would blur it.
    places, weights = _area(centres, scale) if scale > 1 else _cubic(centres)
    places = np.clip(places, 0, source - 1)
    taps = int(np.ptp(places, axis=1).max()) + 1
    firsts = np.minimum(places.min(axis=1), max(0, source - taps))  # the window ends in the source
    table = np.zeros((size, taps))
    np.add.at(table, (np.arange(size)[:, None], places - firsts[:, None]), weights)
    firsts = np.repeat(firsts * channels, channels) + np.tile(np.arange(channels), size)
    table = np.ascontiguousarray(np.repeat(table, channels, axis=0).T, np.float32)
    return firsts.astype(np.uint64), table


def _area(centres: NDArray[Any], scale: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Places and weights of the mean over [centre - scale/2, centre + scale/2]."""
    # Rounded: a bound such as 1.5 - 1e-16 must not include one pixel more.
    low = np.round(centres - 0.5 * scale + 0.5, 9)
    high = np.round(centres + 0.5 * scale + 0.5, 9)
    first = np.floor(low)
    places = first[:, None] + np.arange(int((np.ceil(high) - first).max()))
    covered = np.minimum(high[:, None], places + 1) - np.maximum(low[:, None], places)
    weights = np.maximum(covered, 0)
    return places.astype(np.int64), weights / weights.sum(axis=1, keepdims=True)


def _cubic(centres: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Places and weights of the cubic convolution with four taps."""
    places = np.floor(centres)[:, None] + np.arange(-1, 3)
    away = np.abs(centres[:, None] - places)
    near = ((_CUBIC + 2) * away - (_CUBIC + 3)) * away**2 + 1
    far = ((_CUBIC * away - 5 * _CUBIC) * away + 8 * _CUBIC) * away - 4 * _CUBIC
    return places.astype(np.int64), np.where(away <= 1, near, far)
