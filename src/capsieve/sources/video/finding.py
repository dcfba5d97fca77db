"""Finding the packets of a segment again, and making sure that they are the same."""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from capsieve.errors import FileError
from capsieve.sources.source import Segment
from capsieve.sources.video.cutting import Span, packet_record
from capsieve.sources.video.opening import open_video
from capsieve.sources.video.packet_index import read_packets, stream_time_base

if TYPE_CHECKING:
    from av import Packet
    from av.container import InputContainer
    from av.video.stream import VideoStream

__all__ = ["segment_packets"]

_MOST_KEPT = 64_000_000  # bytes: larger segments are read twice rather than kept
_MOST_SKIPPED = 5_000  # packets between where a seek landed and the one that is sought
_STEPS_BACK = (0, 10)  # seconds: how much further back to seek

_Way = Callable[["InputContainer", "VideoStream", Span], Iterator["Packet"]]


@contextmanager
def segment_packets(
    path: str, stream_index: int, segment: Segment
) -> Iterator[tuple["VideoStream", Iterator["Packet"]]]:
    """Open a file and yield its stream and the packets of a segment, checked before they are used.

    Seeking is not exact in every container, so the first packet is known by its bytes and its time
    stamp, and all of them by the segment's digest. Where seeking leads astray, the stream is read
    from its beginning.

    Raises
    ------
    FileError
        The file is not what was surveyed.
    """
    span = Span(**segment.span)
    keep = span.bytes <= _MOST_KEPT
    for way in _ways(span):
        with open_video(path, stream_index) as (container, stream):
            kept = list["Packet"]()
            digest = 0
            for packet in islice(way(container, stream, span), len(span.stamps)):
                digest = _advance(digest, packet)
                if keep:
                    kept.append(packet)
            if _text(digest) != segment.digest:
                continue
            if keep:
                yield stream, iter(kept)
                return
        with open_video(path, stream_index) as (container, stream):
            packets = islice(way(container, stream, span), len(span.stamps))
            yield stream, _checked(packets, segment, path)
            return
    raise _changed(path)


def _checked(packets: Iterator["Packet"], segment: Segment, path: str) -> Iterator["Packet"]:
    """Pass on the packets of a segment, and raise at the end where they have changed."""
    digest = 0
    for packet in packets:
        digest = _advance(digest, packet)
        yield packet
    if _text(digest) != segment.digest:
        raise _changed(path)


def _advance(digest: int, packet: "Packet") -> int:
    return zlib.crc32(packet_record(packet.size, zlib.crc32(packet)), digest)


def _text(digest: int) -> str:
    return f"{digest:08x}"


def _changed(path: str) -> FileError:
    return FileError(f"{path} changed while it was being read; screen it again, with --fresh")


def _ways(span: Span) -> Iterator[_Way]:
    if span.first > 0 and span.seek is not None:
        for step in _STEPS_BACK:
            yield partial(_sought, step=step)
    yield _counted


def _sought(
    container: "InputContainer", stream: "VideoStream", span: Span, *, step: int
) -> Iterator["Packet"]:
    """Yield the packets from the segment's first one on, found by seeking; or none."""
    from av.error import FFmpegError

    assert span.seek is not None
    try:
        container.seek(span.seek - round(step / stream_time_base(stream)), stream=stream)
    except FFmpegError:
        return
    packets = read_packets(container, stream)
    for packet in islice(packets, _MOST_SKIPPED):
        if (
            packet.pts == span.stamps[0]
            and packet.size == span.size
            and zlib.crc32(packet) == span.check
        ):
            yield packet
            yield from packets
            return
        if packet.dts is not None and packet.dts > span.seek:
            return


def _counted(container: "InputContainer", stream: "VideoStream", span: Span) -> Iterator["Packet"]:
    """Yield the packets from the segment's first one on, counted from the file's beginning."""
    yield from islice(read_packets(container, stream), span.first, None)
