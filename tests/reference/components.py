"""Connected components and their geometry (sections III-C and III-D, equations 12 to 19)."""

import math

import numpy as np

DEGENERATE = 1e-9


def connected_components(s: np.ndarray) -> tuple[np.ndarray, int]:
    """Labels 1..N_C (0: not in s) of the 8-connected components, by flood fill, and N_C.

    Numbered in the order in which a scan down the columns, from left to right, meets them.
    """
    ny, nx = s.shape
    labels = np.zeros(s.shape, dtype=int)
    n_components = 0
    for col, row in np.argwhere(s.T):
        if labels[row, col]:
            continue
        n_components += 1
        labels[row, col] = n_components
        to_visit = [(int(row), int(col))]
        while to_visit:
            i, j = to_visit.pop()
            for near_i in range(max(i - 1, 0), min(i + 2, ny)):
                for near_j in range(max(j - 1, 0), min(j + 2, nx)):
                    if s[near_i, near_j] and not labels[near_i, near_j]:
                        labels[near_i, near_j] = n_components
                        to_visit.append((near_i, near_j))
    return labels, n_components


def size(s_k: np.ndarray) -> int:
    """S = sum of s_ij (equation 15)."""
    return int(s_k.sum())


def centre_of_mass(s_k: np.ndarray) -> tuple[float, float]:
    """Mean row and mean column of the component's pixels, 0-based (equation 17)."""
    rows, cols = np.nonzero(s_k)
    return float(rows.sum() / rows.size), float(cols.sum() / cols.size)


def inertia_tensor(s_k: np.ndarray) -> np.ndarray:
    """I = sum [[y^2, -x y], [-x y, x^2]] about the centre of mass (equation 18).

    Over the component's own pixels: the printed sum would add terms for all the others.
    """
    centre_row, centre_col = centre_of_mass(s_k)
    rows, cols = np.nonzero(s_k)
    y = rows - centre_row
    x = cols - centre_col
    return np.array([[(y * y).sum(), -(x * y).sum()], [-(x * y).sum(), (x * x).sum()]])


def eccentricity(tensor: np.ndarray) -> float:
    """E = lambda_max / lambda_min (equation 19); infinite for points and lines."""
    lambda_min, lambda_max = np.linalg.eigvalsh(tensor)
    if lambda_min <= DEGENERATE * lambda_max:
        return math.inf
    return float(lambda_max / lambda_min)
