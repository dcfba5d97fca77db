"""Mid-pass filter, threshold and binary segmentation (section III-C, equations 7 to 11)."""

import numpy as np

from .gaussian import gaussian

DARK = 1e-6


def midpass(
    f: np.ndarray,
    inside: np.ndarray,
    *,
    fine_sigma: float = 7.0,
    coarse_sigma: float = 30.0,
    stencil: float = 1.0,
) -> np.ndarray:
    """u = H(w) w, w = L_sigma1 f / L_sigma2 f - 1; u is zero outside the mask.

    w = 0 where L_sigma2 f <= 1e-6: a black frame has no relative prominence.
    """
    numerator = gaussian(f, fine_sigma, stencil)
    denominator = gaussian(f, coarse_sigma, stencil)
    w = np.zeros(f.shape)
    lit = denominator > DARK
    w[lit] = numerator[lit] / denominator[lit] - 1
    u = np.where(w >= 0, w, 0.0)
    return np.where(inside, u, 0.0)


def threshold(u: np.ndarray, *, low: float = 0.11, high: float = 0.16) -> float:
    """Theta = max(min(max(u) / 2, M_U), M_L)."""
    return max(min(float(u.max()) / 2, high), low)


def segmentation(u: np.ndarray, theta: float) -> np.ndarray:
    """s = H(u - Theta), as booleans."""
    return u >= theta
