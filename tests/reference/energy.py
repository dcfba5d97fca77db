"""The non-linear transform of the texture (section III-B, equation 4)."""

import math

import numpy as np

from .gaussian import gaussian


def default_sigma(nx: int) -> int:
    """sigma = ceil(Nx / 25) (parameter table)."""
    return math.ceil(nx / 25)


def energy(
    t: np.ndarray,
    inside: np.ndarray,
    *,
    sigma: float = 11.0,
    power: float = 0.8,
    stencil: float = 1.0,
) -> np.ndarray:
    """T = L_sigma(|t|^p), with t before and T after zeroed outside the mask."""
    t_inside = np.where(inside, t, 0.0)
    return np.where(inside, gaussian(np.abs(t_inside) ** power, sigma, stencil), 0.0)
