r"""The mid-pass filter and the segmentation threshold (equations 7 to 11).

.. math::
    u = \max(w, 0), \quad w = L_{\sigma_1} f / L_{\sigma_2} f - 1, \quad
    \Theta = \max(\min(\max u / 2, M_U), M_L).

u is zero outside the mask and where :math:`L_{\sigma_2} f \le 10^{-6}`.
"""

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.kernels import pixels as kernels
from capsieve.paper.mask import CircularMask


def midpass(
    fine: NDArray[np.float32], coarse: NDArray[np.float32], mask: CircularMask
) -> tuple[NDArray[np.float32], float]:
    """Return u and its maximum.

    Parameters
    ----------
    fine, coarse
        The frame smoothed with sigma_1 and with sigma_2; values outside the mask are not used.
    mask
        u is zero outside.
    """
    u = kernels.positive_ratio(fine, coarse, mask.starts, mask.stops)
    return u, float(kernels.mask_maximum(u, mask.starts, mask.stops))


def segmentation_threshold(midpass_max: float, low: float, high: float) -> float:
    """Return Theta. If max u is below M_L, Theta is M_L and nothing is segmented."""
    return max(min(0.5 * midpass_max, high), low)
