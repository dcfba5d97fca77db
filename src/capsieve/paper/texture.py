r"""Cartoon + texture, texture energy and pre-selection (equations 3 to 6).

The split f = c + t is that of Buades et al. With G a Gaussian cut at :math:`2 \lceil\sigma\rceil`,
the low pass is :math:`L f = f - (I - G)^{n + 1} f`: n iterations need n + 1 high-pass passes. A
pixel is texture if the low pass removes much of the variation around it:

.. math::
    \lambda = (G|Df| - G|D(Lf)|) / G|Df|, \quad
    w = \mathrm{clip}(4 (\lambda - 1/4), 0, 1), \quad t = w (f - Lf).

:math:`\lambda = 0` where :math:`G|Df|` is at most one grey level. D is the central difference
without the factor 1/2, zero on the one-pixel border. Written from these formulas only; see NOTICE.

The texture energy is :math:`T = L_\sigma(|t|^p)`; t and T are zero outside the mask. A frame passes
pre-selection if :math:`T_L \le T_{max} \le T_U`.

A. Buades, T. Le, J.-M. Morel, L. Vese: Cartoon+Texture Image Decomposition, IPOL 2011.
"""

import math

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.filters import gaussian_filter, inverse, response, smooth
from capsieve.paper.kernels import pixels as kernels
from capsieve.paper.mask import CircularMask
from capsieve.results import Reason


def texture(
    frame: NDArray[np.float32],
    spectrum: NDArray[np.float32],
    sigma: float,
    iterations: int,
    mask: CircularMask,
) -> NDArray[np.float32]:
    """Return t inside the mask and 0 outside.

    Parameters
    ----------
    frame, spectrum
        f on 0..255 (the bound of one grey level would leave no texture in a frame on 0..1), and its
        :func:`~capsieve.paper.filters.spectrum`.
    sigma
        sigma_t; 0 makes G the identity, and t is 0.
    iterations
        n_iter.
    mask
        t is zero outside.
    """
    half = 2 * math.ceil(sigma)
    factors = response(frame.shape, sigma, half, highpass=iterations + 1)
    detail = inverse(spectrum, factors)  # f - Lf
    before, after = kernels.variations(frame, detail)
    before, after = (gaussian_filter(each, sigma, half, mask) for each in (before, after))
    return kernels.texture(detail, before, after, mask.starts, mask.stops)


def texture_energy(
    texture: NDArray[np.float32], mask: CircularMask, sigma: float, power: float, stencil: float
) -> tuple[NDArray[np.float32], float]:
    """Return T and T_max (equations 4 and 5).

    Parameters
    ----------
    texture
        t.
    mask
        T is zero outside.
    sigma, power
        sigma and p.
    stencil
        Half-width of L_sigma in sigmas.
    """
    powers = kernels.power(texture, mask.starts, mask.stops, np.float32(power))
    energy = smooth(powers, sigma, stencil, mask)
    return energy, float(kernels.mask_maximum(energy, mask.starts, mask.stops))


def preselection(texture_max: float, low: float, high: float) -> Reason | None:
    """Return the bound of T_max that a frame fails, None if it passes (equation 6)."""
    if texture_max < low:
        return "texture-low"
    return "texture-high" if texture_max > high else None
