r"""The frame as a smoothed surface z(row, col).

The derivatives of the smoothed surface are those of a Gaussian: central differences behind a
Gaussian of :math:`\sigma` pixels are off by about :math:`1 / (6 \sigma^2)` of their value, less
than half a percent at the scales in use.
"""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.paper.filters import gaussian_filter
from capsieve.paper.mask import circular_mask

__all__ = ["smoothed"]

_REACH = 4.0  # standard deviations; a cut nearer by would be seen in the second derivatives


def smoothed(frame: NDArray[np.float32], *, sigma: float) -> NDArray[np.float32]:
    """Return the frame behind a Gaussian, with mirrored (half-sample symmetric) borders."""
    half = math.ceil(_REACH * sigma)
    if min(frame.shape) >= half:
        return gaussian_filter(frame, sigma, half, circular_mask(*frame.shape, math.inf))
    side = (2 * half + 1, 2 * half + 1)
    blurred = cv2.GaussianBlur(frame, side, sigma, borderType=cv2.BORDER_REFLECT)
    return np.asarray(blurred, np.float32)
