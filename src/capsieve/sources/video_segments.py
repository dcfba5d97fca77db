"""Segments of a video stream: cut at key frames, found again by seeking.

Pictures are stored in the order of decoding. Leading pictures follow a key frame in that order but
are shown before it; in an open group of pictures they need the group before. They therefore belong
to the previous segment, which also decodes the key frame. All other pictures belong to the segment
in which they are stored. So every picture belongs to one segment, and a segment contains everything
that its pictures are predicted from.
"""

import zlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources.base import NO_STAMP, PacketTable, Place, Segment
from capsieve.sources.video_container import Order, open_video, read_packets, stream_time_base

if TYPE_CHECKING:
    from av import Packet
    from av.container import InputContainer
    from av.video.stream import VideoStream

LEAST_FRAMES = 240
"""Smallest number of frames in a segment: opening the file costs as much as a few frames."""

SEEK_STEPS = (0, 1, 10, None)
"""Seconds to seek before a packet, tried one after the other; None: read from the start."""

_MOST_KEPT = 64_000_000  # bytes: the packets of larger segments are read twice
_MOST_SKIPPED = 5_000  # packets between the target of a seek and the packet


@dataclass(frozen=True, slots=True)
class PacketMark:
    """How to find a packet in a file: by seeking, and by the values that identify it."""

    number: int  # in stored order
    seek: int | None  # time stamp to seek to; None if seeking is not possible
    pts: int | None
    size: int
    crc32: int

    @classmethod
    def of(cls, packets: PacketTable, number: int) -> "PacketMark":
        """Return the mark of a packet of a table."""
        dts, pts = _stamp(packets.dts[number]), _stamp(packets.pts[number])
        seek = pts if dts is None else dts
        return cls(number, seek, pts, int(packets.size[number]), int(packets.crc32[number]))


@dataclass(frozen=True, slots=True)
class Span:
    """The content of :attr:`Segment.span` for videos. Packets are numbered within the segment."""

    first: PacketMark
    stamps: list[int | None]  # presentation time stamp of each packet that is decoded
    owned: list[int]  # packets whose pictures belong to it, in order of presentation if known
    keys: list[int]  # packets at which decoding can start
    order: Order  # as in the description of the stream
    time_base: str
    size: int  # bytes of all packets

    @property
    def ordered(self) -> bool:
        """Whether the order of the pictures is known before they are decoded."""
        return self.order in ("time", "packets")


def cut_into_segments(packets: PacketTable, description: Mapping[str, Any]) -> tuple[Segment, ...]:
    """Cut a stream into segments; they depend only on the stream.

    Parameters
    ----------
    packets, description
        As surveyed; of the description, ``order`` and ``time_base``.
    """
    count = len(packets)
    if count == 0:
        return ()
    clean, leads = np.zeros(0, np.int64), np.zeros(count + 1, np.int64)
    if description["order"] == "packets":
        clean = np.arange(1, count)
    elif description["order"] == "groups":
        clean = np.flatnonzero(packets.key)[1:]
    elif description["order"] == "time":
        clean, leads = _clean_cuts(packets)
    cuts = [0]
    for cut in clean.tolist():
        if cut - cuts[-1] >= LEAST_FRAMES and count - cut >= LEAST_FRAMES:
            cuts.append(cut)
    segments: list[Segment] = []
    for number, (start, end) in enumerate(pairwise([*cuts, count])):
        tail = int(leads[end])
        stop = end + 1 + tail if tail else end
        owned = np.r_[start, start + 1 + leads[start] : end, end + 1 : stop]
        owned = owned[~packets.hidden[owned]]
        if description["order"] == "time":
            owned = owned[np.argsort(packets.pts[owned])]
        sizes, checks = packets.size[start:stop], packets.crc32[start:stop]
        span = Span(
            first=PacketMark.of(packets, start),
            stamps=[_stamp(stamp) for stamp in packets.pts[start:stop]],
            owned=(owned - start).tolist(),
            keys=np.flatnonzero(packets.key[start:end]).tolist(),
            order=description["order"],
            time_base=description["time_base"],
            size=int(sizes.sum()),
        )
        digest = _digest(zip(sizes.tolist(), checks.tolist(), strict=True))
        segments.append(Segment(number, len(owned), digest, span))
    return tuple(segments)


