"""Whether a video holds all that it declares."""

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.source import Problem
from capsieve.sources.video.packet_index import NO_STAMP, PacketIndex, stream_time_base

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

__all__ = ["missing_frames"]

_TOLERANCE_S = 2.0
_MICROSECOND = 1e-6
_MATROSKA = "matroska,webm"


def missing_frames(
    container: "InputContainer", stream: "VideoStream", index: PacketIndex
) -> tuple[int | None, tuple[Problem, ...]]:
    """Return how many frames a stream declares, or None, and what is missing of it.

    Containers without a count may declare a duration: then the last time is held against it. The
    place of the loss is given where it is known to be the end.
    """
    hidden = int(index.hidden.sum())
    found = len(index) - hidden
    stamps = index.pts[(index.pts != NO_STAMP) & ~index.hidden]
    times = np.sort(stamps).astype(np.float64) * float(stream_time_base(stream))
    last = float(times[-1]) if len(times) else None
    short = _shortfall(container, stream, times)
    if stream.frames > 0:
        declared = max(stream.frames - hidden - _repeated(container, index), 0)
        if declared <= found:
            return declared, ()
        what = f"the file declares {declared} frames and holds {found}: it is cut off or damaged"
        # AVI stores no times: they are counted, and frames lost anywhere shorten the end.
        at_end = short is not None and container.format.name != "avi"
        return declared, (Problem(what, last if at_end else None),)
    if short is None:
        return None, ()
    duration, held = short
    what = f"the file declares {duration:.1f} s and holds {held:.1f} s: it is cut off or damaged"
    return None, (Problem(what, last),)


def _shortfall(
    container: "InputContainer", stream: "VideoStream", times: NDArray[np.floating]
) -> tuple[float, float] | None:
    """Return the seconds that a stream declares and holds, where these are clearly fewer."""
    duration = _declared_duration(container, stream)
    if duration is None or len(times) == 0:
        return None
    # Matroska counts from zero, the others from the first frame.
    held = float(times[-1] - (0 if container.format.name == _MATROSKA else times[0]))
    largest_gap = float(np.diff(times).max()) if len(times) > 1 else 0.0
    short = duration - held > max(_TOLERANCE_S, 2 * largest_gap)
    return (duration, held) if short else None


def _repeated(container: "InputContainer", index: PacketIndex) -> int:
    """Return how many packets of an AVI are empty: moments in which the last frame stands on.

    FFmpeg leaves them out, but counts them in the decoding times, one for each packet.
    """
    known = index.dts[index.dts != NO_STAMP]
    if container.format.name != "avi" or len(known) == 0:
        return 0
    return max(int(known.max() - known.min()) + 1 - len(index), 0)


def _declared_duration(container: "InputContainer", stream: "VideoStream") -> float | None:
    """Return how long a stream claims to be, in seconds, where that is about this stream."""
    if stream.duration is not None:
        return float(stream.duration * stream_time_base(stream))
    tag = re.fullmatch(r"(\d+):(\d+):(\d+\.?\d*)", stream.metadata.get("DURATION", ""))
    if tag:
        hours, minutes, rest = tag.groups()
        return int(hours) * 3600 + int(minutes) * 60 + float(rest)
    if container.duration is None or len(container.streams) > 1:
        return None  # another stream may be the longer one
    return container.duration * _MICROSECOND
