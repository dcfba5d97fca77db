"""The paper's convolution operator L_sigma (section III-B, below equation 4)."""

import math

import numpy as np


def convolve_rows_then_columns(a: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Each row, then each column of the result, with one symmetric kernel of odd length.

    sum_m k_m a_{., n + m}; the mirror repeats the edge pixel (half-sample symmetric).
    """
    half_width = weights.size // 2
    n_rows, n_cols = a.shape

    padded = np.pad(a, [(0, 0), (half_width, half_width)], mode="symmetric")
    row_convolved = np.zeros(a.shape)
    for m, weight in enumerate(weights):
        row_convolved += weight * padded[:, m : m + n_cols]

    padded = np.pad(row_convolved, [(half_width, half_width), (0, 0)], mode="symmetric")
    convolved = np.zeros(a.shape)
    for m, weight in enumerate(weights):
        convolved += weight * padded[m : m + n_rows, :]
    return convolved


def kernel(sigma: float, stencil: float = 1.0) -> np.ndarray:
    """A Gaussian on a stencil of 2 ceil(stencil * sigma) + 1 pixels that sums to one.

    The paper has a stencil of 1.
    """
    half_width = math.ceil(stencil * sigma)
    m = np.arange(-half_width, half_width + 1)
    weights = np.exp(-(m**2) / (2 * sigma**2))
    return weights / weights.sum()


def gaussian(a: np.ndarray, sigma: float, stencil: float = 1.0) -> np.ndarray:
    """L_sigma a."""
    return convolve_rows_then_columns(np.asarray(a, dtype=np.float64), kernel(sigma, stencil))
