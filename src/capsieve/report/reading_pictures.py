"""Images of the frames that a reader chose, read from the source and verified by their hash."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from capsieve.errors import CapsieveError
from capsieve.frame_images import jpeg, shrink
from capsieve.report import page
from capsieve.report.text import plain
from capsieve.sources.reader import FrameReader
from capsieve.store.exam import Exam
from capsieve.store.record import Record

_SIDE = 520  # of the longer side, in pixels: 60 mm on paper at 220 dots per inch
_RING = 0.07  # radius of the ring, as a share of the frame's longer side


@dataclass(frozen=True, slots=True)
class FramePicture:
    """A frame in the report.

    Attributes
    ----------
    address
        The image as a data URL; "" if the frame cannot be read.
    rows, cols
        Size of the screened frame.
    problem
        Why there is no image.
    """

    address: str = ""
    rows: int = 1
    cols: int = 1
    problem: str = ""


def frame_pictures(
    folder: Path, record: Record, wanted: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], FramePicture]:
    """Return images of the scored frames, scaled down.

    Parameters
    ----------
    folder, record
        The exam.
    wanted
        Heads and frame numbers. A frame that cannot be read has a `problem` and no image.
    """
    frames_by_head: dict[int, set[int]] = {}
    for head, frame in wanted:
        frames_by_head.setdefault(head, set()).add(frame)
    pictures: dict[tuple[int, int], FramePicture] = {}
    for head, frames in frames_by_head.items():
        try:
            with Exam(folder).reader(head) as reader:
                for frame in reader.in_stored_order(sorted(frames)):
                    pictures[head, frame] = _picture(reader, record, frame)
        except CapsieveError as error:
            problem = FramePicture(problem=_sentence(error, record))
            pictures |= dict.fromkeys(((head, frame) for frame in frames), problem)
    return pictures


def _picture(reader: FrameReader, record: Record, frame: int) -> FramePicture:
    try:
        pixels = reader.pixels(frame)
    except CapsieveError as error:
        return FramePicture(problem=_sentence(error, record))
    rows, cols = pixels.shape[:2]
    return FramePicture(page.image(jpeg(shrink(pixels, side=_SIDE))), rows, cols)


def _sentence(error: CapsieveError, record: Record) -> str:
    """Return a message without the folder of the source: reports are sent to others."""
    text = str(error)
    for source in record["sources"]:
        text = text.replace(source["path"], Path(source["path"]).name)
    text = plain(" ".join(text.split()))
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


def pointer(picture: FramePicture, row: float, col: float) -> Markup:
    """Return a ring of fixed size around a place of the frame; empty if the place is outside."""
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
