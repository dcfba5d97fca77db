"""What a source of frames is: one head of one exam, in segments that are decoded apart."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Kind", "Place", "Problem", "Segment", "Source", "SourceFrame", "Survey", "open_source"]

Kind = Literal["video", "folder", "zip"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a head's frames are; enough for any process to open them.

    Attributes
    ----------
    kind
        ``"video"``, ``"folder"`` (of images) or ``"zip"`` (of images).
    path
        Absolute path of the file or folder.
    head
        Which camera of the capsule, from 0.
    stream
        For a video: the index of the stream in the container.
    names
        For images that share a folder or archive with another head: the ending of the stems that
        belong to this head, such as ``"-head-0"``, or the name of the folder inside; else "".
    """

    kind: Kind
    path: str
    head: int = 0
    stream: int = 0
    names: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a source that is not as it should be.

    Attributes
    ----------
    what
        One sentence without a final stop.
    time, file
        Where: the presentation time in seconds, or the image file; None where unknown.
    """

    what: str
    time: float | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive frames of one head, decoded apart from all others.

    What a segment yields depends on the source alone: not on what was read before, nor by whom.

    Attributes
    ----------
    number
        Place among the head's segments, from 0.
    frames
        How many frames it should hold, for progress; the truth is what comes out.
    digest
        Checksum of the stored bytes, by which a reader knows that the source is still the same.
    span
        What the kind of source needs to find it again: plain numbers and texts only.
    """

    number: int
    frames: int
    digest: str
    span: dict[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class SourceFrame:
    """A frame as it came out of a source.

    Attributes
    ----------
    pixels
        RGB or grey, as stored; None where it could not be decoded.
    pts
        Presentation time stamp in the stream's own units; None for image files.
    time
        The same in seconds; None where it is unknown.
    file
        Name of the image file below the folder or in the archive; None for videos.
    problem
        Why it could not be decoded, or what is wrong with it; "" where all is well. A frame with
        pixels and a problem is damaged: the decoder had to fill in what was lost.
    """

    pixels: NDArray[np.uint8] | NDArray[np.uint16] | None
    pts: int | None = None
    time: float | None = None
    file: str | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """What reading through a source without decoding it tells.

    Attributes
    ----------
    sha256
        Of the file; for folders of the listing ``<sha256 of the file>  <name>``, one line for
        each image in order.
    size
        Bytes that were read.
    declared
        How many frames the source claims to hold, less those that it marks as not to be shown;
        None where it claims nothing. Never believed.
    segments
        All that there is to decode, in order.
    description
        What the exam's record says of it: codec, container, rows and cols, time base, the colour
        conversion. Plain numbers and texts only.
    problems
        What was found wrong while reading: cut off, unreadable stretches.
    """

    sha256: str
    size: int
    declared: int | None
    segments: tuple[Segment, ...]
    description: dict[str, Any] = field(hash=False)
    problems: tuple[Problem, ...] = ()


class Source(Protocol):
    """One head of one exam."""

    @property
    def place(self) -> Place:
        """Where it is."""
        ...

    def survey(self) -> Survey:
        """Read through the source without decoding it."""
        ...

    def frames(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield every frame of a segment in order; those that cannot be decoded, too.

        Raises
        ------
        FileError
            The source is not what was surveyed.
        """
        ...

    def expected(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield the same frames without decoding: no pixels, no problem."""
        ...

    def samples(self, survey: Survey, count: int) -> list[NDArray[Any]]:
        """Return pixels of about `count` frames spread evenly over the source, whatever decodes."""
        ...


def open_source(place: Place) -> Source:
    """Return the source at a place; nothing is read yet."""
    if place.kind == "video":
        from capsieve.sources.video import Video

        return Video(place)
    if place.kind == "folder":
        from capsieve.sources.image_folder import ImageFolder

        return ImageFolder(place)
    from capsieve.sources.image_archive import ImageArchive

    return ImageArchive(place)
