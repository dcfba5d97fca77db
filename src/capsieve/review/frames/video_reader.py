"""Frames of an indexed video, in any order."""

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock, local
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.review.frames.byte_cache import ByteCache
from capsieve.review.frames.decoders import Decoders, stream_decoder
from capsieve.review.frames.open_group import OpenGroup
from capsieve.review.frames.packet_file import PacketFile
from capsieve.review.frames.proxy_file import ProxyTable
from capsieve.review.frames.video_index import VideoIndex
from capsieve.sources.source import Place
from capsieve.sources.video import Video
from capsieve.sources.video.colour import RGB

if TYPE_CHECKING:
    from av import Packet, VideoFrame

__all__ = ["Indexed", "VideoReader"]

_MOST_ACTIVE = 4  # groups that hold a decoder
_NEIGHBOURS = 16  # frames before and after one that was found the long way, kept for the next


@dataclass(frozen=True, slots=True, eq=False)
class Indexed:
    """A video and what was made of it.

    Attributes
    ----------
    place, index
        The video, and where its packets lie.
    copies
        The file of packets that the video holds in pieces.
    proxy, proxy_path
        The proxy and its frames; None where there is none.
    """

    place: Place
    index: VideoIndex
    copies: Path
    proxy: ProxyTable | None
    proxy_path: Path


class VideoReader:
    """Reads frames from the video's own groups of pictures, or from its proxy.

    Threads may share it. Decoders and files stay open until it is closed.

    Parameters
    ----------
    video
        What to read.
    cache
        Holds groups that are being decoded; shared with other readers.
    owner
        What keys in the cache begin with.
    """

    def __init__(
        self, video: Indexed, *, cache: ByteCache[OpenGroup], owner: tuple[str, int]
    ) -> None:
        index = video.index
        self._video = video
        self._cache = cache
        # Its own, so that groups of a reader that was closed are never taken for those of the next.
        self._owner = (*owner, object())
        self._closed = False
        self._packet_of = index.packet_of()
        self._starts, self._first_rows = index.groups()
        self._file = PacketFile(video.place.path)
        self._copies = PacketFile(video.copies) if index.copied.any() else None
        self._decoders = Decoders(partial(stream_decoder, video.place))
        self._proxy_file, self._proxy_decoders = self._open_proxy()
        self._active: dict[int, OpenGroup] = {}
        self._opening = Lock()
        self._long_way = Lock()
        self._found: dict[int, NDArray[np.uint8] | None] = {}
        self._threads = local()

    def pixels(self, frame: int) -> NDArray[np.uint8] | None:
        """Return the pixels of a frame the short way; None where nothing comes out.

        Raises
        ------
        FileError
            The video is not what was indexed.
        """
        from av.error import FFmpegError

        proxy = self._video.proxy
        if proxy is not None and proxy.holds(frame):
            with suppress(FileError, FFmpegError, ValueError):  # a torn proxy: there is the source
                return self._from_proxy(proxy, frame)
        if self._video.index.order == "decoder":
            return None  # there is no short way
        group = int(np.searchsorted(self._first_rows, frame, side="right")) - 1
        opened = self._group(group)
        picture = opened.picture(frame - int(self._first_rows[group]))
        self._cache.put((self._owner, group), opened, opened.bytes)
        if self._closed:
            self._cache.forget(self._owner)
        return None if picture is None else self._rgb(picture)

    def as_screened(self, frame: int) -> NDArray[np.uint8] | None:
        """Return the pixels of a frame the long way: from its whole segment, as it was screened.

        Damaged pictures may depend on all that was decoded before them.
        """
        with self._long_way:
            if frame not in self._found:
                self._found = dict(self._segment_frames(frame))
            return self._found.get(frame)

    def close(self) -> None:
        """Close files and decoders."""
        self._closed = True
        with self._opening:
            self._active.clear()
        self._found = {}
        self._cache.forget(self._owner)
        for each in (self._decoders, self._proxy_decoders, self._file, self._copies):
            if each is not None:
                each.close()
        if self._proxy_file is not None:
            self._proxy_file.close()

    def _rgb(self, picture: "VideoFrame") -> NDArray[np.uint8]:
        return self._converter()(picture)

    def _converter(self) -> RGB:
        if not hasattr(self._threads, "rgb"):
            self._threads.rgb = RGB()
        return self._threads.rgb

    def _group(self, number: int) -> OpenGroup:
        key = (self._owner, number)
        with self._opening:
            group = self._cache.get(key)
            if group is None:
                group = self._new_group(number)
                self._cache.put(key, group, 0)
            # Thumbnails come from many groups, and each would keep a decoder and an open file.
            self._active.pop(number, None)
            self._active[number] = group
            if len(self._active) > _MOST_ACTIVE:
                self._active.pop(next(iter(self._active))).park()
        return group

    def _new_group(self, number: int) -> OpenGroup:
        start, first = int(self._starts[number]), int(self._first_rows[number])
        last = number + 1 == len(self._starts)
        after = len(self._packet_of) if last else int(self._first_rows[number + 1])
        span = self._video.index.span(start, self._packet_of[first:after])
        packets = partial(self._packets, start, start + len(span.stamps))
        return OpenGroup(span, packets, self._decoders, most=self._cache.limit // 4)

    def _packets(self, start: int, stop: int) -> Iterator["Packet"]:
        index = self._video.index
        packets = index.packets
        for number in range(start, stop):
            file = self._copies if index.copied[number] else self._file
            assert file is not None
            packet = file.packet(
                int(index.offset[number]), int(packets.size[number]), int(packets.check[number])
            )
            packet.is_keyframe = bool(packets.key[number])
            yield packet

    def _open_proxy(self) -> tuple[PacketFile | None, Decoders | None]:
        proxy = self._video.proxy
        if proxy is None or proxy.packing is None:
            return None, None
        packing = proxy.packing
        return PacketFile(self._video.proxy_path), Decoders(lambda: nullcontext(packing.decoder()))

    def _from_proxy(self, proxy: ProxyTable, frame: int) -> NDArray[np.uint8]:
        assert self._proxy_file is not None
        assert self._proxy_decoders is not None
        assert proxy.packing is not None
        place = (int(column[frame]) for column in (proxy.offset, proxy.size, proxy.check))
        packet = self._proxy_file.packet(*place)
        with self._proxy_decoders.one() as decoder:
            (picture,) = decoder.decode(packet)
        return proxy.packing.pixels(picture, self._converter())

    def _segment_frames(self, wanted: int) -> Iterator[tuple[int, NDArray[np.uint8] | None]]:
        source = Video(self._video.place)
        first = 0
        for segment in self._video.index.screened_segments():
            if wanted < first + segment.frames:
                break
            first += segment.frames
        else:
            raise FileError(f"{self._video.place.path} has no frame {wanted}")
        for number, frame in enumerate(source.frames(segment), start=first):
            if number > wanted + _NEIGHBOURS:
                return
            if number >= wanted - _NEIGHBOURS:
                yield number, frame.pixels  # pyright: ignore[reportReturnType]
