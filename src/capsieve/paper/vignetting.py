r"""Correction of vignetting in a single frame, after Zheng et al.

Model: :math:`Z(r, \theta) = I(r, \theta) V(r)`. The radial derivative of :math:`\ln Z` is that of
:math:`\ln I`, which is symmetric about zero and sparse, plus the slope of :math:`W = \ln V`. The
slopes :math:`g` minimise :math:`\sum |\psi_Z - \psi_V|^\alpha` plus a penalty on their differences,
by iteratively reweighted least squares with the weights
:math:`w = e^{-s_1} (1 - e^{-s_2})`, :math:`s_1 = |e|`, :math:`s_2 = \alpha s_1^{\alpha-1}`.

Y. Zheng, J. Yu, S. B. Kang, S. Lin, C. Kambhamettu: Single-image vignetting correction using radial
gradient symmetry, CVPR 2008. How it is set up on a masked capsule frame is capsieve's choice: the
voters are the pixels that lie inside the mask with their four neighbours, at least a pixel from the
centre; slopes stand at radii k + 1/2, linear in between.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.disc import Disc
from capsieve.paper.kernels import vignetting as kernels
from capsieve.paper.scratch import scratch

__all__ = ["correct_vignetting"]

_SMOOTHNESS = 0.3
_SOLVES = 4
_RIDGE = 1e-8


@dataclass(frozen=True, slots=True)
class _Setup:
    """What the correction needs of a mask, voters in the order of their radius."""

    ring_starts: NDArray[np.int64]
    places: NDArray[np.int32]
    row_offsets: NDArray[np.float32]
    col_offsets: NDArray[np.float32]
    half_inverse: NDArray[np.float32]
    fractions: NDArray[np.float32]
    first_diagonal: NDArray[np.float64]
    first_beside: NDArray[np.float64]
    penalty: float
    radius_weights: NDArray[np.float64]
    side_rows: NDArray[np.int64]
    col_sides: NDArray[np.int64]
    side_radii: NDArray[np.float32]
    reaches: NDArray[np.int64]


@lru_cache(maxsize=16)
def _setup(disc: Disc) -> _Setup:
    inside = np.pad(disc.mask, 1)
    votes = disc.mask & inside[2:, 1:-1] & inside[:-2, 1:-1] & inside[1:-1, 2:] & inside[1:-1, :-2]
    votes &= disc.distance >= 1.0
    rows, cols = np.nonzero(votes)
    distance = disc.distance[votes]
    radii = int(np.ceil(disc.distance[disc.mask].max(initial=0.0))) + 2
    slopes = radii - 1

    rings = np.floor(distance - 0.5).astype(np.int64)
    order = np.argsort(rings, kind="stable")
    rows, cols, distance, rings = rows[order], cols[order], distance[order], rings[order]
    fractions = distance - 0.5 - rings
    ring_starts = np.searchsorted(rings, np.arange(slopes + 1))

    def ring_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(rings, values, minlength=slopes)[:slopes].astype(np.float64)

    ahead, behind = ring_sums(fractions**2), ring_sums((1.0 - fractions) ** 2)
    first_diagonal = behind.copy()
    first_diagonal[1:] += ahead[:-1]

    # The mean of W over the mask's pixels, as weights of the W at whole radii.
    masked = disc.distance[disc.mask]
    below = np.floor(masked).astype(np.int64)
    part = masked - below
    radius_weights = np.bincount(below, 1.0 - part, minlength=radii)
    radius_weights += np.bincount(below + 1, part, minlength=radii)
    radius_weights /= max(len(masked), 1)

    # W depends on |d_i| and |d_j| only: a quarter of the disc is computed and then mirrored.
    row_lengths = np.unique(np.abs(disc.row_offsets))
    side_rows = np.full((len(row_lengths), 2), -1)
    for side, length in enumerate(row_lengths):
        found = np.flatnonzero(np.abs(disc.row_offsets) == length)
        side_rows[side, : len(found)] = found
    col_lengths, col_sides = np.unique(np.abs(disc.col_offsets), return_inverse=True)
    side_radii = np.hypot(row_lengths[:, None], col_lengths[None, :])
    reaches = (side_radii <= disc.radius).sum(axis=1)
    return _Setup(
        ring_starts=ring_starts,
        places=(rows * disc.cols + cols).astype(np.int32),
        row_offsets=disc.row_offsets.astype(np.float32),
        col_offsets=disc.col_offsets.astype(np.float32),
        # Nearer than a pixel nobody votes.
        half_inverse=(0.5 / np.maximum(disc.distance, 1.0)).astype(np.float32),
        fractions=fractions.astype(np.float32),
        first_diagonal=first_diagonal,
        first_beside=ring_sums(fractions * (1.0 - fractions))[:-1],
        penalty=(_SMOOTHNESS * 2.0 * len(rings) / radii) ** 2,
        radius_weights=radius_weights,
        side_rows=side_rows,
        col_sides=col_sides,
        side_radii=side_radii.astype(np.float32),
        reaches=reaches,
    )


def correct_vignetting(
    gray: NDArray[Any], disc: Disc, *, out: NDArray[np.float32] | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Divide out the fall-off of light inside the mask.

    Parameters
    ----------
    gray
        Z, float32 on 0..255, of the mask's size.
    disc
        The mask, whose centre is the optical centre.
    out
        Where to write; its pixels outside the mask are left alone.

    Returns
    -------
    corrected
        max((Z + 1) / exp(W) - 1, 0) inside the mask, Z outside it; not rounded, no upper bound.
    log_falloff
        W at radii 0, 1, 2, ... pixels; its mean over the mask is 0. All zero without voters.
    """
    gray = np.ascontiguousarray(gray, np.float32)
    out = gray.copy() if out is None else out
    setup = _setup(disc)
    derivative = scratch("derivative", setup.places.shape)
    kernels.radial_derivative(
        gray,
        setup.row_offsets,
        setup.col_offsets,
        setup.half_inverse,
        disc.spans.starts,
        disc.spans.stops,
        setup.places,
        scratch("work 1", gray.shape),
        scratch("work 2", gray.shape),
        derivative,
    )
    log_falloff = kernels.fit_falloff(
        derivative,
        setup.fractions,
        setup.ring_starts,
        setup.first_diagonal,
        setup.first_beside,
        setup.penalty,
        _RIDGE,
        _SOLVES,
        scratch("weights", setup.places.shape),
    )
    log_falloff -= setup.radius_weights @ log_falloff
    kernels.divide_falloff(
        gray,
        log_falloff,
        disc.spans.starts,
        disc.spans.stops,
        setup.side_rows,
        setup.col_sides,
        setup.side_radii,
        setup.reaches,
        scratch("falloff", (disc.cols,)),
        out,
    )
    return out, log_falloff
