"""Thumbnails and evidence maps of flagged frames, which are read again at the end of an exam."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import cv2
import numpy as np

from capsieve.detector import Detector
from capsieve.errors import FileError
from capsieve.frame_images import jpeg, shrink
from capsieve.screening.segment import FieldsOfView
from capsieve.sources.reader import FrameReader

__all__ = ["Shown", "ThumbnailTask", "Thumbnails", "read_thumbnails", "split"]

_LEAST_CHUNK = 32  # frames that are read together; each chunk starts at a key frame
_WIDTH = 192
_QUALITY = 85
_MAP_SIDE = 32  # the evidence maps of models have no finer detail

Shown = tuple[int, int]
"""Head and frame."""


@dataclass(frozen=True, slots=True, eq=False)
class ThumbnailTask:
    """Frames of one head that get a thumbnail.

    Attributes
    ----------
    exam, head
        Name of the exam, and the head.
    open_reader
        Returns a reader of the head.
    fields
        Fields of view of the head.
    frames
        Numbers of the frames.
    explained
        Frames that also get an evidence map.
    detector
        Draws the maps; None if it has none.
    """

    exam: str
    head: int
    open_reader: Callable[[], FrameReader]
    fields: FieldsOfView
    frames: Sequence[int]
    explained: Collection[int]
    detector: Detector | None

    def __str__(self) -> str:
        return f"thumbnails of head {self.head} of {self.exam}"


@dataclass(slots=True, eq=False)
class Thumbnails:
    """Thumbnails and evidence maps of flagged frames, and the first reason why some are missing."""

    rows: dict[Shown, tuple[bytes, bytes | None]] = field(default_factory=dict)
    problem: str = ""

    def add(self, other: "Thumbnails") -> None:
        """Include other thumbnails."""
        self.rows.update(other.rows)
        self.problem = self.problem or other.problem


def split(task: ThumbnailTask, workers: int) -> list[ThumbnailTask]:
    """Return parts of a task for several workers; none if it has no frames."""
    frames = sorted(task.frames)
    length = max(_LEAST_CHUNK, -(-len(frames) // (2 * workers)))
    starts = range(0, len(frames), length)
    return [replace(task, frames=frames[start : start + length]) for start in starts]


def read_thumbnails(task: ThumbnailTask) -> Thumbnails:
    """Read frames again and make their thumbnails and evidence maps.

    A frame that cannot be read or explained has none: the other results do not depend on them.
    """
    thumbnails = Thumbnails()
    try:
        with task.open_reader() as reader:
            for frame in reader.in_stored_order(task.frames):
                _add_thumbnail(thumbnails, task, frame, reader)
    except FileError as error:
        thumbnails.add(Thumbnails(problem=str(error)))
    return thumbnails


def _add_thumbnail(
    thumbnails: Thumbnails, task: ThumbnailTask, frame: int, reader: FrameReader
) -> None:
    try:
        pixels = reader.pixels(frame)
    except FileError as error:
        thumbnails.add(Thumbnails(problem=str(error)))
        return
    evidence = None
    if hasattr(task.detector, "evidence") and frame in task.explained:
        field_of_view = task.fields.get((pixels.shape[0], pixels.shape[1]))
        try:
            evidence = _small_map(cast("Any", task.detector).evidence(pixels, field_of_view))
        except Exception as error:  # detectors of other packages
            thumbnails.add(Thumbnails(problem=f"{type(error).__name__}: {error}"))
    thumbnail = jpeg(shrink(pixels, width=_WIDTH), quality=_QUALITY)
    thumbnails.rows[task.head, frame] = thumbnail, evidence


def _small_map(evidence: Any) -> bytes | None:
    """Return an evidence map as a small grey PNG: black at its median, white at its maximum."""
    if evidence.map is None:
        return None
    small = shrink(np.nan_to_num(evidence.map), side=_MAP_SIDE)
    low, high = float(np.median(small)), float(small.max())
    levels = np.clip((small - low) / (high - low), 0, 1) if high > low else np.zeros_like(small)
    encoded, content = cv2.imencode(".png", np.rint(255 * levels).astype(np.uint8))
    return content.tobytes() if encoded else None
