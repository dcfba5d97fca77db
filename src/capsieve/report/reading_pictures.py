"""The frames that a reader chose, as pictures: from the source, each checked by its hash."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import cv2
from markupsafe import Markup

from capsieve.errors import CapsieveError
from capsieve.frame_images import jpeg
from capsieve.report.formats import plain
from capsieve.report.strips import jpeg_address
from capsieve.review.frames import ExamFrames
from capsieve.store.record import Record

__all__ = ["FramePicture", "frame_pictures", "pointer"]

_SIDE = 520  # of the longer side, in pixels: 60 mm on paper at 220 dots per inch
_RING = 0.07  # radius of the ring, as a share of the frame's longer side


@dataclass(frozen=True, slots=True)
class FramePicture:
    """A frame in the page.

    Attributes
    ----------
    address
        Of the picture; "" where there is none.
    rows, cols
        Of the frame as it was screened.
    problem
        Why there is no picture, in a sentence.
    """

    address: str = ""
    rows: int = 1
    cols: int = 1
    problem: str = ""


def frame_pictures(
    folder: Path, record: Record, wanted: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], FramePicture]:
    """Return pictures of frames, each exactly the one that was scored, scaled down.

    Parameters
    ----------
    folder, record
        The exam.
    wanted
        Heads and numbers. A frame that cannot be had says why; none is ever replaced.
    """
    wanted = list(dict.fromkeys(wanted))
    if not wanted:
        return {}
    try:
        frames = ExamFrames(folder)
    except CapsieveError as error:
        told = FramePicture(problem=_told(error, record))
        return dict.fromkeys(wanted, told)
    try:
        return {place: _picture(frames, record, *place) for place in wanted}
    finally:
        frames.release()


def _picture(frames: ExamFrames, record: Record, head: int, frame: int) -> FramePicture:
    try:
        pixels = frames.frame(head, frame)
    except CapsieveError as error:
        return FramePicture(problem=_told(error, record))
    rows, cols = pixels.shape[:2]
    scale = _SIDE / max(rows, cols)
    if scale < 1:
        size = (max(1, round(cols * scale)), max(1, round(rows * scale)))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return FramePicture(jpeg_address(jpeg(pixels)), rows, cols)


def _told(error: CapsieveError, record: Record) -> str:
    """Return an error as a sentence that does not tell where a centre keeps its files."""
    text = str(error)
    for source in record["sources"]:
        text = text.replace(source["path"], Path(source["path"]).name)
    text = plain(" ".join(text.split()))
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


def pointer(picture: FramePicture, row: float, col: float) -> Markup:
    """Return a ring around a place of the frame; empty where the place is outside of it.

    The ring says where, not how large: its size is always the same.
    """
    if not (0 <= row < picture.rows and 0 <= col < picture.cols):
        return Markup("")
    longer = max(picture.rows, picture.cols)
    # Attributes, not classes: what makes a PDF of the page knows no style for drawings.
    ring = Markup('<circle cx="{}" cy="{}" r="{}" fill="none" stroke="{}" stroke-width="{}"/>')
    where = (f"{col + 0.5:.1f}", f"{row + 0.5:.1f}", f"{_RING * longer:.1f}")
    return Markup('<svg class="pointer" viewBox="0 0 {} {}" aria-hidden="true">{}{}</svg>').format(
        picture.cols,
        picture.rows,
        ring.format(*where, "#101418", f"{0.012 * longer:.1f}"),
        ring.format(*where, "#ffd92e", f"{0.006 * longer:.1f}"),
    )
