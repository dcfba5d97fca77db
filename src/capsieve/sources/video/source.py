"""A video as a source of frames."""

import hashlib
import os
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources.source import Place, Segment, SourceFrame, Survey
from capsieve.sources.video.completeness import missing_frames
from capsieve.sources.video.cutting import LEAST_FRAMES, Span, cut_into_segments
from capsieve.sources.video.decoding import decode_span, expected_stamps
from capsieve.sources.video.description import describe, stamps_are_true
from capsieve.sources.video.finding import segment_packets
from capsieve.sources.video.holes import holes
from capsieve.sources.video.opening import open_video
from capsieve.sources.video.packet_index import (
    PacketIndex,
    index_packets,
    seconds,
    stream_time_base,
)
from capsieve.sources.video.sampling import sample_frames

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

__all__ = ["Video"]


class Video:
    """One video stream of a file.

    Parameters
    ----------
    place
        Where it is.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._groups: tuple[Segment, ...] | None = None

    @property
    def place(self) -> Place:
        """Where it is."""
        return self._place

    def survey(self, *, least: int = LEAST_FRAMES) -> Survey:
        """Read through the file without decoding it.

        Parameters
        ----------
        least
            Frames in a segment, at least.

        Raises
        ------
        FileError
            The file is absent, unreadable, cut off before anything can be decoded, no video, or
            holds no frame.
        """
        path = self._place.path
        with open_video(path, self._place.stream) as (container, stream):
            index = index_packets(container, stream)
            segments = _cut(container, stream, index, least=least)
            if not any(segment.frames for segment in segments):
                raise FileError(f"cannot read {path}: the video holds no frame; get a whole copy")
            declared, missing = missing_frames(container, stream, index)
            lost = holes(container, stream, index)
            description = describe(container, stream, index)
        try:
            with open(path, "rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
                size = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror}; get a fresh copy") from error
        return Survey(
            sha256=sha256,
            size=size,
            declared=declared,
            segments=segments,
            description=description,
            problems=(*index.problems, *lost, *missing),
        )

    def frames(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield every frame of a segment in order; those that cannot be decoded, too.

        Raises
        ------
        FileError
            The file is not what was surveyed.
        """
        span = Span(**segment.span)
        with segment_packets(self._place.path, self._place.stream, segment) as (stream, packets):
            yield from decode_span(stream.codec_context, packets, span)

    def expected(self, segment: Segment) -> Iterator[SourceFrame]:
        """Yield the same frames without decoding: no pixels, no problem."""
        span = Span(**segment.span)
        time_base = Fraction(span.time_base)
        for stamp in expected_stamps(span):
            yield SourceFrame(None, pts=stamp, time=seconds(stamp, time_base))

    def samples(self, survey: Survey, count: int) -> list[NDArray[Any]]:
        """Return pixels of about `count` frames spread evenly over the video, whatever decodes."""
        return sample_frames(self._place, survey, count)

    def frame_at(self, pts: int) -> SourceFrame:
        """Return the frame with a time stamp, the same that :meth:`frames` gives.

        The first call reads through the file, because few containers can be trusted to seek.

        Raises
        ------
        FileError
            There is no such frame in the file, or the file changed between calls.
        """
        if self._groups is None:
            with open_video(self._place.path, self._place.stream) as (container, stream):
                self._groups = _cut(container, stream, index_packets(container, stream), least=1)
        for group in self._groups:
            if pts in group.span["stamps"]:
                for frame in self.frames(group):
                    if frame.pts == pts:
                        return frame
        raise FileError(
            f"{self._place.path} holds no frame with the time stamp {pts}; screen it again, "
            "with --fresh"
        )


def _cut(
    container: "InputContainer", stream: "VideoStream", index: PacketIndex, *, least: int
) -> tuple[Segment, ...]:
    return cut_into_segments(
        index,
        time_base=stream_time_base(stream),
        least=least,
        stamps_are_true=stamps_are_true(container, stream, index),
    )
