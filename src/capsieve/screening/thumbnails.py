"""Thumbnails and evidence maps of flagged frames, which are read again at the end of an exam."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frame_images import jpeg, shrink
from capsieve.screening.segment import FieldsOfView
from capsieve.sources.reader import FrameReader

_LEAST_CHUNK = 32  # frames that are read together; each chunk starts at a key frame
_WIDTH = 192
_QUALITY = 85
_MAP_SIDE = 32  # the evidence maps of models have no finer detail

Shown = tuple[int, int]
"""Head and frame."""

Thumbnails = dict[Shown, tuple[bytes, bytes | None]]
"""Thumbnail (JPEG) and evidence map (PNG, or None) of frames."""


@dataclass(frozen=True, slots=True, eq=False)
class ThumbnailTask:
    """Frames of one head that get a thumbnail."""

    exam: str
    head: int
    open_reader: Callable[[], FrameReader]
    fields: FieldsOfView
    frames: Sequence[int]
    explained: Collection[int]  # frames that also get an evidence map
    detector: Any  # draws the maps if it has a method `evidence`

    def __str__(self) -> str:
        return f"thumbnails of head {self.head} of {self.exam}"


def thumbnail_tasks(
    exam: str,
    head: int,
    open_reader: Callable[[], FrameReader],
    fields: FieldsOfView,
    *,
    frames: Iterable[Shown],
    explained: Iterable[Shown],
    detector: Any,
    workers: int = 1,
) -> list[ThumbnailTask]:
    """Return the tasks for frames of one head, enough for several workers.

    The parameters are those of :class:`ThumbnailTask`; frames of other heads are ignored.
    """
    numbers = sorted(frame for number, frame in frames if number == head)
    maps = {frame for number, frame in explained if number == head}
    length = max(_LEAST_CHUNK, -(-len(numbers) // (2 * workers)))
    parts = [numbers[start : start + length] for start in range(0, len(numbers), length)]
    return [ThumbnailTask(exam, head, open_reader, fields, part, maps, detector) for part in parts]


def read_thumbnails(task: ThumbnailTask) -> tuple[Thumbnails, str]:
    """Read frames again; return their thumbnails, and why some are missing, or "".

    A frame that cannot be read or explained has none: the other results do not depend on them.
    """
    thumbnails: Thumbnails = {}
    problems: list[str] = []
    with _noting(problems), task.open_reader() as reader:
        for frame in reader.in_stored_order(task.frames):
            with _noting(problems):
                pixels = reader.pixels(frame)
                evidence = _evidence(task, pixels, problems) if frame in task.explained else None
                small = jpeg(shrink(pixels, width=_WIDTH), quality=_QUALITY)
                thumbnails[task.head, frame] = small, evidence
    return thumbnails, problems[0] if problems else ""


@contextmanager
def _noting(problems: list[str]) -> Iterator[None]:
    try:
        yield
    except FileError as error:
        problems.append(str(error))


def _evidence(task: ThumbnailTask, pixels: NDArray[Any], problems: list[str]) -> bytes | None:
    """Return an evidence map as a small grey PNG: black at its median, white at its maximum."""
    if not hasattr(task.detector, "evidence"):
        return None
    try:
        field_of_view = task.fields.get((pixels.shape[0], pixels.shape[1]))
        drawn = task.detector.evidence(pixels, field_of_view).map
    except Exception as error:  # detectors of other packages
        problems.append(f"{type(error).__name__}: {error}")
        return None
    if drawn is None:
        return None
    small = shrink(np.nan_to_num(drawn), side=_MAP_SIDE)
    low, high = float(np.median(small)), float(small.max())
    levels = np.clip((small - low) / (high - low), 0, 1) if high > low else np.zeros_like(small)
    encoded, content = cv2.imencode(".png", np.rint(255 * levels).astype(np.uint8))
    return content.tobytes() if encoded else None
