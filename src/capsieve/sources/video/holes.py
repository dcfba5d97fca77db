"""Stretches of a video that are lost without the container's saying so."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.source import Problem
from capsieve.sources.video.packet_index import NO_STAMP, PacketIndex, stream_time_base

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

__all__ = ["holes"]

_MOST_NAMED = 20
_SMALLEST_HOLE = 2048  # bytes: what Matroska itself puts between two frames is far less
_PERIODS = 2.5


def holes(
    container: "InputContainer", stream: "VideoStream", index: PacketIndex
) -> tuple[Problem, ...]:
    """Return where frames are missing in containers that do not number them.

    A Matroska file with a single stream has its frames side by side: bytes between them are
    damaged ones that FFmpeg skipped. MPEG-1 and MPEG-2 have a constant rate: a gap in the times is
    a loss. In other streams times may vary, and a gap says nothing.
    """
    known = index.pts != NO_STAMP
    times = np.where(known, index.pts, 0) * float(stream_time_base(stream))
    found: list[Problem] = []
    if container.format.name == "matroska,webm" and len(container.streams) == 1:
        gaps = index.place[1:] - (index.place[:-1] + index.size[:-1])
        sound = (index.place[1:] >= 0) & (index.place[:-1] >= 0)
        least = max(_SMALLEST_HOLE, 2 * int(np.median(index.size)))
        for place in np.flatnonzero(sound & (gaps > least))[:_MOST_NAMED].tolist():
            what = f"{gaps[place]} bytes are damaged here, and frames in them are lost"
            found.append(Problem(what, float(times[place]) if known[place] else None))
    constant = stream.codec_context.name in ("mpeg1video", "mpeg2video")
    # A container that repeats stamps has them wrong, and then gaps are no loss.
    distinct = len(np.unique(index.pts)) == len(index)
    if constant and distinct and stream.average_rate:
        found += _gaps(np.sort(times[known]), _PERIODS / float(stream.average_rate))
    return tuple(found)


def _gaps(times: NDArray[np.float64], most: float) -> list[Problem]:
    gaps = np.diff(times)
    return [
        Problem(f"frames are missing for {gaps[place]:.2f} s here", float(times[place]))
        for place in np.flatnonzero(gaps > most)[:_MOST_NAMED].tolist()
    ]
