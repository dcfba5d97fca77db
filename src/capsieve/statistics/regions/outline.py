"""Points inside outlines: boxes, polygons and masks, brought to the frame's size."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources.image_file import read_image
from capsieve.statistics.regions.region import Box, MaskFile, Polygon, Region

__all__ = ["Misfit", "Outline", "outline_of"]

Size = tuple[int, int]
Floats = NDArray[np.float64]

_PNG = b"\x89PNG\r\n\x1a\n"
_STRAY = 1.0  # pixels by which sizes may differ, and outlines may leave the frame


class Misfit(Exception):  # noqa: N818 - it never leaves this room, where it is counted
    """An outline that cannot be used: one sentence without a final stop."""


class Outline:
    """An outline in the pixels of its frame; whole coordinates are centres of pixels.

    Parameters
    ----------
    shape
        A box, a polygon, or a mask as an array of truth values.
    scale
        Rows and columns of the frame per row and column of the shape.
    """

    def __init__(
        self, shape: Box | Polygon | NDArray[np.bool_], scale: tuple[float, float]
    ) -> None:
        self._shape = shape
        self._scale = scale

    def holds(self, row: Floats, col: Floats) -> NDArray[np.bool_]:
        """Whether each point of the frame lies inside; NaN never does."""
        row = (row + 0.5) / self._scale[0] - 0.5
        col = (col + 0.5) / self._scale[1] - 0.5
        shape = self._shape
        if isinstance(shape, Box):
            inside = (shape.row0 <= row) & (row <= shape.row1)
            return inside & (shape.col0 <= col) & (col <= shape.col1)
        if isinstance(shape, Polygon):
            return np.any([_inside_ring(ring, row, col) for ring in shape.rings], axis=0)
        return _inside_mask(shape, row, col)


def outline_of(region: Region, frame: Size, masks: dict[str, NDArray[Any]]) -> Outline:
    """Return an outline that fits its frame.

    Sizes that differ by no more than a pixel are the same. An outline that was drawn on a picture
    of another size, but of the same proportions, is scaled.

    Parameters
    ----------
    region
        One polyp on one frame.
    frame
        Rows and columns of the frame; 0 where unknown.
    masks
        Holds the mask that was opened last: a file may show several polyps.

    Raises
    ------
    Misfit
        The mask cannot be read, is empty or full, or the outline does not fit the frame.
    """
    shape = region.shape
    if isinstance(shape, MaskFile):
        mask = _mask(shape, masks)
        return Outline(mask, _scale((mask.shape[0], mask.shape[1]), frame))
    if shape.relative:
        if not all(frame):
            raise Misfit("the size of the frame is not known")
        whole, pixels = (1, 1), _in_pixels(shape, frame)
        scale = (1.0, 1.0)
    else:
        whole, pixels = region.size, shape
        scale = (1.0, 1.0) if whole is None else _scale(whole, frame)
    if all(frame):
        _check_inside(pixels, (frame[0] / scale[0], frame[1] / scale[1]))
    return Outline(pixels, scale)


def _scale(drawn: Size, frame: Size) -> tuple[float, float]:
    rows, cols = frame
    if not (rows and cols):
        raise Misfit("the size of the frame is not known")
    if abs(drawn[0] - rows) <= _STRAY and abs(drawn[1] - cols) <= _STRAY:
        return 1.0, 1.0
    factor = cols / drawn[1]
    if abs(rows - drawn[0] * factor) > max(_STRAY, factor):  # either side may have been rounded
        raise Misfit("the outline was drawn on a picture of other proportions than the frame")
    return rows / drawn[0], factor


def _in_pixels(shape: Box | Polygon, frame: Size) -> Box | Polygon:
    rows, cols = frame
    if isinstance(shape, Box):
        return Box(
            shape.row0 * rows - 0.5,
            shape.col0 * cols - 0.5,
            shape.row1 * rows - 0.5,
            shape.col1 * cols - 0.5,
        )
    return Polygon(
        tuple(
            tuple((row * rows - 0.5, col * cols - 0.5) for row, col in ring) for ring in shape.rings
        )
    )


def _check_inside(shape: Box | Polygon, size: tuple[float, float]) -> None:
    if isinstance(shape, Box):
        corners: Sequence[tuple[float, float]] = (
            (shape.row0, shape.col0),
            (shape.row1, shape.col1),
        )
    else:
        corners = [corner for ring in shape.rings for corner in ring]
    for place in (0, 1):
        low, high = -0.5 - _STRAY, size[place] - 0.5 + _STRAY
        if not all(low <= corner[place] <= high for corner in corners):
            raise Misfit("the outline reaches beyond the frame by more than a pixel")


def _inside_ring(
    ring: tuple[tuple[float, float], ...], row: Floats, col: Floats
) -> NDArray[np.bool_]:
    """Count crossings of a ray along the row: an odd number means inside."""
    inside = np.zeros(len(row), bool)
    for (row0, col0), (row1, col1) in zip(ring, (*ring[1:], ring[0]), strict=True):
        if row0 == row1:
            continue
        crosses = (row0 > row) != (row1 > row)
        inside ^= crosses & (col < col0 + (row - row0) * (col1 - col0) / (row1 - row0))
    return inside & ~np.isnan(col)


def _inside_mask(mask: NDArray[np.bool_], row: Floats, col: Floats) -> NDArray[np.bool_]:
    rows, cols = mask.shape
    with np.errstate(invalid="ignore"):
        near = (row >= -0.5) & (row < rows - 0.5) & (col >= -0.5) & (col < cols - 0.5)
    inside = np.zeros(len(row), bool)
    pixel = np.floor(row[near] + 0.5).astype(int), np.floor(col[near] + 0.5).astype(int)
    inside[near] = mask[pixel]
    return inside


def _mask(shape: MaskFile, masks: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
    if shape.path not in masks:
        masks.clear()
        masks[shape.path] = _read(shape.path)
    picture = masks[shape.path]
    if shape.value is None:
        mask = np.any(picture[..., :3], axis=2) if picture.ndim == 3 else picture > 0
    elif picture.ndim == 3:
        raise Misfit("the mask is not grey, so its values number no polyps")
    else:
        mask = picture == shape.value
    if not mask.any():
        raise Misfit("the mask is empty, though the frame is labelled polyp")
    if mask.all():
        raise Misfit("the mask covers the whole picture")
    return mask


def _read(path: str) -> NDArray[Any]:
    try:
        with Path(path).open("rb") as file:
            start = file.read(len(_PNG))
    except OSError:
        raise Misfit("the mask is not there, or may not be read") from None
    if start != _PNG:
        raise Misfit("the mask is not a PNG file")
    try:
        return read_image(path)
    except FileError:
        raise Misfit("the mask is damaged or too large") from None
