"""Reading through a video once, so that it never has to be read through again."""

import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError
from capsieve.review.frames.table import HeadTable
from capsieve.review.frames.video_index import VideoIndex
from capsieve.sources.source import Place
from capsieve.sources.video.cutting import Order, cut_into_segments
from capsieve.sources.video.description import stamps_are_true
from capsieve.sources.video.opening import open_video
from capsieve.sources.video.packet_index import (
    NO_STAMP,
    PacketIndex,
    index_packets,
    read_packets,
    stream_time_base,
)

__all__ = ["Progress", "index_video", "not_what_was_screened"]

Progress = Callable[[str, int, int], Any]
"""Told what is being done, how much of it is done, and out of how much."""

# Between where Matroska says that a packet is and its bytes stands a small header.
_LARGEST_HEADER = 64


def not_what_was_screened(path: str) -> FileError:
    """Return the error for a source that has changed since it was screened."""
    return FileError(
        f"{path} is not what was screened: the source has changed; put the screened one back, or "
        "screen it again with --fresh"
    )


def index_video(
    place: Place, table: HeadTable, copies: Path, *, progress: Progress | None = None
) -> VideoIndex:
    """Read through a video, and note where its packets lie and which frame each becomes.

    Parameters
    ----------
    place
        The video.
    table
        What was screened; it must be the same frames.
    copies
        Where to put the packets that the file holds in pieces; written only if there are any.
    progress
        Told how far it is.

    Raises
    ------
    FileError
        The file cannot be read, or is not what was screened.
    """
    tell = progress or (lambda *_: None)
    tell("reading the video", 0, 1)
    with open_video(place.path, place.stream) as (container, stream):
        packets = index_packets(container, stream)
        true = stamps_are_true(container, stream, packets)
        base = stream_time_base(stream)
    order, row, stop, first_row = _grouped(packets, true, base)
    _check(table, packets, order, row, place.path)
    offset = _offsets(place.path, packets)
    copied = offset < 0
    if copied.any():
        tell("copying packets", 0, 1)
        offset[copied] = _copy(place, packets, copied, copies)
    tell("reading the video", 1, 1)
    return VideoIndex(packets, offset, copied, row, stop, first_row, order, true, base)


def _grouped(
    packets: PacketIndex, true: bool, base: Any
) -> tuple[Order, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    count = len(packets)
    if packets.key.all():  # each is a group; cutting them one by one would take seconds
        shown = ~packets.hidden
        row = np.where(shown, np.cumsum(shown) - 1, -1).astype(np.int64)
        return "packets", row, np.arange(1, count + 1), row.copy()
    row = np.full(count, -1, np.int64)
    stop, first_row = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    number = 0
    order: Order = "decoder"
    for segment in cut_into_segments(packets, time_base=base, least=1, stamps_are_true=true):
        span = segment.span
        start, owned = span["first"], np.array(span["owned"], np.int64)
        order = span["order"]
        stop[start] = start + len(span["stamps"])
        if len(owned):
            first_row[start] = number
            row[start + owned] = np.arange(number, number + len(owned))
            number += len(owned)
    return order, row, stop, first_row


def _check(
    table: HeadTable, packets: PacketIndex, order: Order, row: NDArray[np.int64], path: str
) -> None:
    shown = np.flatnonzero(row >= 0)
    if len(shown) != len(table):
        raise not_what_was_screened(path)
    if order == "decoder":
        return  # the stamps may belong to other frames; the pixels will tell
    stamps = packets.pts[shown[np.argsort(row[shown])]]
    screened = table.columns["pts"].fill_null(NO_STAMP).to_numpy(zero_copy_only=False)
    if not np.array_equal(stamps, screened):
        raise not_what_was_screened(path)


def _offsets(path: str, packets: PacketIndex) -> NDArray[np.int64]:
    """Return where the bytes of each packet begin in the file; -1 where they are in pieces."""
    offsets = np.full(len(packets), -1, np.int64)
    likely = 0
    with open(path, "rb") as file:
        descriptor = file.fileno()
        columns = (packets.place, packets.size, packets.check)
        for number, (place, size, check) in enumerate(
            zip(*(c.tolist() for c in columns), strict=True)
        ):
            if place < 0:
                continue
            content = memoryview(os.pread(descriptor, size + _LARGEST_HEADER, place))
            for header in _headers(likely):
                if zlib.crc32(content[header : header + size]) == check:
                    offsets[number], likely = place + header, header
                    break
                if header == likely and number > _LARGEST_HEADER and offsets[0] < 0:
                    break  # such containers have all packets in pieces: do not look everywhere
    return offsets


def _headers(likely: int) -> Iterator[int]:
    yield likely
    yield from (header for header in range(_LARGEST_HEADER) if header != likely)


def _copy(
    place: Place, packets: PacketIndex, wanted: NDArray[np.bool_], path: Path
) -> NDArray[np.int64]:
    """Copy packets into a file one after the other, and return where each begins."""
    with (
        open_video(place.path, place.stream) as (container, stream),
        atomic_write(path) as temporary,
        temporary.open("wb") as file,
    ):
        for number, packet in enumerate(read_packets(container, stream)):
            content = bytes(packet)
            if zlib.crc32(content) != packets.check[number]:
                raise not_what_was_screened(place.path)
            if wanted[number]:
                file.write(content)
        file.flush()
    sizes = packets.size[wanted]
    return np.cumsum(sizes) - sizes
