"""Reading through a video without decoding it: what packets there are."""

import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.source import Problem
from capsieve.sources.video.mpeg4 import is_not_coded, is_packed

if TYPE_CHECKING:
    from av import Packet
    from av.container import InputContainer
    from av.video.stream import VideoStream

__all__ = [
    "NO_STAMP",
    "PacketIndex",
    "index_packets",
    "read_packets",
    "seconds",
    "stream_time_base",
]

NO_STAMP = -(2**63)
"""Stands in the columns for a time stamp that a packet does not have."""

_MOST_ERRORS = 100  # in a row: then the rest of the file is given up


@dataclass(frozen=True, slots=True)
class PacketIndex:
    """The packets of a stream in their stored order, which is that of decoding; one column each.

    Attributes
    ----------
    pts, dts
        Time stamps of presentation and decoding; :data:`NO_STAMP` where there is none.
    size, check
        Bytes, and their CRC-32.
    key
        Whether decoding can begin here.
    place
        Where the packet begins in the file; negative where that is unknown.
    hidden
        Whether the packet is decoded but not shown: the container says so (edit lists of MP4), or
        it says no more than that nothing changed (MPEG-4).
    packed
        Whether packets hold several pictures (MPEG-4): then the stamps belong to others than those
        in the packet.
    problems
        Where the container could not be read.
    """

    pts: NDArray[np.int64]
    dts: NDArray[np.int64]
    size: NDArray[np.int64]
    check: NDArray[np.uint32]
    place: NDArray[np.int64]
    key: NDArray[np.bool_]
    hidden: NDArray[np.bool_]
    packed: bool
    problems: tuple[Problem, ...]

    def __len__(self) -> int:
        return len(self.pts)


def index_packets(container: "InputContainer", stream: "VideoStream") -> PacketIndex:
    """Read all packets of a stream from where the container stands, and note them."""
    pts, dts, size, check, place = (array("q") for _ in range(5))
    key, hidden, unchanged = bytearray(), bytearray(), bytearray()
    packed = False
    problems: list[Problem] = []
    for packet in read_packets(container, stream, problems):
        pts.append(NO_STAMP if packet.pts is None else packet.pts)
        dts.append(NO_STAMP if packet.dts is None else packet.dts)
        size.append(packet.size)
        check.append(zlib.crc32(packet))
        place.append(-1 if packet.pos is None else packet.pos)
        key.append(packet.is_keyframe)
        packed = packed or is_packed(packet, stream)
        hidden.append(packet.is_discard)
        unchanged.append(is_not_coded(packet, stream))
    return PacketIndex(
        pts=np.array(pts, np.int64),
        dts=np.array(dts, np.int64),
        size=np.array(size, np.int64),
        check=np.array(check, np.int64).astype(np.uint32),
        place=np.array(place, np.int64),
        key=_flags(key),
        # In packed streams, the picture of the packet before comes out in its place.
        hidden=_flags(hidden) if packed else _flags(hidden) | _flags(unchanged),
        packed=packed,
        problems=tuple(problems),
    )


def _flags(values: bytearray) -> NDArray[np.bool_]:
    return np.frombuffer(bytes(values), np.bool_)


def read_packets(
    container: "InputContainer", stream: "VideoStream", problems: list[Problem] | None = None
) -> Iterator["Packet"]:
    """Yield the packets of a stream, and go on after errors while the container can.

    Packets without a byte are left out: the repeated frames of an AVI, which carry no picture, and
    PyAV's mark of the end, which would empty the decoder.

    Parameters
    ----------
    container, stream
        The open file and the stream to read.
    problems
        A list that takes what was wrong.
    """
    from av.error import FFmpegError

    stamp: int | None = None
    errors = 0
    while errors < _MOST_ERRORS:
        try:
            for packet in container.demux(stream):
                if packet.size:
                    errors = 0
                    if packet.pts is not None:
                        stamp = packet.pts
                    yield packet
            return
        except FFmpegError as error:
            if errors == 0 and problems is not None:
                time = seconds(stamp, stream_time_base(stream))
                problems.append(Problem(f"the file cannot be read here ({error.strerror})", time))
            errors += 1
    if problems is not None:
        time = seconds(stamp, stream_time_base(stream))
        problems.append(Problem("the rest of the file was given up after too many errors", time))


def stream_time_base(stream: "VideoStream") -> Fraction:
    """Return the seconds in a unit of a stream's time stamps."""
    return stream.time_base or Fraction(1, 1)  # no demuxer leaves it out, though the types say so


def seconds(stamp: int | None, time_base: Fraction) -> float | None:
    """Return a time stamp in seconds, as PyAV does for frames."""
    if stamp is None:
        return None
    return float(stamp) * time_base.numerator / time_base.denominator
