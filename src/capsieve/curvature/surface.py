r"""The frame as a smoothed surface z(row, col).

The derivatives of the smoothed surface are those of a Gaussian: central differences behind a
Gaussian of :math:`\sigma` pixels are off by about :math:`1 / (6 \sigma^2)` of their value, less
than half a percent at the scales in use.
"""

import math
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.paper.gaussian import Smoother, gaussian_taps
from capsieve.paper.kernels.strips import STRIP

__all__ = ["smoothed"]

_REACH = 4.0  # standard deviations; a cut nearer by would be seen in the second derivatives


def smoothed(frame: NDArray[np.float32], *, sigma: float) -> NDArray[np.float32]:
    """Return the frame behind a Gaussian, with mirrored (half-sample symmetric) borders."""
    half = math.ceil(_REACH * sigma)
    out = np.empty_like(frame)
    if min(frame.shape) >= max(STRIP, half + 1):
        _smoother(*frame.shape, sigma, half)(frame, out)
    else:  # the compiled filter mirrors a frame once, and takes it in strips
        side = (2 * half + 1, 2 * half + 1)
        cv2.GaussianBlur(frame, side, sigma, dst=out, borderType=cv2.BORDER_REFLECT)
    return out


@lru_cache(maxsize=64)
def _smoother(rows: int, cols: int, sigma: float, half: int) -> Smoother:
    return Smoother(rows, cols, gaussian_taps(sigma, half))
