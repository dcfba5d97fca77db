"""The circular mask and its centre (section III-A, equation 2)."""

import numpy as np


def centre_offsets(ny: int, nx: int) -> tuple[np.ndarray, np.ndarray]:
    """d_i = i - Ny/2 (a column) and d_j = j - Nx/2 (a row), with i and j counted from 1."""
    i = np.arange(1, ny + 1, dtype=np.float64)[:, np.newaxis]
    j = np.arange(1, nx + 1, dtype=np.float64)[np.newaxis, :]
    return i - ny / 2, j - nx / 2


def distance(ny: int, nx: int) -> np.ndarray:
    """rho_ij = sqrt(d_i^2 + d_j^2), the denominator of equation 2."""
    d_i, d_j = centre_offsets(ny, nx)
    return np.hypot(d_i, d_j)


def mask(ny: int, nx: int, mask_radius_fraction: float = 0.45) -> np.ndarray:
    """rho_ij <= R_mask with R_mask = fraction * Nx (parameter table)."""
    return distance(ny, nx) <= mask_radius_fraction * nx
