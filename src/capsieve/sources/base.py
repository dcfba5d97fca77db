"""Values and the protocol that all sources of frames share.

A source is one head of one exam: a video stream, or a folder or archive of images. It consists of
segments, which any process can decode without the others.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import file_errors

__all__ = [
    "MAX_PIXELS",
    "NO_STAMP",
    "Kind",
    "PacketTable",
    "Place",
    "Problem",
    "Segment",
    "Source",
    "SourceFrame",
    "Survey",
    "file_stamp",
    "natural_key",
    "open_source",
    "split_head",
]

Kind = Literal["video", "folder", "zip"]

MAX_PIXELS = 4096 * 4096
"""Largest frame that is decoded: screening it takes about 40 bytes of memory per pixel."""

NO_STAMP = -(2**63)
"""Value of a time stamp that a packet does not have."""

_DIGITS = re.compile(r"([0-9]+)")
_HEAD = re.compile(r"(?:(?P<rest>.*)[-_ .])?head[-_ ]?(?P<head>[01])", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Place:
    """What any process needs to open one head of an exam."""

    kind: Kind
    path: str  # absolute
    head: int = 0  # camera of the capsule
    stream: int = 0  # videos: index of the stream in the container
    # Images that share a folder or archive with another head: the ending of the stems of this head,
    # such as "-head-0", or the name of its folder inside, such as "head-0/"; otherwise "".
    names: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault of a source."""

    what: str  # without a final stop
    time: float | None = None  # presentation time in seconds, if known


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive frames of one head that can be decoded without any other segment."""

    number: int  # among the segments of the head
    frames: int
    digest: str  # checksum of the stored bytes; it shows whether the source has changed
    span: Any = field(hash=False)  # what the source needs to find the segment again


@dataclass(frozen=True, slots=True)
class SourceFrame:
    """A frame of a source. With pixels and a problem it is damaged: lost parts were replaced."""

    pixels: NDArray[np.uint8] | NDArray[np.uint16] | None  # RGB or grey; None if undecodable
    time: float | None = None  # presentation time in seconds; None if unknown
    file: str | None = None  # images: name of the file below the folder or in the archive
    packet: int | None = None  # videos: number of the packet in stored order
    problem: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class PacketTable:
    """The packets of a video stream in stored order, which is the order of decoding."""

    pts: NDArray[np.int64]  # time of presentation; NO_STAMP if there is none
    dts: NDArray[np.int64]  # time of decoding; NO_STAMP if there is none
    size: NDArray[np.int64]  # bytes
    crc32: NDArray[np.uint32]
    key: NDArray[np.bool_]  # decoding can start here
    hidden: NDArray[np.bool_]  # decoded but not shown (edit lists, MPEG-4 "not coded")

    def __len__(self) -> int:
        return len(self.pts)

    def to_arrow(self) -> pa.Table:
        """Return the columns; missing time stamps are null."""
        columns: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        for name in ("pts", "dts"):
            columns[name] = pa.array(columns[name], mask=columns[name] == NO_STAMP)
        return pa.table(columns)

    @classmethod
    def from_arrow(cls, table: pa.Table) -> "PacketTable":
        """Return the packets of a table made by :meth:`to_arrow`; other columns are ignored."""
        columns = [table[item.name] for item in fields(cls)]
        stamps = [column.fill_null(NO_STAMP) for column in columns[:2]]
        return cls(*(column.to_numpy() for column in (*stamps, *columns[2:])))


@dataclass(frozen=True, slots=True)
class Survey:
    """Properties of a source that are found by reading it once without decoding."""

    sha256: str  # of the file; of images: of the lines "<sha256 of the file>  <name>"
    size: int  # bytes
    declared: int | None  # frames to be shown that the source declares, if it does; not trusted
    segments: tuple[Segment, ...]
    # Codec, container, rows, cols, time base, colour conversion; plain values. "warning", if
    # present, is a possible fault, such as an interrupted recording.
    description: dict[str, Any] = field(hash=False)
    problems: tuple[Problem, ...] = ()  # truncated, unreadable stretches
    packets: PacketTable | None = field(default=None, compare=False, repr=False)  # videos


class Source(Protocol):
    """One head of one exam."""

    place: Place

    def stamp(self) -> str:
        """Return a text that changes with sizes or modification times, without reading content."""
        ...

    def survey(self) -> Survey:
        """Read the source once without decoding it."""
        ...

    def frames(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield every frame of a segment in order, including those that cannot be decoded.

        Raises
        ------
        FileError
            The source has changed since it was surveyed.
        """
        ...

    def expected(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield the same frames without decoding: no pixels, no problem."""
        ...

    def samples(self, survey: Survey, count: int) -> list[NDArray[Any]]:
        """Return pixels of about `count` frames that are spread evenly over the source."""
        ...


def open_source(place: Place) -> Source:
    """Return the source at a place; nothing is read yet."""
    if place.kind == "video":
        from capsieve.sources.video_source import VideoSource

        return VideoSource(place)
    from capsieve.sources.image_source import ImageSource

    return ImageSource(place)


def file_stamp(path: str | os.PathLike[str]) -> str:
    """Return size and modification time of a file."""
    with file_errors("read", path, "check the name"):
        status = os.stat(path)
    return f"{status.st_size} {status.st_mtime_ns}"


def natural_key(name: str) -> tuple[tuple[str | tuple[int, str], ...], str]:
    """Return a key that sorts numbers inside names by value and letters without regard to case.

    Names that are then equal (``frame1`` and ``frame01``) are sorted by their characters.

    Examples
    --------
    >>> sorted(["frame10.png", "frame2.png", "Frame1.png"], key=natural_key)
    ['Frame1.png', 'frame2.png', 'frame10.png']
    """
    # natsort fails with a TypeError on numbers of more than 4300 digits, which Python does not
    # convert. Texts are at even positions and numbers at odd ones, so the types never mix.
    parts = _DIGITS.split(name)
    return tuple(
        (len(part.lstrip("0")), part.lstrip("0")) if position % 2 else part.casefold()
        for position, part in enumerate(parts)
    ), name


def split_head(stem: str) -> tuple[str, int | None]:
    """Split the head off a name without its ending.

    Returns
    -------
    rest
        The name without the head; "" if it contains nothing else.
    head
        0 or 1, or None if the name contains no head.

    Examples
    --------
    >>> split_head("exam-head-1"), split_head("overhead0")
    (('exam', 1), ('overhead0', None))
    """
    match = _HEAD.fullmatch(stem)
    if match is None:
        return stem, None
    return match["rest"] or "", int(match["head"])
