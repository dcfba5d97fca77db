"""What is true of a frame: its label, the polyps in it, where the camera is, what spoils it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError

__all__ = ["FrameTruth", "LabelRule", "PolypTruth", "boxes_of"]

_STANDARD_SIZE = 512


@dataclass(frozen=True, kw_only=True)
class LabelRule:
    """When a frame is labelled "polyp": one polyp must meet every condition.

    Attributes
    ----------
    visible_part
        The least visible part of the polyp's own unoccluded silhouette.
    pixels
        The least number of visible pixels on a frame of 512 x 512; a frame of another size needs
        the same part of its area.
    farthest_mm
        The greatest distance from the camera to the polyp's centre: beyond some three
        centimetres a capsule's lamps show a reader little.
    """

    visible_part: float = 0.25
    pixels: float = 600.0
    farthest_mm: float = 32.0

    def __post_init__(self) -> None:
        if not 0 < self.visible_part <= 1:
            raise ParameterError("visible_part", f"is a part, 0 to 1, not {self.visible_part}")
        if not self.farthest_mm > 0:
            raise ParameterError("farthest_mm", f"is above 0, not {self.farthest_mm}")
        if self.pixels < 1:
            raise ParameterError("pixels", f"is at least 1, not {self.pixels}")

    def is_met(
        self, share: float, pixels: float, distance_mm: float, size: int, *, slack: float = 1.0
    ) -> bool:
        """Return whether a polyp counts as seen; a `slack` above 1 asks for so much more."""
        least = self.pixels * (size / _STANDARD_SIZE) ** 2
        part = min(slack * self.visible_part, 0.5 * (1 + self.visible_part))
        reach = self.farthest_mm / slack
        return share >= part and pixels >= slack * least and distance_mm <= reach


@dataclass(frozen=True, kw_only=True)
class PolypTruth:
    """One polyp on one frame.

    Attributes
    ----------
    id
        The polyp's number in the exam, from 1.
    pixels
        How many pixels show it.
    share
        The part of its silhouette that is seen: by solid angle, of what would be seen of it in all
        directions without folds and without the end of the field. What is inside the wall does not
        count; bubbles and liquid do not matter.
    box
        First row, first column, one past the last row, one past the last column.
    distance_mm
        From the camera to its nearest visible point.
    counts
        Whether it meets the rule, and so makes the frame a polyp frame.
    """

    id: int
    pixels: int
    share: float
    box: tuple[int, int, int, int]
    distance_mm: float
    counts: bool


@dataclass(frozen=True, kw_only=True)
class FrameTruth:
    """What is true of a frame.

    Attributes
    ----------
    number, head, time_s
        Which frame, from 0; the head; seconds since the first frame.
    label
        "polyp" or "normal".
    polyps
        Every polyp with at least one pixel, the largest first.
    spoiled
        What covers a fifth of the field or more: "bubbles", "liquid", "stool"; "wall" where the
        camera lies against it.
    position_mm
        Along the centreline, from the place where the exam begins.
    position, rotation
        The camera: x, y, z in mm; a 3 x 3 matrix by rows, whose columns are its right, down and
        forward in the world.
    motion
        "forward", "backward", "still", "tumble" or "contact".
    contraction
        Of the colon 25 mm ahead of the camera: 0 wide open, 1 closed.
    lumen
        The same in a word: "open", "narrow" or "closed".
    """

    number: int
    head: int
    time_s: float
    label: str
    polyps: tuple[PolypTruth, ...]
    spoiled: tuple[str, ...]
    position_mm: float
    position: tuple[float, ...]
    rotation: tuple[tuple[float, ...], ...]
    motion: str
    contraction: float
    lumen: str


def boxes_of(polyp_map: NDArray[np.uint8]) -> dict[int, tuple[int, tuple[int, int, int, int]]]:
    """Return pixel count and box of every polyp on a map, by its number."""
    found: dict[int, tuple[int, tuple[int, int, int, int]]] = {}
    for polyp in np.flatnonzero(np.bincount(polyp_map.ravel(), minlength=1)):
        if polyp == 0:
            continue
        mask = polyp_map == polyp
        rows, cols = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        box = (int(rows[0]), int(cols[0]), int(rows[-1]) + 1, int(cols[-1]) + 1)
        found[int(polyp)] = (int(np.count_nonzero(mask)), box)
    return found
