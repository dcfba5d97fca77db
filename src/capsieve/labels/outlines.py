"""Where polyps are on frames: boxes, polygons and masks, with a hit test."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.labels.label_set import LabelProblem

__all__ = ["FrameOutline", "Outline", "Outlines", "read_outlines"]


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """One polyp on one frame, as the source has it."""

    exam: str | None
    head: int | None
    frame: int | None
    file: str | None
    shape: Any
    polyp: str | None = None
    where: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class FrameOutline:
    """One polyp on one frame, in pixels of the frame.

    Attributes
    ----------
    row
        Row of the frame in the table of frames.
    polyp
        The name that the source gives it, or None.
    """

    row: int
    polyp: str | None

    def hit(self, row: NDArray[np.float64], col: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which points are inside; whole numbers are centres of pixels; NaN never is."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """All outlines of a study: what was read, what was not clear, the format, the path."""

    outlines: tuple[Outline, ...]
    problems: tuple[LabelProblem, ...]
    outline_format: str
    path: str

    def find(
        self, frames: pa.Table, *, polyp_frames: NDArray[np.bool_]
    ) -> tuple[list[FrameOutline], tuple[LabelProblem, ...]]:
        """Return the outlines of polyp frames, sorted by frame, and what cannot be used.

        Parameters
        ----------
        frames
            As for :func:`~capsieve.labels.match`, with the columns rows and cols (the size of the
            images; null if unknown).
        polyp_frames
            Frames that are labelled polyp. Outlines of other frames are counted and not opened. If
            one outline of a frame cannot be used, all outlines of this frame are left out.
        """
        raise NotImplementedError


def read_outlines(path: str | os.PathLike[str], *, polyp_class: str | None = None) -> Outlines:
    """Read where polyps are on frames."""
    raise NotImplementedError
