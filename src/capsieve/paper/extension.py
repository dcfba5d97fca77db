r"""Linear extension of the frame outside the mask.

The upwind discretisation of :math:`\nabla f \cdot \hat r = q` (q = 1 in the paper) with f fixed
inside the mask. With :math:`a = |d_i| / \rho`, :math:`b = |d_j| / \rho`,

.. math:: f_{ij} = (q + a f_{i - \mathrm{sgn} d_i, j} + b f_{i, j - \mathrm{sgn} d_j}) / (a + b).

Swept outwards both neighbours are known, so that one pass solves the system. Where the centre lies
between two rows (or columns), those two are each other's neighbours and are solved together.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FrameError
from capsieve.paper.disc import Disc
from capsieve.paper.kernels import extension as kernels

__all__ = ["extend"]

_SMALLEST_RADIUS = 2.0  # below it the two pairs around the centre could meet


@lru_cache(maxsize=16)
def _coefficients(disc: Disc) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return a / (a + b) and 1 / (a + b); the pixel in the centre, if any, is never used."""
    rows = np.abs(disc.row_offsets)[:, None]
    total = rows + np.abs(disc.col_offsets)[None, :]
    total = np.where(total == 0.0, 1.0, total)
    return (rows / total).astype(np.float32), (disc.distance / total).astype(np.float32)


def extend(
    frame: NDArray[Any],
    disc: Disc,
    *,
    slope: float = 1.0,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Extend the values inside the mask to the whole frame.

    Parameters
    ----------
    frame
        f inside the mask; outside it is not read.
    disc
        The mask.
    slope
        q, grey levels per pixel; 0 is constant along rays.
    out
        Where to write; may be `frame` itself.
    """
    if disc.radius < _SMALLEST_RADIUS:
        raise FrameError(f"a mask of radius {disc.radius:g} pixels is too small to extend")
    if out is None:
        out = np.array(frame, np.float32, order="C")
    elif out is not frame:
        out[...] = frame
    along, lift = _coefficients(disc)
    kernels.extend(
        out,
        disc.row_offsets,
        disc.col_offsets,
        disc.spans.starts,
        disc.spans.stops,
        along,
        lift,
        np.float32(slope),
    )
    return out
