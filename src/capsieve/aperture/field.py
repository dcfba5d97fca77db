"""FieldOfView: the circle that the analysis works on."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from capsieve.errors import FrameError

__all__ = ["FieldOfView", "ShapeName"]

ShapeName = Literal["circle", "cut-square", "rectangle", "full"]


@dataclass(frozen=True, slots=True)
class FieldOfView:
    """The largest circle inside the visible part of a frame.

    Parameters
    ----------
    shape
        What the visible part looks like: ``"circle"`` (a disc, also one cut by the border of the
        image or by straight sides), ``"cut-square"`` (a rectangle with cut corners),
        ``"rectangle"`` (straight sides, with a surround) or ``"full"`` (no surround was found).
    row, col
        Centre of the circle in pixels of the source, 0-based: the centre of the top left pixel
        is (0, 0).
    radius
        Radius of the circle in pixels of the source.
    confidence
        From 0 (nothing could be told) to 1. See :func:`capsieve.field_of_view`.
    """

    shape: ShapeName
    row: float
    col: float
    radius: float
    confidence: float = 1.0

    def __post_init__(self) -> None:
        if self.shape not in get_args(ShapeName):
            names = ", ".join(get_args(ShapeName))
            raise FrameError(f"unknown shape of the field of view {self.shape!r}: one of {names}")
        for name in ("row", "col", "radius", "confidence"):
            value = getattr(self, name)
            try:
                number = float(value)
            except (OverflowError, TypeError, ValueError):
                number = math.nan
            if not math.isfinite(number):
                raise FrameError(f"{name} of the field of view is not a finite number: {value!r}")
            # NumPy scalars would leak into JSON and into printed results.
            object.__setattr__(self, name, number)
        if self.radius <= 0:
            raise FrameError(f"radius of the field of view must be positive, not {self.radius}")
        if not 0 <= self.confidence <= 1:
            raise FrameError(f"confidence must lie between 0 and 1, not {self.confidence}")
