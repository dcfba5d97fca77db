"""A frame, and what may be called one."""

import math
from dataclasses import dataclass
from hashlib import sha1
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.errors import FrameError

__all__ = [
    "FieldOfView",
    "Frame",
    "FrameLike",
    "Placement",
    "ShapeName",
    "checked_numbers",
    "checked_pixels",
    "checked_shape",
    "pixel_hash",
]

_LARGEST_SIDE = 16384


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Pixels and where they come from.

    Attributes
    ----------
    pixels
        Rows x columns (grey) or rows x columns x 3 or 4 (RGB, RGBA).
    exam
        Name of the exam.
    head
        Which camera of the capsule, from 0.
    number
        Place in the decoded order, from 0.
    time
        Presentation time in seconds, None where it is unknown.
    """

    pixels: NDArray[Any]
    exam: str = ""
    head: int = 0
    number: int = 0
    time: float | None = None


FrameLike: TypeAlias = Frame | ArrayLike
"""A :class:`Frame` or its pixels."""


ShapeName: TypeAlias = Literal["circle", "cut-square", "rectangle", "full"]
"""Shapes of a field of view."""


@dataclass(frozen=True, slots=True)
class FieldOfView:
    """The largest circle inside the part of a frame that shows the gut.

    Attributes
    ----------
    shape
        Shape of the visible part: ``"circle"`` (a disc, possibly cut by the border of the image or
        by straight sides), ``"cut-square"`` (a rectangle with cut corners), ``"rectangle"``
        (straight sides and a surround) or ``"full"`` (no surround).
    row, col
        Centre of the circle in pixels of the source; the centre of the top left pixel is (0, 0).
    radius
        Radius of the circle in pixels of the source.
    confidence
        From 0 to 1. 0 means that there is no field of view: the whole frame is analysed.
        :func:`capsieve.find_field_of_view` says how it is computed.
    """

    shape: ShapeName
    row: float
    col: float
    radius: float
    confidence: float = 1.0

    def __post_init__(self) -> None:
        if self.shape not in get_args(ShapeName):
            names = ", ".join(get_args(ShapeName))
            raise FrameError(f"unknown shape {self.shape!r} of a field of view: use one of {names}")
        for name in ("row", "col", "radius", "confidence"):
            value = getattr(self, name)
            try:
                number = float(value)
            except (OverflowError, TypeError, ValueError):
                number = math.nan
            if not math.isfinite(number):
                raise FrameError(f"{name} of the field of view is not a finite number: {value!r}")
            # NumPy scalars cannot be written to JSON.
            object.__setattr__(self, name, number)
        if self.radius <= 0:
            raise FrameError(f"radius of the field of view must be positive, not {self.radius}")
        if not 0 <= self.confidence <= 1:
            raise FrameError(
                f"confidence of the field of view must lie between 0 and 1, not {self.confidence}"
            )


@dataclass(frozen=True, slots=True)
class Placement:
    """The affine map from the working grid to the source's pixels.

    Coordinates are 0-based and count pixel centres: source = offset + scale * working.

    Attributes
    ----------
    rows, cols
        Size of the working frame, Ny and Nx.
    row_scale, col_scale
        Source pixels per working pixel.
    row_offset, col_offset
        Source coordinates of the working frame's first pixel.
    """

    rows: int
    cols: int
    row_scale: float
    col_scale: float
    row_offset: float
    col_offset: float

    def to_source(self, row: float, col: float) -> tuple[float, float]:
        """Map a working position to the source's (row, col)."""
        return (
            self.row_offset + self.row_scale * row,
            self.col_offset + self.col_scale * col,
        )

    def length_to_source(self, length: float) -> float:
        """Map a working length to source pixels (along a row: the width is what is fixed)."""
        return self.col_scale * length


