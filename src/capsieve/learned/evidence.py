"""Where on the frame a model sees a polyp: from the cells of its map to pixels of the source."""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.frames import FieldOfView, Placement
from capsieve.learned.crop import visible
from capsieve.results import Spot


def map_placement(crop: Placement, rows: int, cols: int) -> Placement:
    """Return the place of a map's cells on the frame: the map covers the crop."""
    row_scale = crop.row_scale * crop.rows / rows
    col_scale = crop.col_scale * crop.cols / cols
    return Placement(
        rows,
        cols,
        row_scale,
        col_scale,
        crop.row_offset + 0.5 * (row_scale - crop.row_scale),
        crop.col_offset + 0.5 * (col_scale - crop.col_scale),
    )


def peak(
    evidence: NDArray[np.float32], place: Placement, field_of_view: FieldOfView | None
) -> Spot | None:
    """Return the maximum of a map in the field of view, in pixels of the source.

    The position is that of a parabola through the highest cell and its neighbours, along each
    axis. The radius is that of a disc with the area of the connected cells around it that exceed
    the mean of the maximum and the median: most cells of a map show nothing, so the median is its
    background.

    Returns
    -------
    Spot or None
        None if the map is flat or not finite.
    """
    inside = visible(place, field_of_view)
    if not inside.any():  # cells larger than the field of view
        inside = np.ones_like(inside)
    if not np.isfinite(evidence).all():
        return None
    seen = np.where(inside, evidence, -np.inf)
    background, highest = float(np.median(evidence[inside])), float(seen.max())
    if highest <= background:
        return None
    row, col = (int(each) for each in np.unravel_index(seen.argmax(), seen.shape))
    above = (seen > 0.5 * (highest + background)).astype(np.uint8)
    _, components = cv2.connectedComponents(above, connectivity=8)
    area = np.count_nonzero(components == components[row, col]) * place.row_scale * place.col_scale
    centre = place.to_source(row + _shift(evidence[:, col], row), col + _shift(evidence[row], col))
    return Spot(*centre, math.sqrt(area / math.pi))


def _shift(line: NDArray[np.float32], place: int) -> float:
    """Return the distance of the parabola's maximum from the highest cell."""
    if not 0 < place < len(line) - 1:
        return 0.0
    before, here, after = (float(line[place + step]) for step in (-1, 0, 1))
    bend = before - 2 * here + after
    return 0.0 if bend >= 0 else min(max(0.5 * (before - after) / bend, -0.5), 0.5)


def map_on_frame(
    evidence: NDArray[np.float32],
    place: Placement,
    field_of_view: FieldOfView | None,
    rows: int,
    cols: int,
) -> NDArray[np.float32]:
    """Return a map in pixels of the source, interpolated linearly.

    Outside of what the model saw it has its smallest value inside.
    """
    row = ((np.arange(rows) - place.row_offset) / place.row_scale).astype(np.float32)
    col = ((np.arange(cols) - place.col_offset) / place.col_scale).astype(np.float32)
    to_col, to_row = np.meshgrid(col, row)
    cells = np.ascontiguousarray(evidence, np.float32)
    spread = cv2.remap(cells, to_col, to_row, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    covered = (np.abs(row - (place.rows - 1) / 2) <= place.rows / 2)[:, None] & (
        np.abs(col - (place.cols - 1) / 2) <= place.cols / 2
    )
    covered &= visible(Placement(rows, cols, 1.0, 1.0, 0.0, 0.0), field_of_view)
    if covered.any():
        spread[~covered] = spread[covered].min()
    return np.asarray(spread, np.float32)
