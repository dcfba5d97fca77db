r"""Domes: connected regions of a surface that bulge towards the viewer in both directions.

The frame is smoothed and taken as the graph of z(row, col). With :math:`w = 1 + z_r^2 + z_c^2`, and
curvatures positive for a bump towards the viewer (do Carmo, Differential Geometry of Curves and
Surfaces, section 3-3),

.. math::

    H = -\frac{(1 + z_c^2) z_{rr} - 2 z_r z_c z_{rc} + (1 + z_r^2) z_{cc}}{2 w^{3/2}}, \qquad
    K = \frac{z_{rr} z_{cc} - z_{rc}^2}{w^2}, \qquad
    k_{1, 2} = H \pm \sqrt{H^2 - K}.

Koenderink and van Doorn (Surface shape and curvature scales, Image and Vision Computing 1992)
separate shape from size. The shape index is -1 for a cup, -1/2 for a rut, 0 for a saddle, 1/2 for a
ridge and 1 for a cap; the curvedness is 0 for a plane only.

.. math::

    s = \frac{2}{\pi} \arctan \frac{k_1 + k_2}{k_1 - k_2}, \qquad
    c = \sqrt{(k_1^2 + k_2^2) / 2} = \sqrt{2 H^2 - K}.

A point belongs to a dome if K > 0, H > 0, and s and c are large enough. Folds are ridges and are
left out. The measure of a dome is the integral of its mean curvature as a radius,

.. math:: R = \frac{1}{2 \pi} \int H \, dA,

because a half-ball of radius R has H = 1 / R on an area of :math:`2 \pi R^2`.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import cv2
import numpy as np
import scipy.fft
from numpy.typing import NDArray

from capsieve.curvature.kernels import domes as kernels

_WHITE = 255.0
_REACH = 4.0  # standard deviations; a shorter kernel would be visible in second derivatives


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """Rules for domes. Lengths are in widths Nx of the working frame.

    They were chosen on the demo study of the phantom only; see docs/baselines.md.

    Attributes
    ----------
    scales
        Standard deviations of the Gaussians that smooth the surface.
    height
        Height of white above black. Curvature depends on it, and the optics do not determine it.
    least_shape
        Smallest shape index. Koenderink and van Doorn name shapes above 5/8 dome and cap, and
        shapes from 3/8 to 5/8 ridge.
    least_curvedness
        Smallest curvedness times scale; flatter points have no shape.
    least_area
        Smallest area of a dome in squares of its scale. The dome of a single bright point has 2.5.
    least_radius
        The score threshold. Nine of ten normal frames of the demo study have a smaller radius.
    """

    scales: tuple[float, ...] = (1 / 40, 1 / 25)
    height: float = 1 / 4
    least_shape: float = 5 / 8
    least_curvedness: float = 0.02
    least_area: float = 3.0
    least_radius: float = 0.0091


@dataclass(frozen=True, slots=True, kw_only=True)
class Dome:
    """A dome, in 0-based working pixels."""

    # Mean position of its points, weighted with H dA.
    row: float
    col: float
    pixels: int  # number of its pixels
    radius: float  # R, the integral of H dA / (2 pi)
    total: float  # the integral of K dA / (2 pi): 1 for a half-ball of any size
    # Means over its points; the curvedness times the scale.
    shape: float
    curvedness: float
    sigma: float  # the scale


@dataclass(frozen=True, slots=True, eq=False)
class Domes:
    """The domes of one scale."""

    best: Dome | None  # the dome with the largest radius, or None
    # The largest sigma sqrt(K) of any point of any dome, however small; 0 if there is none.
    peak: float
    # H dA / (2 pi) at the points of domes that are large enough, else 0. Its sum over a dome is the
    # radius.
    density: NDArray[np.float32]


class Curvatures(NamedTuple):
    """Mean curvature H, Gaussian curvature K, and area sqrt(w) of the surface over each pixel."""

    mean: NDArray[np.float64]
    gaussian: NDArray[np.float64]
    area: NDArray[np.float64]


def find_domes(
    frame: NDArray[np.float32], mask: NDArray[np.bool_], constants: Constants
) -> list[Domes]:
    """Find the domes of a pre-processed frame at each scale.

    Parameters
    ----------
    frame
        f, 0..255, extended outside the mask.
    mask
        Pixels to search.
    constants
        The scales and the rules.
    """
    sigmas = [scale * frame.shape[1] for scale in constants.scales]
    return [
        _domes(curvatures(surface), mask, sigma, constants)
        for surface, sigma in zip(surfaces(frame, constants), sigmas, strict=True)
    ]


def surfaces(frame: NDArray[np.float32], constants: Constants) -> list[NDArray[np.float64]]:
    """Return the surface smoothed at each scale, with heights in working pixels.

    The border is mirrored, edge pixel included: the DCT-II of a frame is the Fourier transform of
    the mirrored frame. In single precision, rounding would change curvatures in the third digit.
    """
    rows, cols = frame.shape
    spectrum = scipy.fft.dctn(frame.astype(np.float64), norm="ortho")
    spectrum *= constants.height * cols / _WHITE
    smooth = [spectrum * _response(rows, cols, scale * cols) for scale in constants.scales]
    return [np.asarray(scipy.fft.idctn(each, norm="ortho", overwrite_x=True)) for each in smooth]


def curvatures(surface: NDArray[np.float64]) -> Curvatures:
    """Return the curvatures by central differences; pixels have side 1.

    After a Gaussian of sigma pixels, central differences have a relative error of about
    1 / (6 sigma^2): less than half a percent at the scales in use.
    """
    return Curvatures(*kernels.curvatures(surface))


def shape_index(curvature: Curvatures) -> NDArray[np.float64]:
    """Return s, from -1 to 1; 0 for a plane, which has no shape."""
    return 2 / np.pi * np.arctan2(curvature.mean, _half_difference(curvature))


def curvedness(curvature: Curvatures) -> NDArray[np.float64]:
    """Return c, per pixel."""
    return np.hypot(curvature.mean, _half_difference(curvature))


def _half_difference(curvature: Curvatures) -> NDArray[np.float64]:
    """(k_1 - k_2) / 2; rounding may make the radicand slightly negative."""
    return np.sqrt(np.maximum(curvature.mean**2 - curvature.gaussian, 0))


@lru_cache(maxsize=64)
def _response(rows: int, cols: int, sigma: float) -> NDArray[np.float64]:
    """The factor of each DCT coefficient under a Gaussian."""
    half = math.ceil(_REACH * sigma)
    steps = np.arange(-half, half + 1)
    taps = np.exp(-(steps**2) / (2 * sigma**2))
    taps /= taps.sum()
    down, across = (
        np.cos(np.pi / size * np.outer(np.arange(size), steps)) @ taps for size in (rows, cols)
    )
    return np.outer(down, across)


def _domes(
    curvature: Curvatures, mask: NDArray[np.bool_], sigma: float, constants: Constants
) -> Domes:
    squared_tangent = math.tan(math.pi * constants.least_shape / 2) ** 2
    least_squared = (constants.least_curvedness / sigma) ** 2
    points = kernels.dome_points(
        curvature.mean, curvature.gaussian, mask, squared_tangent, least_squared
    )
    # 4-connected: a bridge across a corner would join separate domes.
    count, labels = cv2.connectedComponents(points, connectivity=4)
    density, radii, highest = kernels.dome_radii(
        labels, count, *curvature, constants.least_area * sigma**2
    )
    best = int(radii.argmax())
    dome = _measured(labels == best, density, curvature, sigma) if best else None
    return Domes(dome, sigma * math.sqrt(highest), density)


def _measured(
    inside: NDArray[np.bool_], density: NDArray[Any], curvature: Curvatures, sigma: float
) -> Dome:
    weight = density[inside].astype(np.float64)
    here = Curvatures(*(plane[inside] for plane in curvature))
    rows, cols = np.nonzero(inside)
    radius = float(weight.sum())
    return Dome(
        row=float(weight @ rows) / radius,
        col=float(weight @ cols) / radius,
        pixels=len(weight),
        radius=radius,
        total=float(here.gaussian @ here.area) / (2 * math.pi),
        shape=float(shape_index(here).mean()),
        curvedness=sigma * float(curvedness(here).mean()),
        sigma=sigma,
    )
