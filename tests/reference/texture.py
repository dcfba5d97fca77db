"""Cartoon + texture (section III-B, equation 3), after Buades, Le, Morel, Vese, IPOL 2011."""

import math

import numpy as np

from .gaussian import convolve_rows_then_columns

GRADIENT_GUARD = 1.0
SOFT_THRESHOLD_LOW = 0.25
SOFT_THRESHOLD_WIDTH = 0.25


def kernel(sigma: float) -> np.ndarray:
    """k_m proportional to exp(-m^2 / (2 sigma^2)), |m| <= 2 ceil(sigma), sum 1.

    Cut at 2 sigma: not the kernel of L_sigma. sigma = 0 is the identity.
    """
    if sigma == 0:
        return np.ones(1)
    half_width = 2 * math.ceil(sigma)
    m = np.arange(-half_width, half_width + 1)
    weights = np.exp(-(m**2) / (2 * sigma**2))
    return weights / weights.sum()


def smooth(a: np.ndarray, sigma: float) -> np.ndarray:
    """G a: rows, then columns, half-sample symmetric boundary."""
    weights = kernel(sigma)
    half_width = weights.size // 2
    if min(a.shape) < half_width:
        raise ValueError(f"frame of {a.shape} is smaller than the half-width {half_width}")
    return convolve_rows_then_columns(a, weights)


def lowpass(f: np.ndarray, sigma: float, iterations: int) -> np.ndarray:
    """L f = f - (I - G)^(iterations + 1) f."""
    d = f - smooth(f, sigma)
    for _ in range(iterations):
        d = d - smooth(d, sigma)
    return f - d


def gradient_magnitude(a: np.ndarray) -> np.ndarray:
    """|Da| by central differences without the factor 1/2; zero on the one-pixel border."""
    magnitude = np.zeros(a.shape)
    across_columns = a[1:-1, 2:] - a[1:-1, :-2]
    across_rows = a[2:, 1:-1] - a[:-2, 1:-1]
    magnitude[1:-1, 1:-1] = np.sqrt(across_columns**2 + across_rows**2)
    return magnitude


def cartoon_texture(
    f: np.ndarray, *, sigma: float = 5.0, iterations: int = 5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(L f, c, t) with f = c + t: t = w (f - L f), c = w L f + (1 - w) f.

    lambda = (r1 - r2) / r1 is the relative loss of total variation, r1 = G |Df|,
    r2 = G |D L f|; w rises from 0 at lambda = 1/4 to 1 at lambda = 1/2.
    """
    f = np.asarray(f, dtype=np.float64)
    low = lowpass(f, sigma, iterations)
    r1 = smooth(gradient_magnitude(f), sigma)
    r2 = smooth(gradient_magnitude(low), sigma)
    relative_loss = np.zeros(f.shape)
    # In grey levels of 0..255: where there is hardly any variation the ratio is only noise.
    varied = r1 > GRADIENT_GUARD
    relative_loss[varied] = (r1[varied] - r2[varied]) / r1[varied]
    w = np.clip((relative_loss - SOFT_THRESHOLD_LOW) / SOFT_THRESHOLD_WIDTH, 0, 1)
    return low, w * low + (1 - w) * f, w * (f - low)
