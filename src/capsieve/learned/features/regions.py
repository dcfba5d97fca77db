"""The inside of a round patch, and the ring around it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.features.view import Plane, View

__all__ = ["Regions", "regions"]

_INSIDE = 0.85  # radii: the rim itself belongs to neither
_RING = (1.2, 1.75)


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """Pixels inside a patch and around it, in the mask; either may be empty.

    Attributes
    ----------
    inside, ring
        Flat indices into a plane.
    """

    inside: NDArray[np.int64]
    ring: NDArray[np.int64]

    def means(self, plane: NDArray[Any]) -> tuple[float, float]:
        """Return the means inside and around; both the same where either is empty."""
        if not len(self.inside) or not len(self.ring):
            return 0.0, 0.0
        flat = plane.ravel()
        return float(flat[self.inside].mean()), float(flat[self.ring].mean())

    def contrast(self, plane: NDArray[Any]) -> float:
        """Return the mean inside less the mean around."""
        inside, ring = self.means(plane)
        return inside - ring

    def log_contrast(self, plane: Plane, *, floor: float = 1e-3) -> float:
        """Return log(mean inside / mean around) of a plane without negative values."""
        inside, ring = self.means(plane)
        return float(np.log((inside + floor) / (ring + floor)))


def regions(view: View, row: float, col: float, radius: float) -> Regions:
    """Return inside and ring of a patch at (row, col) of the view's planes."""
    rows, cols = view.mask.shape
    reach = _RING[1] * radius + 1.0
    top, bottom = max(0, int(row - reach)), min(rows, int(row + reach) + 2)
    left, right = max(0, int(col - reach)), min(cols, int(col + reach) + 2)
    down = np.arange(top, bottom, dtype=np.float64) - row
    across = np.arange(left, right, dtype=np.float64) - col
    square = (down**2)[:, None] + (across**2)[None, :]
    mask = view.mask[top:bottom, left:right]
    square = np.where(mask, square, np.inf)
    inside = square <= (_INSIDE * radius) ** 2
    ring = (square >= (_RING[0] * radius) ** 2) & (square <= (_RING[1] * radius) ** 2)
    return Regions(*(_flat(chosen, top, left, cols) for chosen in (inside, ring)))


def _flat(chosen: NDArray[np.bool_], top: int, left: int, cols: int) -> NDArray[np.int64]:
    row, col = np.nonzero(chosen)
    return (row + top) * cols + (col + left)
