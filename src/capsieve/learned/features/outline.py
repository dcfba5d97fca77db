"""What follows from the circular mask alone, at half the working width: the same for an exam."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Outline", "outline"]


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """The mask of a view. Each is made once, so that what is derived from it can be remembered.

    Attributes
    ----------
    mask
        The circular mask; at least one pixel.
    distance
        From the mask's centre, in radii of the mask.
    starts, stops
        The mask's columns in each row: [starts[i], stops[i]).
    count
        Pixels of the mask.
    """

    mask: NDArray[np.bool_]
    distance: NDArray[np.float32]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    count: int


@lru_cache(maxsize=32)
def outline(rows: int, cols: int, centre_row: float, centre_col: float, radius: float) -> Outline:
    """Return the mask of that radius; centre and radius are those of the working frame."""
    down = 2.0 * np.arange(rows) + 0.5 - centre_row
    across = 2.0 * np.arange(cols) + 0.5 - centre_col
    distance = (np.hypot(down[:, None], across[None, :]) / radius).astype(np.float32)
    mask = distance <= 1.0
    for array in (mask, distance):
        array.flags.writeable = False
    filled = mask.any(axis=1)
    starts = np.where(filled, mask.argmax(axis=1), 0)
    stops = np.where(filled, cols - mask[:, ::-1].argmax(axis=1), 0)
    return Outline(mask, distance, starts, stops, int(mask.sum()))
