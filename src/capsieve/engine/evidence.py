"""What is kept of a frame: its mean colour, and small pictures of flagged ones."""

import math
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.frame_images import eight_bits, jpeg, shrink
from capsieve.frames import FieldOfView

__all__ = [
    "MAP_SIDE",
    "THUMBNAIL_WIDTH",
    "mean_colour",
    "signature",
    "small_map",
    "thumbnail",
]

THUMBNAIL_WIDTH = 192
"""Columns of a thumbnail, where the frame has more."""

MAP_SIDE = 32
"""Columns or rows of a kept evidence map, whichever are more: it has no finer detail."""

_SAMPLES_ACROSS = 48  # pixels looked at across the field: a mean colour needs no more
_SIGNATURE_SIDE = 16
_QUALITY = 85


def mean_colour(
    pixels: NDArray[Any], field_of_view: FieldOfView | None
) -> tuple[float, float, float]:
    """Return mean red, green and blue inside the field of view, 0..255."""
    rows, cols = _grid(pixels.shape[0], pixels.shape[1], field_of_view)
    mean = pixels[rows, cols].mean(axis=0) * (255 / np.iinfo(pixels.dtype).max)
    red, green, blue = np.broadcast_to(mean, 3) if mean.ndim == 0 else mean[:3]
    return float(red), float(green), float(blue)


def signature(pixels: NDArray[Any]) -> bytes:
    """Return a tiny grey picture, by which near copies are known."""
    side = (_SIGNATURE_SIDE, _SIGNATURE_SIDE)
    small = cv2.resize(eight_bits(pixels), side, interpolation=cv2.INTER_AREA)
    grey = small if small.ndim == 2 else small[:, :, :3].mean(axis=2).round().astype(np.uint8)
    return grey.tobytes()


def thumbnail(pixels: NDArray[Any]) -> bytes:
    """Return the whole frame as a small JPEG."""
    return jpeg(shrink(eight_bits(pixels), width=THUMBNAIL_WIDTH), quality=_QUALITY)


def small_map(values: NDArray[np.float32]) -> bytes:
    """Return an evidence map as a small grey PNG: black at its middle value, white at its top.

    Every map has its own scale: it tells where in the frame, not how much.
    """
    small = shrink(np.nan_to_num(values), side=MAP_SIDE)
    low, high = float(np.median(small)), float(small.max())
    span = high - low
    levels = np.clip((small - low) / span, 0, 1) if span > 0 else np.zeros_like(small)
    ok, encoded = cv2.imencode(".png", np.rint(255 * levels).astype(np.uint8))
    return encoded.tobytes() if ok else b""


@lru_cache(maxsize=16)
def _grid(
    rows: int, cols: int, field_of_view: FieldOfView | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of pixels evenly spread over the circle that the camera sees."""
    row, col, radius = (rows - 1) / 2, (cols - 1) / 2, min(rows, cols) / 2
    if field_of_view is not None and field_of_view.confidence > 0:
        row, col, radius = field_of_view.row, field_of_view.col, field_of_view.radius
    step = max(1, math.floor(2 * radius / _SAMPLES_ACROSS))
    r, c = np.mgrid[0:rows:step, 0:cols:step]
    inside = (r - row) ** 2 + (c - col) ** 2 < (0.95 * radius) ** 2
    return (r[inside], c[inside]) if inside.any() else (r.ravel(), c.ravel())
