"""Maps of evidence as pictures that lie over a frame."""

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.frames import Placement
from capsieve.report.evidence_parts import veil

__all__ = ["on_source", "overlay_png"]


def on_source(
    levels: NDArray[np.float32], place: Placement, shape: tuple[int, int]
) -> NDArray[np.float32]:
    """Return a map of the working grid on the source's pixels, zero where the grid does not reach.

    Parameters
    ----------
    levels
        On the working grid.
    place
        Where the grid lies.
    shape
        Rows and columns of the source's frame.
    """
    rows, cols = shape
    row = ((np.arange(rows) - place.row_offset) / place.row_scale).astype(np.float32)
    col = ((np.arange(cols) - place.col_offset) / place.col_scale).astype(np.float32)
    to_col, to_row = np.meshgrid(col, row)
    spread = cv2.remap(
        np.ascontiguousarray(levels, np.float32),
        to_col,
        to_row,
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=0,
    )
    return np.asarray(spread, np.float32)


def overlay_png(levels: NDArray[np.float32]) -> bytes:
    """Return levels of 0 to 1 as a PNG, transparent where they are 0."""
    pixels = veil(np.clip(np.nan_to_num(levels), 0.0, 1.0).astype(np.float32))
    done, png = cv2.imencode(
        ".png", cv2.cvtColor(pixels, cv2.COLOR_RGBA2BGRA), [cv2.IMWRITE_PNG_COMPRESSION, 3]
    )
    if not done:
        raise RuntimeError("OpenCV wrote no PNG")  # only without memory
    return png.tobytes()
