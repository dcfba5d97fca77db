"""One frame of a video, by its time stamp."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from capsieve.errors import FileError
from capsieve.sources.source import Place, SourceFrame
from capsieve.sources.video.colour import RGB
from capsieve.sources.video.decoding import decoded, picture
from capsieve.sources.video.opening import open_video
from capsieve.sources.video.packet_index import read_packets, seconds, stream_time_base

if TYPE_CHECKING:
    from av import Packet

__all__ = ["fetch_frame"]

# Containers that store the time stamp of every frame. In others it depends on what was read before,
# so that one has to read from the beginning.
_STORE_STAMPS = ("mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm")


def fetch_frame(place: Place, pts: int) -> SourceFrame:
    """Return the frame with a time stamp.

    Decoding begins one key frame earlier than seems needed: pictures shown before a key frame may
    be stored after it, and made from those before it.

    Raises
    ------
    FileError
        There is no such frame in the file, or it cannot be decoded.
    """
    for sought in (True, False):
        with open_video(place.path, place.stream) as (container, stream):
            if sought:
                if container.format.name not in _STORE_STAMPS:
                    continue
                if not _seek_before(container, stream, pts):
                    continue
            problems: dict[int, str] = {}
            run = _from_two_key_frames_before(read_packets(container, stream), pts)
            stamps: list[int | None] = []
            for number, frame in decoded(stream.codec_context, _noted(run, stamps), problems):
                if frame is not None and number >= 0 and stamps[number] == pts:
                    pixels, problem = picture(frame, RGB(), problems.get(number, ""))
                    time = seconds(pts, stream_time_base(stream))
                    return SourceFrame(pixels, pts=pts, time=time, problem=problem)
    raise FileError(
        f"{place.path} gives no frame with the time stamp {pts}; screen it again, with --fresh"
    )
