"""A video stream as a source: every stored picture is a frame, even if it cannot be decoded.

Damage is reported for frames and for those predicted from them, because FFmpeg marks only the frame
with the damaged data. It does not mark frames of MJPEG at all. There the decoder is set to fail on
damage, and a second decoder returns the rest of the frame. JPEG has no checksum, so damage that
decodes without an error cannot be detected.
"""

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources.base import PacketTable, Place, Segment, SourceFrame, Survey, file_stamp
from capsieve.sources.reader import CACHE_BYTES, FrameReader
from capsieve.sources.video_container import scan_packets, seconds
from capsieve.sources.video_decoder import DAMAGED, MOST_DELAYED, PacketDecoder, ToRGB
from capsieve.sources.video_pictures import VideoPictures
from capsieve.sources.video_segments import Span, cut_into_segments, segment_packets

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.video.codeccontext import VideoCodecContext

# If key frames are fewer than samples, this many packets per sample are decoded after each of them,
# so that the samples differ.
_PACKETS_PER_SAMPLE = 8

_NO_PICTURE = "the decoder returned no frame"
_NOT_RGB = "the frame cannot be converted to RGB"
# H.264 decodes almost any bytes, so the decoder often misses the start of the damage.
_NEXT_DAMAGED = "the frame may be damaged: the one stored after it is"
_PREDICTED = "the frame may be damaged: it is predicted from one that is"


