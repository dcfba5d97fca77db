r"""The mid-pass filter.

.. math:: u = \max(w, 0), \qquad w = L_{\sigma_1} f / L_{\sigma_2} f - 1,

zero outside the mask, and where :math:`L_{\sigma_2} f \le 10^{-6}` (equations 7 to 9).
"""

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.disc import Disc
from capsieve.paper.gaussian import smoother
from capsieve.paper.kernels import midpass as kernels
from capsieve.paper.scratch import scratch

__all__ = ["midpass"]


def midpass(
    frame: NDArray[np.float32],
    disc: Disc,
    *,
    fine: float = 7.0,
    coarse: float = 30.0,
    out: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], float]:
    """Return u and its maximum.

    Parameters
    ----------
    frame
        f, the pre-processed frame.
    disc
        The mask.
    fine, coarse
        sigma_1 < sigma_2.
    """
    out = np.empty_like(frame) if out is None else out
    fine_frame, coarse_frame = scratch("work 1", frame.shape), scratch("work 2", frame.shape)
    rows, cols = frame.shape
    smoother(rows, cols, fine, disc)(frame, fine_frame)
    smoother(rows, cols, coarse, disc)(frame, coarse_frame)
    largest = kernels.positive_ratio(
        fine_frame, coarse_frame, disc.spans.starts, disc.spans.stops, out
    )
    return out, float(largest)
