"""The colon's centreline: a smooth curve with flexures, and the frame that travels along it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.noise import field, generator

__all__ = ["Centreline", "make_centreline"]

_TIGHTEST = 0.019  # 1/mm: a bend of 53 mm, so that the tube never folds into itself


@dataclass(frozen=True)
class Centreline:
    """A curve with a sample per millimetre.

    Attributes
    ----------
    table
        float32, one row per millimetre: point, tangent, normal, binormal (x, y, z each). The normal
        turns as little as it can (parallel transport), so that angles around the tube do not twist.
    """

    table: NDArray[np.float32]

    @property
    def length_mm(self) -> float:
        """Return the length."""
        return float(len(self.table) - 1)

    def at(self, s: float) -> NDArray[Any]:
        """Return point, tangent, normal and binormal at s: the rows of a 4 x 3 array."""
        place = min(max(s, 0.0), self.length_mm - 1e-3)
        low = int(place)
        part = place - low
        rows = self.table[low : low + 2].astype(np.float64)
        return ((1 - part) * rows[0] + part * rows[1]).reshape(4, 3)


@lru_cache(maxsize=8)
def make_centreline(seed: int, length_mm: int) -> Centreline:
    """Return the centreline of one colon."""
    rng = generator(seed, "centreline")
    count = length_mm + 1
    bends = np.stack([field(rng, (count,), scale) for scale in (28, 32)])
    # Two flexures are the sharp bends of every colon: hepatic and splenic.
    s = np.arange(count)
    for place in (0.30, 0.56):
        at = (place + rng.uniform(-0.04, 0.04)) * length_mm
        turn = rng.uniform(0, 2 * np.pi)
        bump = np.exp(-(((s - at) / 38) ** 2))
        bends[0] += 2.6 * np.cos(turn) * bump
        bends[1] += 2.6 * np.sin(turn) * bump
    bends = 0.0075 * bends
    size = np.hypot(*bends)
    bends *= np.where(size > _TIGHTEST, _TIGHTEST / np.maximum(size, 1e-9), 1)

    frame = np.eye(3)
    table = np.zeros((count, 4, 3))
    for i in range(count):
        table[i, 1:] = frame
        if i:
            table[i, 0] = table[i - 1, 0] + 0.5 * (table[i - 1, 1] + frame[0])
        tangent = frame[0] + bends[0, i] * frame[1] + bends[1, i] * frame[2]
        tangent /= np.linalg.norm(tangent)
        normal = frame[1] - (frame[1] @ tangent) * tangent
        normal /= np.linalg.norm(normal)
        frame = np.stack([tangent, normal, np.cross(tangent, normal)])
    return Centreline(table.reshape(count, 12).astype(np.float32))
