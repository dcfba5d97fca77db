r"""Gaussian filters: L_sigma of the paper (section III-B) and G of the cartoon + texture split.

They differ in the half-width at which the kernel is cut: :math:`\lceil c\,\sigma\rceil` for L_sigma
with a stencil of c sigmas (1 in the paper), :math:`2 \lceil\sigma\rceil` for G. Borders are
mirrored, edge pixel included (half-sample symmetric). The DCT-II of a frame mirrored like that is
its Fourier transform, so a symmetric filter multiplies each coefficient by a number. Long filters
are computed this way and share the spectrum of the frame. Short filters are faster as a plain sum,
inside the mask only.
"""

from functools import lru_cache

import cv2
import numpy as np
import scipy.fft
from numpy.typing import NDArray

from capsieve.errors import FrameError
from capsieve.paper.kernels import pixels as kernels
from capsieve.paper.mask import CircularMask
from capsieve.parameters import half_width

_LONGEST_SUM = 14  # half-width; the compiler does not unroll longer sums


def smooth(
    frame: NDArray[np.float32],
    sigma: float,
    stencil: float,
    mask: CircularMask,
    coefficients: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Return L_sigma f inside the mask, arbitrary values outside; sigma = 0 is the identity.

    `stencil` is the half-width of the kernel in sigmas. The other arguments are those of
    :func:`gaussian_filter`.
    """
    return gaussian_filter(frame, sigma, half_width(sigma, stencil), mask, coefficients)


def gaussian_filter(
    frame: NDArray[np.float32],
    sigma: float,
    half: int,
    mask: CircularMask,
    coefficients: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Apply a Gaussian of 2 half + 1 taps along rows and columns.

    Parameters
    ----------
    frame
        At least `half` pixels high and wide.
    sigma, half
        Standard deviation and half-width of the kernel in pixels.
    mask
        The result is arbitrary outside.
    coefficients
        The :func:`spectrum` of the frame if it is known; long filters use it.
    """
    if min(frame.shape) < half:
        raise FrameError(
            f"a frame of {frame.shape[0]} x {frame.shape[1]} pixels is too small for a filter of "
            f"half-width {half}"
        )
    if half > _LONGEST_SUM:
        coefficients = spectrum(frame) if coefficients is None else coefficients
        return inverse(coefficients, response(frame.shape, sigma, half))
    taps = _sum_taps(sigma, half)
    return kernels.filter_separable(frame, taps, mask.block_starts, mask.block_stops)


def gaussian_taps(sigma: float, half: int) -> NDArray[np.float64]:
    """Return k_0 .. k_half of the kernel exp(-m^2 / (2 sigma^2)) with 2 half + 1 taps and sum 1."""
    taps = np.exp(-(np.arange(half + 1) ** 2) / (2 * sigma**2)) if sigma else np.ones(1)
    return taps / (taps[0] + 2 * taps[1:].sum())


@lru_cache(maxsize=256)
def _sum_taps(sigma: float, half: int) -> tuple[np.float32, ...]:
    return tuple(gaussian_taps(sigma, half).astype(np.float32))


@lru_cache(maxsize=64)
def response(
    shape: tuple[int, ...], sigma: float, half: int, *, highpass: int = 0
) -> NDArray[np.float32]:
    """Return the factor of each DCT coefficient under a Gaussian G of 2 half + 1 taps.

    With `highpass` passes it is the factor under (I - G)^highpass.
    """
    taps = gaussian_taps(sigma, half)
    steps = np.arange(1, len(taps))
    rows, cols = (
        taps[0] + 2 * np.cos(np.pi / size * np.outer(np.arange(size), steps)) @ taps[1:]
        for size in shape
    )
    factors = np.outer(rows, cols)
    return ((1 - factors) ** highpass if highpass else factors).astype(np.float32)


def spectrum(frame: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the orthonormal DCT-II of a frame."""
    dct = scipy.fft.dctn(frame, norm="ortho") if _is_odd(frame.shape) else cv2.dct(frame)
    return np.asarray(dct, np.float32)


def inverse(coefficients: NDArray[np.float32], factors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the inverse DCT of coefficients * factors."""
    product = cv2.multiply(coefficients, factors)
    frame = scipy.fft.idctn(product, norm="ortho") if _is_odd(factors.shape) else cv2.idct(product)
    return np.asarray(frame, np.float32)


def _is_odd(shape: tuple[int, ...]) -> bool:
    """Whether OpenCV, which is faster than SciPy, has no DCT of this size."""
    return bool(shape[0] % 2 or shape[1] % 2)
