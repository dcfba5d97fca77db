r"""Curvatures of a surface from its differences.

For the graph z(row, col) with :math:`w = 1 + z_r^2 + z_c^2` and the normal that points away from
the viewer, so that a bump towards the viewer has positive curvature (do Carmo, Differential
Geometry of Curves and Surfaces, section 3-3):

.. math::

    H = -\frac{(1 + z_c^2) z_{rr} - 2 z_r z_c z_{rc} + (1 + z_r^2) z_{cc}}{2 w^{3/2}}, \qquad
    K = \frac{z_{rr} z_{cc} - z_{rc}^2}{w^2}, \qquad
    k_{1, 2} = H \pm \sqrt{H^2 - K}.

Koenderink and van Doorn (Surface shape and curvature scales, Image and Vision Computing 1992)
separate shape from size: the shape index is -1 for a cup, -1/2 for a rut, 0 for a saddle, 1/2 for
a ridge and 1 for a cap; the curvedness is 0 for a plane alone.

.. math::

    s = \frac{2}{\pi} \arctan \frac{k_1 + k_2}{k_1 - k_2}, \qquad
    c = \sqrt{(k_1^2 + k_2^2) / 2} = \sqrt{2 H^2 - K}.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.curvature.kernels.curvatures import write_curvatures

__all__ = ["Curvatures", "curvatures", "curvedness", "principal", "shape_index"]


class Curvatures(NamedTuple):
    """Mean curvature H, Gaussian curvature K and the area of the surface over each pixel."""

    mean: NDArray[Any]
    gaussian: NDArray[Any]
    area: NDArray[Any]


def curvatures(surface: NDArray[Any]) -> Curvatures:
    """Return H, K and the element of area sqrt(w), from central differences.

    Parameters
    ----------
    surface
        float32 or float64, of pixels with the side 1; beyond its border it is mirrored.
    """
    found = Curvatures(*(np.empty_like(surface) for _ in range(3)))
    write_curvatures(surface, *found)
    return found


def principal(found: Curvatures) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return k_1 and k_2, the larger one first."""
    spread = _spread(found)
    return found.mean + spread, found.mean - spread


def shape_index(found: Curvatures) -> NDArray[Any]:
    """Return s, from -1 to 1; 0 where the surface is a plane and has no shape."""
    return 2 / np.pi * np.arctan2(found.mean, _spread(found))


def curvedness(found: Curvatures) -> NDArray[Any]:
    """Return c, in one over the length of a pixel."""
    # H^2 + (H^2 - K): both are 0 or more, however they were rounded.
    return np.hypot(found.mean, _spread(found))


def _spread(found: Curvatures) -> NDArray[Any]:
    """Half of k_1 - k_2; rounding may leave a little below 0 under the root."""
    return np.sqrt(np.maximum(found.mean * found.mean - found.gaussian, 0))
