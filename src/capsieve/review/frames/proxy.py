"""A lossless copy of a video in which every frame stands alone.

Where key frames are far apart, a jump would have to decode all that lies between. The proxy is made
once, from the same decoding as the screening, and every frame is checked when it is written: what
comes out of the proxy has the SHA-1 that was screened, or the frame is left out, and is read from
the source. So are frames of another size than the first. What could not be decoded is not in it.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from capsieve.errors import FileError
from capsieve.frames import pixel_hash
from capsieve.review.frames.indexing import Progress
from capsieve.review.frames.proxy_file import ProxyTable, append, begin, go_on, save_table
from capsieve.review.frames.proxy_packing import packing_for
from capsieve.review.frames.room_left import NoRoomError, became_full, check_room, is_no_room
from capsieve.review.frames.table import HeadTable
from capsieve.review.frames.video_index import VideoIndex
from capsieve.sources.source import Place, Segment
from capsieve.sources.video.colour import RGB
from capsieve.sources.video.cutting import Span
from capsieve.sources.video.damage import Damage
from capsieve.sources.video.decoding import decoded
from capsieve.sources.video.finding import segment_packets

if TYPE_CHECKING:
    from av import VideoFrame
    from av.video.codeccontext import VideoCodecContext

__all__ = ["FAR_APART", "build_proxy", "wants_proxy"]

FAR_APART = 60
"""Packets from a key frame to the next, above which a video needs a proxy."""

_TELL_EVERY = 25
_LOOK_AHEAD = 64  # frames among which one is sought that came in an order of its own


def wants_proxy(index: VideoIndex) -> bool:
    """Tell whether frames of a video cannot be reached quickly from its own key frames."""
    return index.order == "decoder" or index.longest_group > FAR_APART


def build_proxy(
    place: Place,
    index: VideoIndex,
    table: HeadTable,
    path: Path,
    *,
    identity: str,
    progress: Progress | None = None,
) -> ProxyTable:
    """Make the proxy of a video, or go on with one that was begun.

    Parameters
    ----------
    place, index
        The video.
    table
        What was screened.
    path
        Where the proxy's frames go; its table goes beside it.
    identity
        Of the source, see :func:`~capsieve.review.frames.keeping.identity_of`.
    progress
        Told how far it is; what it raises ends the work, which can be gone on with.

    Raises
    ------
    NoRoomError
        The disk has no room for it; nothing of it stays.
    FileError
        The source is not what was screened, or the proxy cannot be written.
    """
    tell = progress or (lambda *_: None)
    part, saved = path.with_suffix(".part"), path.with_suffix(".parquet")
    try:
        for stale in (saved, path):  # of another source: room that is wanted now
            stale.unlink(missing_ok=True)
        part.touch()
        with part.open("r+b") as file:
            maker = _Maker(file, table, identity)
            for row, frame in _screened(place, index, table):
                maker.take(row, frame)
                if row % _TELL_EVERY == 0:
                    tell("making a proxy", row, len(table))
                    if maker.table is not None:
                        check_room(path.parent, maker.table, row, exam=table.exam)
        made = maker.table or ProxyTable.empty(None, len(table))
        save_table(made, saved, identity=identity)
        part.replace(path)
    except (OSError, FileError) as error:
        if is_no_room(error):
            part.unlink(missing_ok=True)
            saved.unlink(missing_ok=True)
            if not isinstance(error, NoRoomError):
                raise became_full(table.exam) from error
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error
    tell("making a proxy", len(table), len(table))
    return made


class _Maker:
    """Writes frames into an unfinished proxy."""

    def __init__(self, file: BinaryIO, table: HeadTable, identity: str) -> None:
        self._file = file
        self._screened = table
        self._identity = identity
        self._rgb = RGB()
        self._coders: tuple[VideoCodecContext, VideoCodecContext] | None = None
        self._shape: tuple[int, int, str] | None = None
        self.table = go_on(file, len(table), identity=identity)
        if self.table is None:
            file.seek(0)
            file.truncate()

    def take(self, row: int, frame: "VideoFrame") -> None:
        """Write a frame, if it comes out again as what was screened."""
        from av import Packet
        from av.error import FFmpegError

        if self.table is not None and self.table.holds(row):
            return
        if self._coders is None:
            self._begin(frame)
        shape = (frame.height, frame.width, frame.format.name)
        if self.table is None or self._coders is None or shape != self._shape:
            return
        packing, (encoder, decoder) = self.table.packing, self._coders
        assert packing is not None
        with suppress(FFmpegError, ValueError):  # such a frame is read from the source
            content = bytes(packing.encode(encoder, frame, self._rgb))
            (back,) = decoder.decode(Packet(content))
            if pixel_hash(packing.pixels(back, self._rgb)) == self._screened.value("sha1", row):
                append(self._file, self.table, row, content)

    def _begin(self, frame: "VideoFrame") -> None:
        """Settle by a first frame how all are stored; what was begun stays as it was."""
        found = packing_for(frame)
        if found is None:
            return
        packing, encoder = found
        if self.table is None:
            self.table = ProxyTable.empty(packing, len(self._screened))
            begin(self._file, packing, identity=self._identity)
        if self.table.packing == packing:
            self._coders = encoder, packing.decoder()
            self._shape = (frame.height, frame.width, frame.format.name)


def _screened(
    place: Place, index: VideoIndex, table: HeadTable
) -> Iterator[tuple[int, "VideoFrame"]]:
    """Yield the frames that decode, each with its number, as the screening decoded them."""
    first = 0
    for segment in index.screened_segments():
        span = Span(**segment.span)
        with segment_packets(place.path, place.stream, segment) as (stream, packets):
            outcomes = decoded(stream.codec_context, packets, Damage(span))
            frames = ((at, frame) for at, frame in outcomes if frame is not None)
            if span.order == "decoder":
                yield from _recognised(frames, segment, table)
            else:
                rank = {at: number for number, at in enumerate(span.owned)}
                for at, frame in frames:
                    if at in rank and table.is_decoded(first + rank[at]):
                        yield first + rank[at], frame
        first += segment.frames


def _recognised(
    frames: Iterator[tuple[int, "VideoFrame"]], segment: Segment, table: HeadTable
) -> Iterator[tuple[int, "VideoFrame"]]:
    """Number frames by their pixels, where the order was the decoder's own."""
    rgb = RGB()
    following = 0
    for _, frame in frames:
        digest = pixel_hash(rgb(frame))
        ahead = range(following, min(following + _LOOK_AHEAD, segment.frames))
        row = next((row for row in ahead if table.value("sha1", row) == digest), None)
        if row is not None:
            following = row + 1
            yield row, frame
