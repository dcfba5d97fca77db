r"""Domes: connected regions of a surface that bulge towards the viewer in both directions.

A point belongs to a dome where it is elliptic (K > 0), bulges (H > 0), has at least a certain shape
index, and is not all but flat. Folds are ridges and fall out. How much of a protrusion a dome is
tells the integral of its mean curvature,

.. math:: M = \int H \, dA,

taken as a radius :math:`R = M / (2 \pi)`: a half-ball of radius R has H = 1 / R on an area of
:math:`2 \pi R^2`, so that this is its radius. Two other measures are kept beside it: the total
curvature :math:`\int K \, dA / (2 \pi)`, which is the share of a half-ball's normals that the dome
has (1 for a half-ball of any size), and the largest :math:`\sigma \sqrt{K}` of a single point.
"""

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.curvature.constants import Constants
from capsieve.curvature.curvatures import Curvatures, curvatures, curvedness, shape_index
from capsieve.curvature.surface import differentiate, smoothed

__all__ = ["Dome", "Domes", "best_dome", "find_domes", "surface_of"]

_WHITE = 255.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dome:
    """A dome, in 0-based working pixels.

    Attributes
    ----------
    row, col
        Its middle: the mean of its points, weighted with H dA.
    pixels
        How many it covers.
    radius
        M / (2 pi).
    total
        Its total curvature, in half-balls.
    shape, curvedness
        Means over its points; the curvedness times the scale.
    sigma
        The scale that shows it.
    """

    row: float
    col: float
    pixels: int
    radius: float
    total: float
    shape: float
    curvedness: float
    sigma: float


@dataclass(frozen=True, slots=True, eq=False)
class Domes:
    """What one scale shows.

    Attributes
    ----------
    best
        The dome with the largest radius, the first of equals; None where there is none.
    peak
        The largest sigma sqrt(K) of a point of any dome, however small the dome; 0 for none.
    density
        H dA / (2 pi) at the points of domes that are large enough, else 0: it adds up to radii.
    """

    best: Dome | None
    peak: float
    density: NDArray[np.float32]


def surface_of(
    frame: NDArray[np.float32], *, sigma: float, constants: Constants
) -> NDArray[np.float32]:
    """Return the smoothed surface in working pixels, the height too."""
    return smoothed(frame, sigma=sigma) * np.float32(constants.height * frame.shape[1] / _WHITE)


def find_domes(
    frame: NDArray[np.float32],
    mask: NDArray[np.bool_],
    *,
    sigma: float,
    constants: Constants,
) -> Domes:
    """Return the domes of a pre-processed frame at one scale.

    Parameters
    ----------
    frame
        f, 0..255, extended beyond the mask.
    mask
        Where domes are looked for.
    sigma
        The scale, in working pixels.
    constants
        The rules.
    """
    found = curvatures(differentiate(surface_of(frame, sigma=sigma, constants=constants)))
    points = mask & _bulges(found, constants.least_shape)
    points &= _squared_curvedness(found) >= (constants.least_curvedness / sigma) ** 2
    highest = float(found.gaussian[points].max(initial=0.0))
    # Connected across edges: a bridge over a corner alone would join what is apart.
    labels = np.empty(points.shape, np.int32)
    count, _ = cv2.connectedComponents(points.astype(np.uint8), labels, connectivity=4)
    sizes = np.bincount(labels.ravel(), minlength=count)
    large = sizes >= constants.least_area * sigma**2
    large[0] = False  # what is no dome
    kept = large[labels]
    bulge = (kept * found.mean * found.area / (2 * math.pi)).astype(np.float32)
    best = None
    if kept.any():
        radii = np.bincount(labels.ravel(), bulge.ravel(), count)
        best = _measured(labels == radii.argmax(), bulge, found, sigma)
    return Domes(best, sigma * math.sqrt(highest), bulge)


def best_dome(
    frame: NDArray[np.float32], mask: NDArray[np.bool_], constants: Constants
) -> tuple[Dome | None, float, NDArray[np.float32]]:
    """Return the best dome of all scales, the largest peak, and the density of the best scale.

    Parameters
    ----------
    frame, mask, constants
        See :func:`find_domes`.
    """
    width = frame.shape[1]
    every = [
        find_domes(frame, mask, sigma=scale * width, constants=constants)
        for scale in constants.scales
    ]
    chosen = max(every, key=lambda domes: domes.best.radius if domes.best else 0.0)
    return chosen.best, max(domes.peak for domes in every), chosen.density


def _bulges(found: Curvatures, least_shape: float) -> NDArray[np.bool_]:
    """Whether a point is elliptic and its shape index at least so much, without the arctangent.

    s >= a, where a > 1/2, is H >= 0 and H^2 >= t^2 (H^2 - K) with t = tan(pi a / 2).
    """
    t_squared = math.tan(math.pi * least_shape / 2) ** 2
    bound = t_squared * found.gaussian
    return (found.gaussian > 0) & (found.mean > 0) & (bound >= (t_squared - 1) * found.mean**2)


def _squared_curvedness(found: Curvatures) -> NDArray[Any]:
    return 2 * found.mean**2 - found.gaussian


def _measured(
    where: NDArray[np.bool_], bulge: NDArray[Any], found: Curvatures, sigma: float
) -> Dome:
    """The dome that covers the given pixels."""
    rows, cols = np.nonzero(where)
    weights = bulge[where].astype(np.float64)
    radius = float(weights.sum())
    inside = Curvatures(*(plane[where].astype(np.float64) for plane in found))
    return Dome(
        row=float(weights @ rows) / radius,
        col=float(weights @ cols) / radius,
        pixels=len(rows),
        radius=radius,
        total=float(inside.gaussian @ inside.area) / (2 * math.pi),
        shape=float(shape_index(inside).mean()),
        curvedness=sigma * float(curvedness(inside).mean()),
        sigma=sigma,
    )
