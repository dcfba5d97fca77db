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

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.curvature.constants import Constants
from capsieve.curvature.curvatures import Curvatures, curvatures
from capsieve.curvature.kernels.domes import mark_points, measure, weigh
from capsieve.curvature.surface import smoothed

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
    found = curvatures(surface_of(frame, sigma=sigma, constants=constants))
    mean, gaussian, area = (plane.ravel() for plane in found)
    points = np.empty(mask.shape, np.uint8)
    highest = mark_points(
        mean,
        gaussian,
        mask.ravel(),
        np.float32(math.tan(math.pi * constants.least_shape / 2) ** 2),
        np.float32((constants.least_curvedness / sigma) ** 2),
        points.ravel(),
    )
    # Connected across edges: a bridge over a corner alone would join what is apart.
    labels = np.empty(points.shape, np.int32)
    count, _ = cv2.connectedComponents(points, labels, connectivity=4)
    density = np.empty(points.shape, np.float32)
    least, share = constants.least_area * sigma**2, np.float32(1 / (2 * math.pi))
    best = weigh(labels.ravel(), count, mean, area, least, share, density.ravel())
    dome = _measured(labels, best, density, found, sigma) if best else None
    return Domes(dome, sigma * math.sqrt(highest), density)


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


def _measured(
    labels: NDArray[np.int32],
    label: int,
    density: NDArray[np.float32],
    found: Curvatures,
    sigma: float,
) -> Dome:
    """The dome of that label."""
    pixels, radius, row, col, total, shape, bend = measure(labels, label, density, *found).tolist()
    return Dome(
        row=row / radius,
        col=col / radius,
        pixels=int(pixels),
        radius=radius,
        total=total / (2 * math.pi),
        shape=shape / pixels,
        curvedness=sigma * bend / pixels,
        sigma=sigma,
    )
