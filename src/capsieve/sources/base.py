"""Values and the protocol that all sources of frames share.

A source is one head of one exam: a video stream, or a folder or archive of images. It consists of
segments, which any process can decode without the others.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import file_errors
from capsieve.user_files import PathLike

if TYPE_CHECKING:
    from capsieve.sources.reader import FrameReader

Kind = Literal["video", "folder", "zip"]

MAX_PIXELS = 4096 * 4096
"""Largest frame that is decoded: screening it takes about 40 bytes of memory per pixel."""

NO_STAMP = -(2**63)
"""Value of a time stamp that a packet does not have."""

# Module and class of each kind; imported late, because PyAV is slow to import.
_SOURCES: dict[Kind, tuple[str, str]] = {
    "video": ("video_source", "VideoSource"),
    "folder": ("image_source", "ImageSource"),
    "zip": ("image_source", "ImageSource"),
}


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

    def reader(
        self,
        frames: pa.Table,
        *,
        packets: PacketTable | None,
        description: Mapping[str, Any],
        cache_bytes: int = ...,
    ) -> "FrameReader":
        """Return a reader of the frames that were screened.

        Parameters
        ----------
        frames
            One row per frame, in order, with the columns file (images), packet (videos) and
            pixel_hash (null if the frame could not be decoded).
        packets, description
            As in :class:`Survey`.
        cache_bytes
            Size of the cache of decoded pictures.
        """
        ...


def open_source(place: Place) -> Source:
    """Return the source at a place; nothing is read yet."""
    module, name = _SOURCES[place.kind]
    return getattr(import_module(f"capsieve.sources.{module}"), name)(place)


def file_stamp(path: PathLike) -> str:
    """Return size and modification time of a file."""
    with file_errors("read", path, "check the name"):
        status = os.stat(path)
    return f"{status.st_size} {status.st_mtime_ns}"
