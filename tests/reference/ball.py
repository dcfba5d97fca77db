"""The best-fit ball (section III-E, equations 23 to 27), as printed and as other readings have it.

"printed" is the printed ball, "feature" the printed ball fitted to u within the component, and
"hemisphere" a half-ball with its true height, which is the square root of the printed one.
"""

import numpy as np


def weighted_centre(u: np.ndarray, s_k: np.ndarray) -> tuple[float, float]:
    """Row and column, 0-based, of the centre of mass of u over the component."""
    rows, cols = np.nonzero(s_k)
    weights = u[rows, cols]
    total = weights.sum()
    return float((rows * weights).sum() / total), float((cols * weights).sum() / total)


def ball(
    shape: tuple[int, int], centre: tuple[float, float], radius: float, fit: str = "printed"
) -> np.ndarray:
    """H(b) b with b_ij = (R^2 - (i - c_y)^2 - (j - c_x)^2) / Nx^2, over the whole frame.

    For "hemisphere" its square root.
    """
    ny, nx = shape
    centre_row, centre_col = centre
    i = np.arange(ny)[:, np.newaxis]
    j = np.arange(nx)[np.newaxis, :]
    b = (radius**2 - (i - centre_row) ** 2 - (j - centre_col) ** 2) / nx**2
    cut = np.where(b >= 0, b, 0.0)
    return np.sqrt(cut) if fit == "hemisphere" else cut


def misfits(u: np.ndarray, centre: tuple[float, float], fit: str = "printed") -> np.ndarray:
    """Frobenius norms of u - H(b(R)) b(R) for R = 1, 2, ..., floor(Nx / 3)."""
    radii = range(1, u.shape[1] // 3 + 1)
    return np.array([np.sqrt(((u - ball(u.shape, centre, r, fit)) ** 2).sum()) for r in radii])


def best_radius(
    u: np.ndarray, s_k: np.ndarray, centre: tuple[float, float], fit: str = "printed"
) -> int:
    """R_opt: the first minimum of the misfit over the integers 1..floor(Nx / 3)."""
    fitted = np.where(s_k, u, 0.0) if fit == "feature" else u
    return int(np.argmin(misfits(fitted, centre, fit))) + 1
