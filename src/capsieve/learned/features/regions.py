"""The inside of a round patch, and the ring around it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.features.kernels.regions import region_sums
from capsieve.learned.features.planes import Plane

__all__ = ["Regions", "regions"]

_INSIDE = 0.85  # radii: the rim itself belongs to neither
_RING = (1.2, 1.75)


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """Some planes inside a patch and around it, in the mask; either may be empty.

    Attributes
    ----------
    inside, ring
        How many pixels.
    means, deviations
        Of each plane, (inside, ring); 0 of no pixel.
    """

    inside: int
    ring: int
    means: tuple[tuple[float, float], ...]
    deviations: tuple[tuple[float, float], ...]

    def pair(self, plane: int) -> tuple[float, float]:
        """Return a plane's means inside and around; both 0 where either is empty."""
        return self.means[plane] if self.inside and self.ring else (0.0, 0.0)

    def contrast(self, plane: int) -> float:
        """Return the mean inside less the mean around."""
        inside, ring = self.pair(plane)
        return inside - ring

    def log_contrast(self, plane: int, *, floor: float = 1e-3) -> float:
        """Return log(mean inside / mean around) of a plane without negative values."""
        inside, ring = self.pair(plane)
        return math.log((inside + floor) / (ring + floor))


def regions(
    mask: NDArray[np.bool_], planes: tuple[Plane, ...], row: float, col: float, radius: float
) -> Regions:
    """Measure planes inside and around a patch.

    Parameters
    ----------
    mask
        Where pixels count.
    planes
        Any number of them, of the mask's size.
    row, col, radius
        The patch, in their pixels.
    """
    ring = (_RING[0] * radius) ** 2, (_RING[1] * radius) ** 2
    sums = region_sums(planes, mask, float(row), float(col), (_INSIDE * radius) ** 2, ring)
    kinds = len(planes)
    each = sums[:, 1:] / np.maximum(sums[:, :1], 1.0)
    means, squares = each[:, :kinds], each[:, kinds:]
    deviations = np.sqrt(np.maximum(squares - means * means, 0.0))
    return Regions(int(sums[0, 0]), int(sums[1, 0]), _pairs(means), _pairs(deviations))


def _pairs(values: NDArray[np.float64]) -> tuple[tuple[float, float], ...]:
    inside, ring = values.tolist()
    return tuple(zip(inside, ring, strict=True))