class VideoSource:
    """One video stream of a file.

    Parameters
    ----------
    place
        The file and the index of the stream.
    """

    def __init__(self, place: Place) -> None:
        self.place = place

    def stamp(self) -> str:
        """Return size and modification time of the file."""
        return file_stamp(self.place.path)

    def survey(self) -> Survey:
        """Read the file once without decoding it.

        Raises
        ------
        FileError
            The file is missing, unreadable, not a video, or contains no frame.
        """
        path = self.place.path
        survey = scan_packets(path, self.place.stream)
        assert survey.packets is not None
        segments = cut_into_segments(survey.packets, survey.description)
        if not any(segment.frames for segment in segments):
            raise FileError(f"cannot read {path}: the video contains no frame; get a whole copy")
        return replace(survey, segments=segments)

    def frames(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield every frame of a segment in order, including those that cannot be decoded."""
        span: Span = segment.span
        rgb, damage = ToRGB(), _Damage(span)
        base = Fraction(span.time_base)
        unsorted = not span.ordered and None in [span.stamps[n] for n in span.owned]
        with segment_packets(self.place, segment) as (stream, packets):
            rows = _decode_span(stream.codec_context, packets, span, damage)
            for (_, time), (number, picture) in zip(_rows(span), rows, strict=True):
                pixels = None if picture is None else rgb(picture)
                if picture is not None and pixels is None:
                    damage.note(number, _NOT_RGB)
                yield SourceFrame(
                    pixels,
                    time=seconds(span.stamps[number], base) if unsorted else time,
                    packet=span.first.number + number,
                    problem=damage.of(number),
                )

    def expected(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield the same frames without decoding: no pixels, no problem.

        If only the decoder knows the order of the pictures, they are in the order of packets.
        """
        span: Span = segment.span
        for number, time in _rows(span):
            yield SourceFrame(None, time=time, packet=span.first.number + number)

    def samples(self, survey: Survey, count: int) -> list[NDArray[Any]]:
        """Return pixels of about `count` frames that are spread evenly over the video.

        If there are enough key frames, only these are decoded.
        """
        keys = [(segment, key) for segment in survey.segments for key in segment.span.keys]
        if not keys or count < 1:
            return []
        chosen = _evenly(keys, count)
        each = -(-count // len(chosen))
        samples: list[NDArray[Any]] = []
        for segment in survey.segments:
            wanted = [key for owner, key in chosen if owner is segment]
            if wanted:
                samples += self._segment_samples(segment, wanted, each)
        return _evenly(samples, count)

    def reader(
        self,
        frames: pa.Table,
        *,
        packets: PacketTable | None,
        description: Mapping[str, Any],
        cache_bytes: int = CACHE_BYTES,
    ) -> FrameReader:
        """Return a reader of frames that were screened; `cache_bytes` is for decoded pictures."""
        assert packets is not None
        pictures = VideoPictures(self, frames["packet"], packets, description, cache_bytes)
        return FrameReader(self.place.path, frames["pixel_hash"], pictures)

    def _segment_samples(
        self, segment: Segment, keys: list[int], each: int
    ) -> Iterator[NDArray[Any]]:
        """Yield `each` frames from every one of some key frames of a segment on."""
        rgb = ToRGB()
        length = 1 if each == 1 else each * _PACKETS_PER_SAMPLE
        with segment_packets(self.place, segment) as (stream, packets):
            context = stream.codec_context
            read = 0
            for key, following in zip(keys, [*keys[1:], len(segment.span.stamps)], strict=True):
                decoder = PacketDecoder(context)
                pictures: list[VideoFrame] = []
                for packet in islice(packets, key - read, min(key + length, following) - read):
                    pictures += [picture for _, picture in decoder.decode(0, packet)]
                read = min(key + length, following)
                pictures += [picture for _, picture in decoder.flush()]
                context.flush_buffers()
                sound = [picture for picture in pictures if not picture.is_corrupt]
                converted = [rgb(picture) for picture in _evenly(sound, each)]
                yield from (pixels for pixels in converted if pixels is not None)


class _Damage:
    """Collects faults of packets, and derives which pictures may be damaged.

    A picture may be predicted from any that is stored between its key frame and itself. Leading
    pictures of a key frame may also be predicted from the group before.
    """

    def __init__(self, span: Span) -> None:
        self._span = span
        self._owned = frozenset(span.owned)
        self._problems: dict[int, str] = {}
        self._numbers: list[int] = []  # sorted

    def note(self, number: int, problem: str) -> None:
        """Record a fault; the first of a packet is kept."""
        if number >= 0 and number not in self._problems and not self._precedes(number):
            self._problems[number] = problem
            insort(self._numbers, number)

    def of(self, number: int) -> str:
        """Return the known problem of a packet's picture, or ""."""
        if number in self._problems:
            return self._problems[number]
        if self._span.order == "packets":  # each packet is a key frame
            return ""
        nearest = bisect_left(self._numbers, self._oldest_ancestor(number))
        if nearest < len(self._numbers) and self._numbers[nearest] < number:
            return _PREDICTED
        return _NEXT_DAMAGED if number + 1 in self._problems else ""

    def _precedes(self, number: int) -> bool:
        """Return whether a picture leads the first key frame: then it is decoded elsewhere."""
        stamp, first = self._span.stamps[number], self._span.stamps[0]
        earlier = stamp is not None and first is not None and stamp < first
        return earlier and number not in self._owned

    def _oldest_ancestor(self, number: int) -> int:
        keys, stamps = self._span.keys, self._span.stamps
        group = bisect_right(keys, number) - 1
        if group < 0:
            return 0
        stamp, key_stamp = stamps[number], stamps[keys[group]]
        leads = stamp is not None and key_stamp is not None and stamp < key_stamp
        return keys[group - 1] if leads and group > 0 else keys[group]


def _decode_span(
    context: "VideoCodecContext", packets: Iterable["Packet"], span: Span, damage: _Damage
) -> Iterator[tuple[int, "VideoFrame | None"]]:
    """Yield number and picture of each frame in order; None if the decoder returned no picture.

    Pictures are kept until those stored before them are decoded, because these may be damaged.
    """
    decoder = PacketDecoder(context)
    owned = frozenset(span.owned)
    # If only the decoder knows the order, rows are added as it returns pictures, or does not.
    known = span.ordered
    rows = deque(span.owned if known else ())
    pictures: dict[int, VideoFrame] = {}
    arrived: set[int] = set()

    def take(number: int, picture: "VideoFrame | None") -> None:
        if number in arrived:
            return  # the first picture of a packet counts
        arrived.add(number)
        if picture is not None and picture.is_corrupt:
            damage.note(number, DAMAGED)
        if number in owned:
            if picture is None:
                damage.note(number, _NO_PICTURE)
            else:
                pictures[number] = picture
            if not known:
                rows.append(number)

    last = -1
    for last, packet in enumerate(packets):
        for number, picture in decoder.decode(last, packet):
            take(number, picture)
        if last in decoder.problems:
            damage.note(last, decoder.problems[last])
        take(last - MOST_DELAYED, None)
        while rows and rows[0] <= last - MOST_DELAYED:
            number = rows.popleft()
            yield number, pictures.pop(number, None)
    for number, picture in decoder.flush():
        take(number, picture)
    for number in range(last + 1):
        take(number, None)
    for number in rows:
        yield number, pictures.pop(number, None)


def _rows(span: Span) -> Iterator[tuple[int, float | None]]:
    """Yield packet and time of each picture in the expected order."""
    stamps = [span.stamps[number] for number in span.owned]
    if not span.ordered and None not in stamps:
        # Times ascend, whichever picture each was stored with.
        stamps.sort(key=lambda stamp: stamp or 0)
    base = Fraction(span.time_base)
    yield from zip(span.owned, (seconds(stamp, base) for stamp in stamps), strict=True)


def _evenly(items: list[Any], count: int) -> list[Any]:
    """Return `count` of the items, evenly spaced; all if there are fewer."""
    if len(items) <= count:
        return items
    positions = (np.arange(count) + 0.5) * len(items) / count
    return [items[position] for position in positions.astype(int).tolist()]
