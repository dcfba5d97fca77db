"""Where on the frame a model sees a polyp."""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.frames import FieldOfView, Placement
from capsieve.learned.image_input import visible
from capsieve.results import Spot

__all__ = ["map_on_frame", "map_placement", "peak"]


def map_placement(crop: Placement, rows: int, cols: int) -> Placement:
    """Return where the cells of a map lie on the frame: it covers what the crop covers."""
    row_scale = crop.row_scale * crop.rows / rows
    col_scale = crop.col_scale * crop.cols / cols
    return Placement(
        rows=rows,
        cols=cols,
        row_scale=row_scale,
        col_scale=col_scale,
        row_offset=crop.row_offset + 0.5 * (row_scale - crop.row_scale),
        col_offset=crop.col_offset + 0.5 * (col_scale - crop.col_scale),
    )


def peak(
    evidence: NDArray[np.float32], place: Placement, field_of_view: FieldOfView | None
) -> Spot | None:
    """Return where a map is highest, in the source's pixels.

    The position is that of a parabola through the highest cell and its neighbours, along each
    axis. The radius is that of a disc as large as the connected cells around it that exceed half
    of the peak, counted from the map's median: so many cells of a map show nothing that the
    median is its ground.

    Returns
    -------
    Spot or None
        None where the map is flat, or not finite: it points nowhere.
    """
    inside = _cells_inside(place, field_of_view)
    if not np.isfinite(evidence).all() or not inside.any():
        return None
    seen = np.where(inside, evidence, -np.inf)
    ground = float(np.median(evidence[inside]))
    highest = float(seen.max())
    if highest <= ground:
        return None
    row, col = (int(each) for each in np.unravel_index(seen.argmax(), seen.shape))
    above = (seen > 0.5 * (highest + ground)).astype(np.uint8)
    _, pieces = cv2.connectedComponents(above, connectivity=8)
    area = float((pieces == pieces[row, col]).sum()) * place.row_scale * place.col_scale
    to_row, to_col = place.to_source(
        row + _shift(evidence[:, col], row), col + _shift(evidence[row], col)
    )
    return Spot(to_row, to_col, math.sqrt(area / math.pi))


def map_on_frame(
    evidence: NDArray[np.float32],
    place: Placement,
    field_of_view: FieldOfView | None,
    rows: int,
    cols: int,
) -> NDArray[np.float32]:
    """Return a map on the source's pixels, interpolated linearly.

    Outside of what the model saw it has the least value that it has inside.
    """
    row = ((np.arange(rows) - place.row_offset) / place.row_scale).astype(np.float32)
    col = ((np.arange(cols) - place.col_offset) / place.col_scale).astype(np.float32)
    to_col, to_row = np.meshgrid(col, row)
    cells = np.ascontiguousarray(evidence, np.float32)
    spread = np.asarray(
        cv2.remap(cells, to_col, to_row, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
        np.float32,
    )
    covered = (np.abs(row - (place.rows - 1) / 2) <= place.rows / 2)[:, None] & (
        np.abs(col - (place.cols - 1) / 2) <= place.cols / 2
    )
    if field_of_view is not None and field_of_view.confidence > 0:
        covered = covered & visible(Placement(rows, cols, 1.0, 1.0, 0.0, 0.0), field_of_view)
    if covered.any():
        spread[~covered] = spread[covered].min()
    return spread


def _shift(line: NDArray[np.float32], place: int) -> float:
    """Return how far from a highest cell the parabola through it and its neighbours peaks."""
    if not 0 < place < len(line) - 1:
        return 0.0
    before, here, after = (float(line[place + step]) for step in (-1, 0, 1))
    bend = before - 2 * here + after
    if bend >= 0:
        return 0.0
    return min(max(0.5 * (before - after) / bend, -0.5), 0.5)


def _cells_inside(place: Placement, field_of_view: FieldOfView | None) -> NDArray[np.bool_]:
    """Which cells have their centre in the field of view; all where none has."""
    inside = visible(place, field_of_view)
    return inside if inside.any() else np.ones_like(inside)