def checked_pixels(
    frame: FrameLike, *, value_range: tuple[float, float] | None = None
) -> NDArray[np.uint8] | NDArray[np.float32]:
    """Return pixels that the detector can work on, or say what is wrong with them.

    Parameters
    ----------
    frame
        Grey, RGB or RGBA pixels; alpha is dropped.
    value_range
        The values of black and white. By default 0..255 for uint8 and 0..65535 for uint16; every
        other type needs it stated, because 0..1 and 0..255 cannot be told apart safely.

    Returns
    -------
    array
        uint8 as it came, or float32 scaled to 0..255; rows x columns or rows x columns x 3.

    Raises
    ------
    FrameError
        Wrong dimensions, empty, absurdly large, not numbers, not finite, outside the range.
    """
    pixels = checked_shape(checked_numbers(frame.pixels if isinstance(frame, Frame) else frame))
    low, high = _checked_range(pixels.dtype, value_range)
    if pixels.dtype == np.uint8 and (low, high) == (0, 255):
        return np.ascontiguousarray(pixels)
    values = pixels.astype(np.float64, copy=False)
    smallest, largest = float(values.min()), float(values.max())
    if not (np.isfinite(smallest) and np.isfinite(largest)):
        raise FrameError("the frame holds NaN or infinite values")
    if smallest < low or largest > high:
        raise FrameError(
            f"the frame's values run from {smallest:g} to {largest:g}, outside the stated "
            f"range {low:g} to {high:g}"
        )
    return np.ascontiguousarray((values - low) * (255.0 / (high - low)), dtype=np.float32)


def checked_numbers(pixels: ArrayLike) -> NDArray[Any]:
    """Return an array of numbers, or say what it is instead."""
    if isinstance(pixels, np.ma.MaskedArray):
        raise FrameError("a frame has no masked pixels; fill them first")
    try:
        array = np.asarray(pixels)
    except ValueError as error:
        raise FrameError("the rows of the frame are not all of the same length") from error
    if array.dtype.kind not in "iuf":
        kind = array.dtype.name if array.ndim else type(pixels).__name__
        raise FrameError(f"a frame must hold numbers, not {kind}")
    return array


def checked_shape(pixels: NDArray[Any]) -> NDArray[Any]:
    """Return rows x columns or rows x columns x 3, or say what is wrong with the shape."""
    shape = " x ".join(str(side) for side in pixels.shape) or "a single number"
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.ndim == 3 and pixels.shape[2] == 4:
        pixels = pixels[:, :, :3]
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3):
        hint = (
            "; the channels come last"
            if pixels.ndim == 3 and pixels.shape[0] in (1, 3, 4)
            else "; give one frame at a time"
            if pixels.ndim == 4
            else ""
        )
        raise FrameError(
            f"a frame is rows x columns or rows x columns x 3 or 4 channels, not {shape}{hint}"
        )
    if pixels.size == 0:
        raise FrameError(f"the frame is empty ({shape})")
    if max(pixels.shape[:2]) > _LARGEST_SIDE:
        raise FrameError(f"the frame is {shape}; no side may exceed {_LARGEST_SIDE} pixels")
    return pixels


def pixel_hash(pixels: NDArray[Any]) -> str:
    """Return the SHA-1 of pixels, row by row: by it a frame is known again."""
    return sha1(np.ascontiguousarray(pixels).data, usedforsecurity=False).hexdigest()


def _checked_range(
    dtype: np.dtype[Any], value_range: tuple[float, float] | None
) -> tuple[float, float]:
    if value_range is None:
        if dtype.kind == "u" and dtype.itemsize <= 2:  # uint8 and, in either byte order, uint16
            return 0.0, 255.0 if dtype.itemsize == 1 else 65535.0
        raise FrameError(
            f"for {dtype.name} frames state the values of black and white, for instance "
            "value_range=(0, 1)"
        )
    try:
        low, high = (float(bound) for bound in value_range)
    except (OverflowError, TypeError, ValueError):
        low = high = np.nan
    if not (low < high and np.isfinite(high - low) and np.isfinite(255.0 / (high - low))):
        raise FrameError(f"value_range must be two finite numbers in order, not {value_range!r}")
    return low, high
