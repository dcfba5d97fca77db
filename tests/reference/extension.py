"""Linear extension outside the circular mask (section III-A, equations 1 and 2)."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from .mask import centre_offsets


def extend(f: np.ndarray, inside: np.ndarray, slope: float = 1.0) -> np.ndarray:
    """Solve grad f . r = slope outside the mask, upwind, with f inside the mask fixed.

    With a = |d_i| / rho and b = |d_j| / rho, one equation for each pixel outside the mask:

        a (f_ij - f_{i - sgn d_i, j}) + b (f_ij - f_{i, j - sgn d_j}) = slope

    The whole system is solved at once: with an odd side two pixels at |d| = 1/2 are each
    other's upwind neighbours, which no order of sweeping resolves.
    """
    f = np.asarray(f, dtype=np.float64)
    ny, nx = f.shape
    d_i, d_j = (np.broadcast_to(d, f.shape) for d in centre_offsets(ny, nx))
    rows, cols = np.nonzero(~inside)
    if rows.size == 0:
        return f.copy()
    unknown = np.full(f.shape, -1)
    unknown[rows, cols] = np.arange(rows.size)

    d_i, d_j = d_i[rows, cols], d_j[rows, cols]
    rho = np.hypot(d_i, d_j)
    a, b = np.abs(d_i) / rho, np.abs(d_j) / rho
    right_side = np.full(rows.size, slope, dtype=np.float64)
    n = np.arange(rows.size)
    entries, entry_rows, entry_cols = [a + b], [n], [n]
    upwind_neighbours = [
        (a, rows - np.sign(d_i).astype(int), cols),
        (b, rows, cols - np.sign(d_j).astype(int)),
    ]
    for coefficient, near_row, near_col in upwind_neighbours:
        # Where the coefficient is 0 the "neighbour" is the pixel itself: there is no term.
        present = coefficient > 0
        known = present & inside[near_row, near_col]
        right_side[known] += coefficient[known] * f[near_row[known], near_col[known]]
        solved_for = present & ~inside[near_row, near_col]
        entries.append(-coefficient[solved_for])
        entry_rows.append(n[solved_for])
        entry_cols.append(unknown[near_row[solved_for], near_col[solved_for]])

    positions = (np.concatenate(entry_rows), np.concatenate(entry_cols))
    system = sparse.csc_matrix((np.concatenate(entries), positions), shape=(n.size, n.size))
    extended = f.copy()
    extended[rows, cols] = spsolve(system, right_side)
    return extended
