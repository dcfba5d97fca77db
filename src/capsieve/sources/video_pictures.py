"""Any picture of a screened video, by the number of its frame.

A frame is decoded from the key packet before it, which is found by seeking and recognised by its
size and CRC-32. If the pixels are not those that were screened, decoding starts at the previous key
packet (leading pictures of an open group need it), and then at the start of the segment, exactly as
in screening (damaged pictures may depend on everything before them).
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from cachetools import LRUCache
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources.base import PacketTable, Segment, Source
from capsieve.sources.video_container import open_video
from capsieve.sources.video_decoder import MOST_DELAYED, PacketDecoder, ToRGB
from capsieve.sources.video_segments import (
    LEAST_FRAMES,
    SEEK_STEPS,
    PacketMark,
    cut_into_segments,
    packets_from,
)

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.container import InputContainer
    from av.video.stream import VideoStream


class VideoPictures:
    """Pictures of a video by frame. Keeps the file open and pictures in a cache.

    Parameters
    ----------
    source
        The video.
    packet_numbers
        Packet of each frame; null if unknown.
    packets, description
        As surveyed.
    cache_bytes
        Size of the cache of decoded pictures.
    """

    def __init__(
        self,
        source: Source,
        packet_numbers: pa.ChunkedArray,
        packets: PacketTable,
        description: Mapping[str, Any],
        cache_bytes: int,
    ) -> None:
        self._source = source
        self._numbers: NDArray[np.int64] = packet_numbers.fill_null(-1).to_numpy()
        self._packets = packets
        self._description = description
        self._keys = sorted({0, *np.flatnonzero(packets.key).tolist()})
        self._segments: tuple[Segment, ...] | None = None
        self._cache: LRUCache[int, VideoFrame | NDArray[Any]] = LRUCache(cache_bytes, _bytes)
        self._rgb = ToRGB()
        self._files = ExitStack()
        self._opened: tuple[InputContainer, VideoStream] | None = None
        self._run: _Run | None = None

    has_files = False

    def candidates(self, frame: int) -> Iterator[tuple[NDArray[Any], None]]:
        """Yield the pixels of a frame, decoded by one method after the other.

        The next ones are only requested if the hash of the last ones was wrong, so the state of the
        decoder is discarded then.
        """
        yield from ((pixels, None) for pixels in self._decoded(int(self._numbers[frame])))

    def _decoded(self, packet: int) -> Iterator[NDArray[Any]]:
        if not 0 <= packet < len(self._packets):
            return
        if packet in self._cache:
            yield from self._pixels(self._cache[packet])
            self._discard(packet)
        group = bisect_right(self._keys, packet) - 1
        for start in self._keys[max(group - 1, 0) : group + 1][::-1]:
            yield from self._pixels(self._decode(start, packet))
            self._discard(packet)
        yield from self._as_screened(packet)

    def stored_order(self, frame: int) -> int:
        """Return the number of the packet of a frame."""
        return int(self._numbers[frame])

    def starts(self) -> NDArray[np.bool_]:
        """Return which frames are decoded without any other."""
        known = (self._numbers >= 0) & (self._numbers < len(self._packets))
        starts = np.zeros(len(self._numbers), np.bool_)
        starts[known] = self._packets.key[self._numbers[known]]
        return starts

    def close(self) -> None:
        """Close the file and empty the cache."""
        self._run = self._opened = None
        self._cache.clear()
        self._files.close()

    def _pixels(self, picture: "VideoFrame | NDArray[Any] | None") -> Iterator[NDArray[Any]]:
        if isinstance(picture, np.ndarray):
            yield picture.copy()  # callers may write into it
        elif picture is not None:
            pixels = self._rgb(picture)
            if pixels is not None:
                yield pixels

    def _discard(self, packet: int) -> None:
        self._cache.pop(packet, None)
        self._run = None

    def _keep(self, packet: int, picture: "VideoFrame | NDArray[Any]") -> None:
        if _bytes(picture) <= self._cache.maxsize:
            self._cache[packet] = picture

    def _decode(self, start: int, packet: int) -> "VideoFrame | None":
        """Decode from a key packet on, or continue an earlier run that started before it."""
        run = self._run
        if run is None or not run.leads_to(start, packet):
            run = self._run = self._start(start)
        picture_found: VideoFrame | None = None
        while run is not None and picture_found is None and run.next <= packet + MOST_DELAYED:
            for number, picture in run.decode_next():
                self._keep(number, picture)
                if number == packet:
                    picture_found = picture
            if run.ended:
                self._run = run = None
        return picture_found

    def _start(self, start: int) -> "_Run | None":
        mark = PacketMark.of(self._packets, start)
        for step in SEEK_STEPS if start and mark.seek is not None else (None,):
            if step is None or self._opened is None:  # counting needs a file that was just opened
                self._run = self._opened = None  # opening may fail, and they use the closed file
                self._files.close()
                opened = open_video(self._source.place.path, self._source.place.stream)
                self._opened = self._files.enter_context(opened)
            container, stream = self._opened
            stream.codec_context.flush_buffers()
            packets = packets_from(container, stream, mark, step)
            first = next(packets, None)
            if first is not None:
                return _Run(stream, chain((first,), packets), start)
        return None

    def _as_screened(self, packet: int) -> Iterator[NDArray[Any]]:
        """Decode the segment of a packet, and keep its frames: others of it are likely needed."""
        if self._segments is None:
            self._segments = cut_into_segments(self._packets, self._description)
        firsts = [segment.span.first.number for segment in self._segments]
        last = bisect_right(firsts, packet) - 1
        for number in (last, last - 1):  # the previous one, if it is a leading picture
            segment = self._segments[number] if number >= 0 else None
            if segment is None or packet - firsts[number] not in segment.span.owned:
                continue
            pixels: NDArray[Any] | None = None
            later = 0
            try:
                for frame in self._source.frames(segment):
                    if frame.packet is not None and frame.pixels is not None:
                        self._keep(frame.packet, frame.pixels)
                        pixels = frame.pixels if frame.packet == packet else pixels
                    later += pixels is not None
                    if later > LEAST_FRAMES:  # only segments of streams without time stamps
                        break
            except FileError:  # changed
                return
            if pixels is not None:
                yield pixels.copy()


class _Run:
    """Decoding of consecutive packets."""

    def __init__(self, stream: "VideoStream", packets: Iterator["Packet"], start: int) -> None:
        self._packets = packets
        self._decoder = PacketDecoder(stream.codec_context)
        self._seen: set[int] = set()
        self._began = start
        self.next = start
        self.ended = False

    def leads_to(self, start: int, packet: int) -> bool:
        """Return whether continuing gives a picture, and is no longer than a start at the key."""
        near = self._began <= start <= self.next <= packet + MOST_DELAYED
        return near and packet not in self._seen

    def decode_next(self) -> "list[tuple[int, VideoFrame]]":
        """Decode a packet and return finished pictures; at the end, all remaining ones."""
        packet = next(self._packets, None)
        if packet is None:
            pictures, self.ended = self._decoder.flush(), True
        else:
            pictures = self._decoder.decode(self.next, packet)
            self.next += 1
        # Only the first picture of a packet counts, as in screening.
        new = [item for item in dict(reversed(pictures)).items() if item[0] not in self._seen]
        self._seen.update(number for number, _ in new)
        return new


def _bytes(picture: "VideoFrame | NDArray[Any]") -> int:
    if isinstance(picture, np.ndarray):
        return picture.nbytes
    return sum(cast(int, plane.buffer_size) for plane in picture.planes)
