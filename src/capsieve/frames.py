"""Pixels of a frame and their checks, the field of view, and the place of the working frame."""

import math
import warnings
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from xxhash import xxh3_128_hexdigest

from capsieve.errors import FrameError

_LARGEST_SIDE = 16384
_CIRCLE_SLACK = 2.0  # a field of view may exceed the frame by this number of pixels


FrameLike: TypeAlias = ArrayLike
"""Pixels of a frame: rows x columns (grey) or rows x columns x 3 or 4 (RGB, RGBA)."""

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


def checked_field_of_view(rows: int, cols: int, field_of_view: object) -> FieldOfView | None:
    """Return the field of view of a frame; None if it is None or has no confidence.

    Raises
    ------
    FrameError
        It is not a FieldOfView, or it does not fit a frame of this size.
    """
    if field_of_view is None:
        return None
    if not isinstance(field_of_view, FieldOfView):
        kind = type(field_of_view).__name__
        raise FrameError(f"field_of_view must be a FieldOfView or None, not {kind}")
    if field_of_view.confidence == 0:
        return None
    row, col, radius = field_of_view.row, field_of_view.col, field_of_view.radius
    reach = radius - _CIRCLE_SLACK
    if min(row, col) - reach < -0.5 or row + reach > rows - 0.5 or col + reach > cols - 0.5:
        raise FrameError(
            f"the field of view (row {row:g}, col {col:g}, radius {radius:g}) does not fit a frame "
            f"of {rows} x {cols} pixels; was it found on frames of another size?"
        )
    return field_of_view


@dataclass(frozen=True, slots=True)
class Placement:
    """The affine map from the working frame to the source's pixels.

    Coordinates are 0-based and refer to pixel centres: source = offset + scale * working.

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
        """Map a working position to (row, col) of the source."""
        return self.row_offset + self.row_scale * row, self.col_offset + self.col_scale * col

    def length_to_source(self, length: float) -> float:
        """Map a working length to source pixels, along a row."""
        return self.col_scale * length


def checked_pixels(
    frame: FrameLike, *, value_range: tuple[float, float] | None = None
) -> NDArray[np.uint8] | NDArray[np.float32]:
    """Return pixels on the scale 0..255 that a detector can use.

    Parameters
    ----------
    frame
        Grey, RGB or RGBA pixels; alpha is dropped.
    value_range
        The values of black and white. The default is 0..255 for uint8 and 0..65535 for uint16.
        All other types need it, because 0..1 and 0..255 cannot be distinguished safely.

    Returns
    -------
    array
        uint8 unchanged, other types as float32; rows x columns or rows x columns x 3.

    Raises
    ------
    FrameError
        Wrong dimensions, empty, too large, not numbers, not finite, or outside the range.

    Warns
    -----
    UserWarning
        A uint16 frame without `value_range` has no value above 255.
    """
    pixels = checked_array(frame)
    low, high = _checked_range(pixels.dtype, value_range)
    if pixels.dtype == np.uint8 and (low, high) == (0, 255):
        return np.ascontiguousarray(pixels)
    values = pixels.astype(np.float64, copy=False)
    smallest, largest = float(values.min()), float(values.max())
    if not (np.isfinite(smallest) and np.isfinite(largest)):
        raise FrameError("the frame contains NaN or infinite values")
    if smallest < low or largest > high:
        raise FrameError(
            f"the frame's values run from {smallest:g} to {largest:g}, outside the range "
            f"{low:g} to {high:g}; correct value_range"
        )
    if value_range is None and 0 < largest <= 255:
        warnings.warn(
            f"a 16-bit frame has no value above {largest:g} of 65535 and is nearly black; if its "
            "values have 8 bits, store it as uint8 or pass value_range=(0, 255)",
            stacklevel=3,
        )
    return np.ascontiguousarray((values - low) * (255.0 / (high - low)), dtype=np.float32)


def checked_array(frame: FrameLike) -> NDArray[Any]:
    """Return numbers of any type as rows x columns or rows x columns x 3; drop alpha.

    Raises
    ------
    FrameError
        Wrong dimensions, empty, too large, or not numbers.
    """
    if isinstance(frame, np.ma.MaskedArray):
        raise FrameError("the frame has masked pixels; fill them first")
    try:
        array = np.asarray(frame)
    except ValueError as error:
        raise FrameError("the rows of the frame differ in length") from error
    if array.dtype.kind not in "iuf":
        kind = array.dtype.name if array.ndim else type(frame).__name__
        raise FrameError(f"a frame must contain numbers, not {kind}")
    shape = " x ".join(str(side) for side in array.shape) or "a single number"
    if array.ndim == 3 and array.shape[2] in (1, 4):
        array = array[:, :, 0] if array.shape[2] == 1 else array[:, :, :3]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 3):
        advice = "; pass one frame at a time" if array.ndim == 4 else ""
        if array.ndim == 3 and array.shape[0] in (1, 3, 4):
            advice = "; move the channels to the last axis"
        raise FrameError(f"a frame is rows x columns [x 1, 3 or 4 channels], not {shape}{advice}")
    if array.size == 0:
        raise FrameError(f"the frame is empty ({shape})")
    if max(array.shape[:2]) > _LARGEST_SIDE:
        raise FrameError(f"the frame is {shape}; no side may exceed {_LARGEST_SIDE} pixels")
    return array


def _checked_range(
    dtype: np.dtype[Any], value_range: tuple[float, float] | None
) -> tuple[float, float]:
    if value_range is None:
        if dtype.kind == "u" and dtype.itemsize <= 2:  # uint8, and uint16 in either byte order
            return 0.0, 255.0 if dtype.itemsize == 1 else 65535.0
        raise FrameError(
            f"{dtype.name} frames need the values of black and white: pass value_range, for "
            "example (0, 1)"
        )
    try:
        low, high = (float(bound) for bound in value_range)
    except (OverflowError, TypeError, ValueError):
        low = high = np.nan
    if not (low < high and np.isfinite(high - low) and np.isfinite(255.0 / (high - low))):
        raise FrameError(f"value_range must be two finite numbers in order, not {value_range!r}")
    return low, high


def pixel_hash(pixels: NDArray[Any]) -> str:
    """Return the frame hash: xxh3_128 of the decoded pixels, row by row, in hexadecimal."""
    return xxh3_128_hexdigest(np.ascontiguousarray(pixels).data)
