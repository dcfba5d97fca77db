r"""The mid-pass filter.

.. math:: u = \max(w, 0), \qquad w = L_{\sigma_1} f / L_{\sigma_2} f - 1,

zero outside the mask, and where :math:`L_{\sigma_2} f \le 10^{-6}` (equations 7 to 9).
"""

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.disc import Disc
from capsieve.paper.gaussian import smoother
from capsieve.paper.kernels import midpass as kernels

__all__ = ["midpass", "smooth_inside"]


def smooth_inside(
    frame: NDArray[np.float32],
    disc: Disc,
    *,
    sigma: float,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Return L_sigma f inside the mask; outside it the values are arbitrary."""
    out = np.empty_like(frame) if out is None else out
    smoother(*frame.shape, sigma, disc)(frame, out)
    return out


def midpass(
    fine: NDArray[np.float32],
    coarse: NDArray[np.float32],
    disc: Disc,
    *,
    out: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], float]:
    """Return u and its maximum.

    Parameters
    ----------
    fine, coarse
        The frame smoothed with sigma_1 and with sigma_2, see :func:`smooth_inside`.
    disc
        The mask.
    out
        Where to write.
    """
    out = np.empty_like(fine) if out is None else out
    highest = kernels.positive_ratio(fine, coarse, disc.spans.starts, disc.spans.stops, out)
    return out, float(highest)
