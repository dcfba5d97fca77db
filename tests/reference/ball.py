"""The best-fit ball (section III-E, equations 23 to 27)."""

import numpy as np


def weighted_centre(u: np.ndarray, s_k: np.ndarray) -> tuple[float, float]:
    """Row and column, 0-based, of the centre of mass of u over the component."""
    rows, cols = np.nonzero(s_k)
    weights = u[rows, cols]
    total = weights.sum()
    return float((rows * weights).sum() / total), float((cols * weights).sum() / total)


def ball(shape: tuple[int, int], centre: tuple[float, float], radius: float) -> np.ndarray:
    """H(b) b with b_ij = (R^2 - (i - c_y)^2 - (j - c_x)^2) / Nx^2, over the whole frame."""
    ny, nx = shape
    centre_row, centre_col = centre
    i = np.arange(ny)[:, np.newaxis]
    j = np.arange(nx)[np.newaxis, :]
    b = (radius**2 - (i - centre_row) ** 2 - (j - centre_col) ** 2) / nx**2
    return np.where(b >= 0, b, 0.0)


def misfits(u: np.ndarray, centre: tuple[float, float]) -> np.ndarray:
    """Frobenius norms of u - H(b(R)) b(R) for R = 1, 2, ..., floor(Nx / 3)."""
    radii = range(1, u.shape[1] // 3 + 1)
    return np.array([np.sqrt(((u - ball(u.shape, centre, r)) ** 2).sum()) for r in radii])


def best_radius(u: np.ndarray, centre: tuple[float, float]) -> int:
    """R_opt: the first minimum of the misfit over the integers 1..floor(Nx / 3)."""
    return int(np.argmin(misfits(u, centre))) + 1
