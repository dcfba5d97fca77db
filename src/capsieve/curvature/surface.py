r"""The frame as a surface z(row, col), smoothed, and its derivatives.

The derivatives of the smoothed surface are those of a Gaussian: central differences behind a
Gaussian of :math:`\sigma` pixels are off by about :math:`1 / (6 \sigma^2)` of their value, less
than half a percent at the scales in use.
"""

import math
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["Derivatives", "differentiate", "smoothed"]

_REACH = 4.0  # standard deviations; a cut nearer by would be seen in the second derivatives


class Derivatives(NamedTuple):
    """First and second derivatives of a surface, each a plane: r from row to row, c along a row."""

    r: NDArray[Any]
    c: NDArray[Any]
    rr: NDArray[Any]
    rc: NDArray[Any]
    cc: NDArray[Any]


def smoothed(frame: NDArray[np.float32], *, sigma: float) -> NDArray[np.float32]:
    """Return the frame behind a Gaussian, with mirrored (half-sample symmetric) borders."""
    side = 2 * math.ceil(_REACH * sigma) + 1
    out = np.empty_like(frame)
    cv2.GaussianBlur(frame, (side, side), sigma, dst=out, borderType=cv2.BORDER_REFLECT)
    return out


def differentiate(surface: NDArray[Any]) -> Derivatives:
    """Return the central differences of a surface whose pixels have the side 1."""
    z: NDArray[Any] = np.pad(surface, 1, mode="symmetric")
    here, above, below = z[1:-1, 1:-1], z[:-2, 1:-1], z[2:, 1:-1]
    left, right = z[1:-1, :-2], z[1:-1, 2:]
    return Derivatives(
        r=(below - above) / 2,
        c=(right - left) / 2,
        rr=below - 2 * here + above,
        rc=(z[2:, 2:] - z[2:, :-2] - z[:-2, 2:] + z[:-2, :-2]) / 4,
        cc=right - 2 * here + left,
    )