def _clean_cuts(packets: PacketTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the key frames at which the stream can be cut, and the number of leading pictures.

    Everything stored before such a key frame is shown before it, and everything stored after it is
    shown after it, except for the leading pictures, which follow it immediately.
    """
    pts, count = packets.pts, len(packets)
    before = np.concatenate(([NO_STAMP], np.maximum.accumulate(pts)[:-1]))
    after = np.append(np.minimum.accumulate(pts[::-1])[::-1], np.iinfo(np.int64).max)
    leads = np.zeros(count + 1, np.int64)
    clean: list[int] = []
    keys = np.flatnonzero(packets.key).tolist()
    for key, following in pairwise([*keys, count]):
        later = pts[key + 1 : following] >= pts[key]
        lead = int(later.argmax()) if later.any() else len(later)
        if key > 0 and before[key] < pts[key] <= after[key + 1 + lead]:
            leads[key] = lead
            clean.append(key)
    return np.array(clean, np.int64), leads


def _stamp(value: Any) -> int | None:
    return None if value == NO_STAMP else int(value)


def _digest(records: Iterator[tuple[int, int]]) -> str:
    """Return the checksum of a segment from size and CRC-32 of its packets."""
    return f"{zlib.crc32(np.array(list(records), '<i8').tobytes()):08x}"


@contextmanager
def segment_packets(
    place: Place, segment: Segment
) -> Generator[tuple["VideoStream", Iterator["Packet"]]]:
    """Open a file and yield its stream and the packets of a segment, which are checked first.

    Raises
    ------
    FileError
        The file has changed since it was surveyed.
    """
    span: Span = segment.span
    mark, count = span.first, len(span.stamps)
    keep = span.size <= _MOST_KEPT
    for step in SEEK_STEPS if mark.number and mark.seek is not None else (None,):
        with open_video(place.path, place.stream) as (container, stream):
            kept: list[Packet] = []
            records: list[tuple[int, int]] = []
            for packet in islice(packets_from(container, stream, mark, step), count):
                records.append((packet.size, zlib.crc32(packet)))
                if keep:
                    kept.append(packet)
            if _digest(iter(records)) != segment.digest:
                continue
            if keep:
                yield stream, iter(kept)
                return
        with open_video(place.path, place.stream) as (container, stream):
            packets = islice(packets_from(container, stream, mark, step), count)
            yield stream, _checked(packets, segment, place)
            return
    raise _changed(place)


def _checked(packets: Iterator["Packet"], segment: Segment, place: Place) -> Iterator["Packet"]:
    """Pass on the packets of a segment, and raise an error at the end if they have changed."""
    records: list[tuple[int, int]] = []
    for packet in packets:
        records.append((packet.size, zlib.crc32(packet)))
        yield packet
    if _digest(iter(records)) != segment.digest:
        raise _changed(place)


def _changed(place: Place) -> FileError:
    return FileError(
        f"{place.path} has changed since screening started; screen it again with --overwrite"
    )


def packets_from(
    container: "InputContainer", stream: "VideoStream", mark: PacketMark, step: float | None
) -> Iterator["Packet"]:
    """Yield the packets of a stream from a marked one on; none if it was not found.

    Seeking is not exact in every container, so the packet is identified by its content.

    Parameters
    ----------
    container, stream
        The open file and the stream to read.
    mark
        The first packet.
    step
        One of :data:`SEEK_STEPS`. None counts packets, so the file must just have been opened.
    """
    from av.error import FFmpegError

    if step is None or mark.seek is None:
        yield from islice(read_packets(container, stream), mark.number, None)
        return
    try:
        container.seek(mark.seek - round(step / stream_time_base(stream)), stream=stream)
    except FFmpegError:
        return
    packets = read_packets(container, stream)
    for packet in islice(packets, _MOST_SKIPPED):
        same = packet.size == mark.size and packet.pts == mark.pts
        if same and zlib.crc32(packet) == mark.crc32:
            yield packet
            yield from packets
            return
        if packet.dts is not None and packet.dts > mark.seek:
            return
