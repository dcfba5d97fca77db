"""Intensity normalisation (section III-A), after Zheng et al., CVPR 2008.

Z = I V(rho), W = ln V. With psi the radial derivative of the logarithm, psi_Z = psi_I + psi_V, and
psi_I is sparse and symmetric about 0: psi_V is a robust fit to psi_Z, and W is its integral.
"""

import numpy as np
from scipy import sparse

from .mask import centre_offsets, distance

DIAGONAL_GUARD = 1e-8


def radial_derivative(z: np.ndarray) -> np.ndarray:
    """psi_Z = grad(ln(Z + 1)) . r_hat by central differences; NaN where it is not defined."""
    log_z = np.log(z + 1)
    along_i = np.full(z.shape, np.nan)
    along_j = np.full(z.shape, np.nan)
    along_i[1:-1, :] = (log_z[2:, :] - log_z[:-2, :]) / 2
    along_j[:, 1:-1] = (log_z[:, 2:] - log_z[:, :-2]) / 2
    d_i, d_j = centre_offsets(*z.shape)
    rho = distance(*z.shape)
    rho = np.where(rho > 0, rho, np.nan)
    return (along_i * d_i + along_j * d_j) / rho


def voters(inside: np.ndarray) -> np.ndarray:
    """Pixels that lie, with their four neighbours, inside the mask, and have rho >= 1."""
    padded = np.pad(inside, 1, constant_values=False)
    neighbours = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return inside & neighbours & (distance(*inside.shape) >= 1)


def interpolation_matrix(rho: np.ndarray, n_slopes: int) -> sparse.csr_matrix:
    """P with (P g)_n = psi_V(rho_n): linear between the slopes g_k, which sit at k + 1/2."""
    position = rho - 0.5
    k = np.floor(position).astype(int)
    fraction = position - k
    n = np.arange(rho.size)
    values = np.concatenate([1 - fraction, fraction])
    rows_and_columns = (np.concatenate([n, n]), np.concatenate([k, k + 1]))
    return sparse.csr_matrix((values, rows_and_columns), shape=(rho.size, n_slopes))


def robust_weights(residual: np.ndarray, alpha: float) -> np.ndarray:
    """w = exp(-s1) (1 - exp(-s2)), s1 = |e|, s2 = alpha s1^(alpha - 1); w = 1 where e = 0."""
    s1 = np.abs(residual)
    with np.errstate(divide="ignore"):
        s2 = alpha * s1 ** (alpha - 1)
    return np.exp(-s1) * (1 - np.exp(-s2))


def fit_slopes(
    psi_z: np.ndarray, rho: np.ndarray, n_radii: int, smoothness: float, alpha: float, solves: int
) -> np.ndarray:
    """g minimising sum w^2 (psi_Z - P g)^2 + gamma sum (g_{k+1} - g_k)^2, reweighted.

    gamma = (smoothness * 2 * Np / NR)^2, Np voters, NR radii. The first solve has w = 1.
    """
    n_slopes = n_radii - 1
    gamma = (smoothness * 2 * rho.size / n_radii) ** 2
    interpolate = interpolation_matrix(rho, n_slopes)
    difference = np.diff(np.eye(n_slopes), axis=0)
    penalty = gamma * difference.T @ difference + DIAGONAL_GUARD * np.eye(n_slopes)
    w = np.ones(rho.size)
    slopes = np.zeros(n_slopes)
    for _ in range(solves):
        weighted = interpolate.T @ sparse.diags(w**2)
        slopes = np.linalg.solve((weighted @ interpolate).toarray() + penalty, weighted @ psi_z)
        w = robust_weights(psi_z - interpolate @ slopes, alpha)
    return slopes


def correct(
    z: np.ndarray,
    inside: np.ndarray,
    *,
    smoothness: float = 0.3,
    alpha: float = 0.6,
    solves: int = 4,
) -> tuple[np.ndarray, np.ndarray]:
    """f = max((Z + 1) / exp(W) - 1, 0) inside the mask, and W at the radii 0, 1, 2, ...

    W is the running sum of the slopes, linear between the radii, and has mean 0 over the mask.
    Pixels outside the mask are returned as they came: the extension replaces them.
    """
    z = np.asarray(z, dtype=np.float64)
    rho = distance(*z.shape)
    n_radii = int(np.ceil(rho[inside].max(initial=0))) + 2
    voting = voters(inside)
    if not voting.any():
        return z.copy(), np.zeros(n_radii)
    psi_z = radial_derivative(z)[voting]
    slopes = fit_slopes(psi_z, rho[voting], n_radii, smoothness, alpha, solves)
    w_radii = np.concatenate([[0.0], np.cumsum(slopes)])
    radii = np.arange(n_radii)
    w_radii = w_radii - np.interp(rho[inside], radii, w_radii).mean()
    corrected = z.copy()
    w_inside = np.interp(rho[inside], radii, w_radii)
    corrected[inside] = np.maximum((z[inside] + 1) / np.exp(w_inside) - 1, 0)
    return corrected, w_radii
