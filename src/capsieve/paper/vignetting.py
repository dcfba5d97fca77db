r"""Correction of vignetting in a single frame (section III-A), after Zheng et al.

The model is :math:`Z(r, \theta) = I(r, \theta) V(r)`, :math:`W = \ln V`. The radial derivative of
:math:`\ln Z` is the slope of W plus the derivative of :math:`\ln I`, which is symmetric about zero
and sparse. The slopes minimise :math:`\sum |\psi_Z - \psi_V|^\alpha` plus a penalty on their
differences, by four iteratively reweighted least-squares solves with the weights
:math:`w = e^{-s_1} (1 - e^{-s_2})`, :math:`s_1 = |e|`, :math:`s_2 = \alpha s_1^{\alpha - 1}`,
:math:`\alpha = 0.6`; w = 1 in the first solve, and the weights enter squared.

On a masked frame the voters are the pixels that are inside the mask with their four neighbours and
have a distance of 1 or more from the centre. The unknown slopes g_k are at the radii k + 1/2,
linear in between.

Y. Zheng, J. Yu, S. B. Kang, S. Lin, C. Kambhamettu: Single-image vignetting correction using radial
gradient symmetry, CVPR 2008.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.kernels import vignetting as kernels
from capsieve.paper.mask import CircularMask

_SMOOTHNESS = 0.3


def correct_vignetting(gray: NDArray[np.float32], mask: CircularMask) -> NDArray[np.float32]:
    """Divide by the fall-off of light.

    Parameters
    ----------
    gray
        Z on 0..255.
    mask
        Its centre is the optical centre.

    Returns
    -------
    array
        max((Z + 1) / V - 1, 0) inside the mask, arbitrary outside; not rounded, no upper bound.
    """
    table = _mask_radii(mask)
    inverse = kernels.inverse_falloff(log_falloff(gray, mask), table.firsts, table.beyond)
    return kernels.divide(gray, inverse, table.radius_of, mask.starts, mask.stops)


def log_falloff(gray: NDArray[np.float32], mask: CircularMask) -> NDArray[np.float64]:
    """Return W at the radii 0, 1, 2, ... pixels; its mean over the mask is 0.

    The arguments are those of :func:`correct_vignetting`. Without voters W is 0.
    """
    mean = _mask_radii(mask).mean
    derivative = kernels.radial_derivative(gray, *_directions(mask), mask.starts, mask.stops)
    slopes = kernels.fit_slopes(derivative, *_voters(mask))
    log = np.zeros(len(mean))
    np.cumsum(slopes, out=log[1:])
    return log - mean @ log


@lru_cache(maxsize=16)
def _directions(mask: CircularMask) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """d_j / (2 rho) and d_i / (2 rho)."""
    half = 0.5 / np.maximum(mask.distance, 1)
    across, down = mask.col_offsets * half, mask.row_offsets[:, None] * half
    return across.astype(np.float32), down.astype(np.float32)


@lru_cache(maxsize=16)
def _voters(mask: CircularMask) -> tuple[Any, ...]:
    """Groups of mirror images: places, present, rings, parts and penalty of `fit_slopes`."""
    inside = np.pad(mask.inside, 1)
    neighbours = inside[2:, 1:-1] & inside[:-2, 1:-1] & inside[1:-1, 2:] & inside[1:-1, :-2]
    row, col = np.nonzero(mask.inside & neighbours & (mask.distance >= 1))
    # Pixels with the same pair of |d_i| and |d_j|, in either order, form a group.
    sides = np.sort(np.abs([mask.row_offsets[row], mask.col_offsets[col]]), axis=0)
    order = np.lexsort((*sides, np.hypot(*sides)))
    row, col, sides = row[order], col[order], sides[:, order]
    group = np.cumsum((np.diff(sides, prepend=-1) != 0).any(axis=0)) - 1
    groups = int(group.max(initial=-1)) + 1
    image = np.arange(len(group)) - np.searchsorted(group, group)
    place = (row * mask.cols + col).astype(np.uint32)
    # A missing image has the place of the first one: the derivative is undefined elsewhere.
    places = np.tile(place[image == 0], (8, 1))
    present, radius = np.zeros((8, groups), np.float32), np.zeros(groups)
    places[image, group] = place
    present[image, group] = 1
    radius[group] = np.hypot(*sides)
    ring = np.floor(radius - 0.5)
    radii = _radii(mask)
    penalty = (2 * _SMOOTHNESS * len(row) / radii) ** 2
    return places, present, np.searchsorted(ring, np.arange(radii)), radius - 0.5 - ring, penalty


class _MaskRadii(NamedTuple):
    """The distinct radii inside a mask.

    `radius_of` is the number of each pixel's radius. Radii in [k, k + 1) are k plus those of
    `beyond` from firsts[k] on. `mean` are the weights of W at whole radii in the mean of W.
    """

    radius_of: NDArray[Any]
    firsts: NDArray[np.int64]
    beyond: NDArray[np.float64]
    mean: NDArray[np.float64]


@lru_cache(maxsize=16)
def _mask_radii(mask: CircularMask) -> _MaskRadii:
    radii = _radii(mask)
    distinct, which = np.unique(mask.distance[mask.inside], return_inverse=True)
    whole = np.floor(distinct).astype(np.int64)
    beyond, share = distinct - whole, np.bincount(which) / max(len(which), 1)
    radius_of = np.zeros(mask.inside.shape, np.uint16 if len(distinct) < 2**16 else np.uint32)
    radius_of[mask.inside] = which
    mean = np.zeros(radii)
    mean += np.bincount(whole, share * (1 - beyond), radii)
    mean += np.bincount(whole + 1, share * beyond, radii)
    return _MaskRadii(radius_of, np.searchsorted(whole, np.arange(radii)), beyond, mean)


def _radii(mask: CircularMask) -> int:
    """The number of whole radii at which W is known."""
    return int(np.ceil(mask.distance[mask.inside].max(initial=0))) + 2
