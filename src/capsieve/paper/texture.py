r"""Cartoon + texture, after Buades, Le, Morel and Vese, and the paper's texture energy.

With G a Gaussian cut at two sigma, the low pass is :math:`L f = f - (I - G)^{n+1} f`. Where
smoothing takes away much of the local variation, the pixel is texture:

.. math::
    \lambda = (G|Df| - G|D(Lf)|) / G|Df|, \quad
    w = \mathrm{clip}(4 (\lambda - 1/4), 0, 1), \quad t = w (f - Lf), \quad c = f - t.

:math:`\lambda = 0` where :math:`G|Df| \le 1` grey level. D is the central difference without the
factor 1/2, zero on the border. Written from these formulas alone; see NOTICE.

A. Buades, T. Le, J.-M. Morel, L. Vese: Cartoon+Texture Image Decomposition, IPOL 2011.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.disc import Disc, Spans, grown, whole
from capsieve.paper.gaussian import Smoother, gaussian_taps, smoother
from capsieve.paper.kernels import texture as kernels
from capsieve.paper.kernels.strips import STRIP
from capsieve.paper.scratch import scratch

__all__ = ["CartoonTexture", "cartoon_texture", "texture_energy"]


class CartoonTexture(NamedTuple):
    """f = cartoon + texture, and the low pass."""

    lowpass: NDArray[np.float32]
    cartoon: NDArray[np.float32]
    texture: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Split:
    """The smoothers of the split: each step is computed where the next ones need it."""

    steps: tuple[Smoother, ...]
    variation: Smoother


def _split(rows: int, cols: int, sigma: float, iterations: int, wanted: Spans) -> _Split:
    half = 2 * math.ceil(sigma)
    taps = gaussian_taps(sigma, half)
    variation = Smoother(rows, cols, taps, wanted)
    steps: list[Smoother] = []
    # |D(Lf)| is smoothed over `half` pixels and looks one pixel further.
    needed = grown(wanted, cols, by_rows=half + 1, by_cols=half + 1)
    for _ in range(iterations + 1):
        steps.append(Smoother(rows, cols, taps, needed))
        needed = grown(needed, cols, by_rows=half, by_cols=half)
    return _Split(tuple(reversed(steps)), variation)


@lru_cache(maxsize=16)
def _whole_split(rows: int, cols: int, sigma: float, iterations: int) -> _Split:
    return _split(rows, cols, sigma, iterations, whole(rows, cols))


@lru_cache(maxsize=64)
def _disc_split(disc: Disc, sigma: float, iterations: int) -> _Split:
    return _split(disc.rows, disc.cols, sigma, iterations, disc.spans)


def _detail_and_variation(
    frame: NDArray[np.float32], split: _Split
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return f - Lf, G|Df| and G|D(Lf)| in scratch buffers."""
    detail, other = frame, scratch("work 1", frame.shape)
    spare = scratch("work 2", frame.shape)
    for step in split.steps:
        step.residual(detail, other)
        detail, other, spare = other, spare, other
    variation = split.variation
    before, after = scratch("work 3", frame.shape), scratch("work 4", frame.shape)
    kernels.smoothed_variations(
        frame,
        detail,
        variation.taps,
        variation.wanted.starts,
        variation.wanted.stops,
        variation.lines.starts,
        variation.lines.stops,
        variation.block(),
        variation.plane(),
        scratch("variations", (STRIP, frame.shape[1])),
        before,
        after,
    )
    return detail, before, after


def cartoon_texture(
    frame: NDArray[Any], *, sigma: float = 5.0, iterations: int = 5
) -> CartoonTexture:
    """Split a frame into cartoon and texture.

    Parameters
    ----------
    frame
        f on 0..255. (The guard is in grey levels: a frame on 0..1 would have no texture at all.)
    sigma
        sigma_t; 0 makes G the identity, and the texture zero.
    iterations
        n_iter; 5 means six factors I - G.
    """
    frame = np.ascontiguousarray(frame, np.float32)
    split = _whole_split(*frame.shape, sigma, iterations)
    detail, before, after = _detail_and_variation(frame, split)
    texture = np.empty_like(frame)
    kernels.texture(detail, before, after, texture)
    return CartoonTexture(frame - detail, frame - texture, texture)


def texture_energy(
    frame: NDArray[np.float32],
    mask: Disc,
    *,
    texture_sigma: float = 5.0,
    iterations: int = 5,
    energy_sigma: float = 11.0,
    power: float = 0.8,
    out: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], float]:
    r"""Return :math:`T = L_\sigma(|t|^p)` and its maximum, from the pre-processed frame.

    t is zeroed outside the mask before :math:`L_\sigma`, and T after it.
    """
    out = np.zeros_like(frame) if out is None else out
    split = _disc_split(mask, texture_sigma, iterations)
    detail, before, after = _detail_and_variation(frame, split)
    powers = scratch("work 5", frame.shape)
    kernels.texture_power(
        detail,
        before,
        after,
        mask.spans.starts,
        mask.spans.stops,
        np.float32(power),
        powers,
    )
    smoother(*frame.shape, energy_sigma, mask)(powers, out)
    return out, float(kernels.masked_maximum(out, mask.spans.starts, mask.spans.stops))
