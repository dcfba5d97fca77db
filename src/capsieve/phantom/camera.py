"""Lens of the capsule: a fisheye whose angle grows linearly with the distance from the centre."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

FIELDS = ("circle", "cut-square")
STEP = 4  # pixels between the nodes of the coarse grid
_HALF_ANGLE = math.radians(79)  # at the middle of a side: a field of 158 degrees


@dataclass(frozen=True)
class Lens:
    """Viewing directions in the camera's axes: right, down, forward."""

    size: int  # rows and columns
    field: str  # one of FIELDS
    rays: NDArray[np.float32]  # size x size x 3, unit vectors
    inside: NDArray[Any]  # whether a pixel is in the field of view
    # The same every `STEP` pixels, up to one node beyond the last pixel. A node is inside if any
    # pixel of its cells is.
    nodes: NDArray[np.float32]
    nodes_inside: NDArray[Any]
    falloff: NDArray[np.float32]  # transmission of the lens, 1 at the centre

    @property
    def pixels_per_radian(self) -> float:
        """Pixels per radian of viewing angle."""
        return _radius(self.size) / _HALF_ANGLE

    def project(self, directions: NDArray[Any]) -> NDArray[Any]:
        """Return row and column of directions (n x 3, camera's axes), also outside the field."""
        flat = np.hypot(directions[:, 0], directions[:, 1])
        angle = np.arctan2(flat, directions[:, 2])
        scale = angle * self.pixels_per_radian / np.maximum(flat, 1e-9)
        return (self.size - 1) / 2 + scale[:, np.newaxis] * directions[:, 1::-1]

    def contains(self, places: NDArray[Any]) -> NDArray[Any]:
        """Return whether rows and columns (n x 2) lie in the field of view."""
        centre = (self.size - 1) / 2
        return _in_field(places[:, 0] - centre, places[:, 1] - centre, self.size, self.field)


@lru_cache(maxsize=4)
def make_lens(size: int, field: str) -> Lens:
    """Return the lens for a frame size and a shape of the field of view."""
    axis = np.arange(size) - (size - 1) / 2
    rows, cols = np.meshgrid(axis, axis, indexing="ij")
    inside = _in_field(rows, cols, size, field)
    coarse = np.arange(0, size + STEP, STEP) - (size - 1) / 2
    cells = np.zeros((len(coarse) - 1,) * 2, bool)
    at = np.nonzero(inside)
    cells[at[0] // STEP, at[1] // STEP] = True
    padded = np.pad(cells, 1)
    distance = np.hypot(rows, cols) / _radius(size)
    return Lens(
        size=size,
        field=field,
        rays=_rays(rows, cols, size),
        inside=inside,
        nodes=_rays(*np.meshgrid(coarse, coarse, indexing="ij"), size),
        nodes_inside=padded[1:, 1:] | padded[:-1, 1:] | padded[1:, :-1] | padded[:-1, :-1],
        falloff=(1 / (1 + 0.25 * distance**2 + 0.10 * distance**6)).astype(np.float32),
    )


def _radius(size: int) -> float:
    return 0.49 * size


def _rays(rows: NDArray[Any], cols: NDArray[Any], size: int) -> NDArray[np.float32]:
    distance = np.hypot(rows, cols)
    angle = distance * (_HALF_ANGLE / _radius(size))
    scale = np.sin(angle) / np.maximum(distance, 1e-9)
    return np.stack([scale * cols, scale * rows, np.cos(angle)], axis=-1).astype(np.float32)


def _in_field(rows: NDArray[Any], cols: NDArray[Any], size: int, field: str) -> NDArray[Any]:
    reach = _radius(size)
    if field == "circle":
        return np.hypot(rows, cols) <= reach
    corner = np.abs(rows) + np.abs(cols) <= 1.66 * reach
    return corner & (np.maximum(np.abs(rows), np.abs(cols)) <= reach)
