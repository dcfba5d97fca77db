"""Any screened frame by its number, verified by its hash.

A frame of a video is decoded from the key packet before it, which is found by seeking and
recognised by its size and CRC-32. If the pixels are not those that were screened, decoding starts
at the previous key packet (leading pictures of an open group need it), and then at the start of the
segment, exactly as in screening (damaged pictures may depend on everything before them).
"""

import operator
import os
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import chain
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import pyarrow as pa
from cachetools import LRUCache
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frames import pixel_hash as hash_pixels
from capsieve.sources.base import PacketTable, Place, Segment
from capsieve.sources.image_file import decode_image
from capsieve.sources.image_source import ImageSource
from capsieve.sources.video_container import open_video
from capsieve.sources.video_segments import (
    LEAST_FRAMES,
    SEEK_STEPS,
    PacketMark,
    cut_into_segments,
    packets_from,
)
from capsieve.sources.video_source import MOST_DELAYED, PacketDecoder, ToRGB, VideoSource

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.container import InputContainer
    from av.video.stream import VideoStream

__all__ = ["FrameReader"]

_CACHE_BYTES = 256_000_000


class FrameReader:
    """Reads frames of one head in any order; threads may share it.

    Parameters
    ----------
    place
        The source.
    frames
        One row per frame, in order, with the columns file (images), packet (videos) and pixel_hash
        (null if the frame could not be decoded).
    packets, description
        Videos: as in :class:`~capsieve.sources.base.Survey`.
    cache_bytes
        Size of the cache of decoded pictures.
    """

    def __init__(
        self,
        place: Place,
        *,
        frames: pa.Table,
        packets: PacketTable | None,
        description: Mapping[str, Any],
        cache_bytes: int = _CACHE_BYTES,
    ) -> None:
        self._place = place
        self._files: list[str | None] = frames["file"].to_pylist()
        self._packet: NDArray[np.int64] = frames["packet"].fill_null(-1).to_numpy()
        self._hashes: list[str | None] = frames["pixel_hash"].to_pylist()
        self._lock = threading.Lock()
        self._images: ImageSource | None = None
        self._video: _VideoPictures | None = None
        self._key_frames: list[int] = []
        if packets is None:
            self._images = ImageSource(place)
        else:
            self._video = _VideoPictures(place, packets, description, cache_bytes)
            known = (self._packet >= 0) & (self._packet < len(packets))
            decoded = np.flatnonzero(frames["pixel_hash"].is_valid().to_numpy() & known)
            self._key_frames = decoded[packets.key[self._packet[decoded]]].tolist()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and empty the cache."""
        with self._lock:
            if self._video is not None:
                self._video.close()

    def pixels(self, frame: int) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """Return the pixels of a frame, identical to those that were screened.

        Raises
        ------
        FileError
            There is no such frame, it could not be decoded, or the source is missing or changed.
        """
        expected = self._decoded_hash(frame)
        if self._video is None:
            return self._image(frame, expected)[1]
        with self._lock:
            for pixels in self._video.candidates(int(self._packet[frame])):
                if hash_pixels(pixels) == expected:
                    return pixels
        raise self._changed(frame)

    def stored_file(self, frame: int) -> bytes | None:
        """Return the content of a frame's image file, after verifying its pixels; None for videos.

        Raises
        ------
        FileError
            As for :meth:`pixels`.
        """
        expected = self._decoded_hash(frame)
        return None if self._video is not None else self._image(frame, expected)[0]

    def key_frame(self, frame: int) -> int:
        """Return the nearest frame at or before this one that is decoded without any other.

        For images, and before the first such frame of a video, it is the frame itself.
        """
        place = bisect_right(self._key_frames, frame)
        return self._key_frames[place - 1] if place else frame

    def in_stored_order(self, frames: Iterable[int]) -> list[int]:
        """Return frames in the fastest order of reading."""
        if self._video is None:
            return sorted(frames)
        return sorted(frames, key=lambda frame: (self._packet[frame], frame))

    def pixel_hash(self, frame: int) -> str | None:
        """Return the hash of a frame's pixels; None if it could not be decoded.

        Raises
        ------
        FileError
            There is no such frame.
        """
        frame = operator.index(frame)
        if not 0 <= frame < len(self._hashes):
            raise FileError(
                f"{self._place.path} has no frame {frame}; frames are numbered 0 to "
                f"{len(self._hashes) - 1}"
            )
        return self._hashes[frame]

    def _decoded_hash(self, frame: int) -> str:
        expected = self.pixel_hash(frame)
        if expected is None:
            raise FileError(f"frame {frame} of {self._place.path} could not be decoded")
        return expected

    def _image(
        self, frame: int, expected: str
    ) -> tuple[bytes, NDArray[np.uint8] | NDArray[np.uint16]]:
        name = self._files[frame]
        if self._images is None or name is None:
            raise self._changed(frame)
        with self._lock:
            content = self._images.read(name)
        try:
            pixels = decode_image(content, name=os.path.join(self._place.path, name))
        except FileError as error:
            raise self._changed(frame) from error
        if hash_pixels(pixels) != expected:
            raise self._changed(frame)
        return content, pixels

    def _changed(self, frame: int) -> FileError:
        return FileError(
            f"frame {frame} of {self._place.path} is not the one that was screened: the source has "
            "changed; screen it again with --overwrite"
        )


class _VideoPictures:
    """Pictures of a video by packet number. Keeps the file open and pictures in a cache."""

    def __init__(
        self,
        place: Place,
        packets: PacketTable,
        description: Mapping[str, Any],
        cache_bytes: int,
    ) -> None:
        self._place = place
        self._packets = packets
        self._description = description
        self._keys = sorted({0, *np.flatnonzero(packets.key).tolist()})
        self._segments: tuple[Segment, ...] | None = None
        self._cache: LRUCache[int, VideoFrame | NDArray[Any]] = LRUCache(cache_bytes, _bytes)
        self._rgb = ToRGB()
        self._files = ExitStack()
        self._opened: tuple[InputContainer, VideoStream] | None = None
        self._run: _Run | None = None

    def candidates(self, packet: int) -> Iterator[NDArray[Any]]:
        """Yield the pixels of a packet, decoded by one method after the other.

        The next ones are only requested if the hash of the last ones was wrong, so the state of the
        decoder is discarded then.
        """
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

    def close(self) -> None:
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
        found: VideoFrame | None = None
        while run is not None and found is None and run.next <= packet + MOST_DELAYED:
            for number, picture in run.decode_next():
                self._keep(number, picture)
                if number == packet:
                    found = picture
            if run.ended:
                self._run = run = None
        return found

    def _start(self, start: int) -> "_Run | None":
        mark = PacketMark.of(self._packets, start)
        for step in SEEK_STEPS if start and mark.seek is not None else (None,):
            if step is None or self._opened is None:  # counting needs a file that was just opened
                self._run = self._opened = None  # opening may fail, and they use the closed file
                self._files.close()
                opened = open_video(self._place.path, self._place.stream)
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
        place = bisect_right(firsts, packet) - 1
        for number in (place, place - 1):  # the previous one, if it is a leading picture
            segment = self._segments[number] if number >= 0 else None
            if segment is None or packet - firsts[number] not in segment.span.owned:
                continue
            found: NDArray[Any] | None = None
            later = 0
            try:
                for frame in VideoSource(self._place).frames(segment):
                    if frame.packet is not None and frame.pixels is not None:
                        self._keep(frame.packet, frame.pixels)
                        found = frame.pixels if frame.packet == packet else found
                    later += found is not None
                    if later > LEAST_FRAMES:  # only segments of streams without time stamps
                        break
            except FileError:  # changed
                return
            if found is not None:
                yield found.copy()


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
