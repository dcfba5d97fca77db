"""Decoding the packets of a segment: one row for every picture, whether it comes out or not."""

from collections import deque
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.source import SourceFrame
from capsieve.sources.video.ancestry import Ancestry
from capsieve.sources.video.colour import RGB
from capsieve.sources.video.cutting import Span
from capsieve.sources.video.packet_index import seconds

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.video.codeccontext import VideoCodecContext

__all__ = ["decode_span", "decoded", "expected_stamps"]

# H.264 and HEVC reorder at most 16 pictures: what has not come by then, will not come.
_MOST_REORDERED = 16
_LATEST = 2 * _MOST_REORDERED  # packets that a picture may take to come out

_NO_PICTURE = "the decoder gave no picture"
_TAINTED = "the picture may be damaged: it is made from one that is"
_DAMAGED = "the picture is damaged: the decoder filled in what was lost"


def expected_stamps(span: Span) -> list[int | None]:
    """Return the time stamps of a segment's pictures in the order in which they come out.

    Where only the decoder knows the order and some stamps are missing, they are as stored.
    """
    stamps = [span.stamps[place] for place in span.owned]
    if span.order == "decoder" and None not in stamps:
        # Times ascend, whichever picture each of them was stored with.
        stamps.sort(key=lambda stamp: stamp or 0)
    return stamps


def decode_span(
    context: "VideoCodecContext",
    packets: Iterable["Packet"],
    span: Span,
) -> Iterator[SourceFrame]:
    """Yield the pictures of a segment in order; for those that do not come out, why."""
    rgb, time_base = RGB(), Fraction(span.time_base)
    problems: dict[int, str] = {}
    ancestry = Ancestry(span)
    outcomes = decoded(context, packets, problems)
    arranged = _as_they_come if span.order == "decoder" else _in_known_order
    stamps = expected_stamps(span)
    own = span.order == "decoder" and None in stamps
    for row, (place, frame) in enumerate(arranged(outcomes, span)):
        stamp = span.stamps[place] if own else stamps[row]
        time = seconds(stamp, time_base)
        problem = problems.get(place, "")
        pixels = None
        if frame is None:
            problem = problem or _NO_PICTURE
        else:
            pixels, problem = _picture(frame, rgb, problem)
        if problem:
            problems[place] = problem
        elif ancestry.is_tainted(place, problems):
            problem = _TAINTED
        yield SourceFrame(pixels=pixels, pts=stamp, time=time, problem=problem)


def decoded(
    context: "VideoCodecContext", packets: Iterable["Packet"], problems: dict[int, str]
) -> Iterator[tuple[int, "VideoFrame | None"]]:
    """Yield the place of each packet that was fed, with None, and of each frame that came out.

    Errors of the decoder never end it: they are noted in `problems` at the packet's place.
    """
    from av.error import FFmpegError

    for place, packet in enumerate(packets):
        packet.opaque = place
        if packet.is_corrupt:
            problems[place] = "the container marks the picture's data as damaged"
        try:
            frames = context.decode(packet)
        except FFmpegError as error:
            frames = []
            problems[place] = f"the decoder failed ({error.strerror})"
        for frame in frames:
            yield _place(frame), frame
        yield place, None
    try:
        for frame in context.decode(None):
            yield _place(frame), frame
    except FFmpegError:
        return  # what has not come out by now has no picture


def _place(frame: "VideoFrame") -> int:
    return frame.opaque if isinstance(frame.opaque, int) else -1


def _in_known_order(
    outcomes: Iterable[tuple[int, "VideoFrame | None"]], span: Span
) -> Iterator[tuple[int, "VideoFrame | None"]]:
    """Arrange frames by the order that is known beforehand; None stands for those that lack."""
    rank = {place: row for row, place in enumerate(span.owned)}
    held: dict[int, VideoFrame] = {}
    row = 0
    for place, frame in outcomes:
        if frame is None or rank.get(place, -1) < row:
            continue
        held[rank[place]] = frame
        while row in held or len(held) > _MOST_REORDERED:
            yield span.owned[row], held.pop(row, None)
            row += 1
    for last in range(row, len(span.owned)):
        yield span.owned[last], held.pop(last, None)


def _as_they_come(
    outcomes: Iterable[tuple[int, "VideoFrame | None"]], span: Span
) -> Iterator[tuple[int, "VideoFrame | None"]]:
    """Pass frames on in the decoder's order; None stands for those that it never gave."""
    waiting = deque(span.owned)
    done: set[int] = set()
    owned = set(span.owned)
    for place, frame in outcomes:
        if frame is not None:
            if place in owned and place not in done:
                done.add(place)
                yield place, frame
            continue
        while waiting and waiting[0] <= place - _LATEST:
            late = waiting.popleft()
            if late not in done:
                done.add(late)
                yield late, None
    for late in waiting:
        if late not in done:
            yield late, None


def _picture(frame: "VideoFrame", rgb: RGB, problem: str) -> tuple[NDArray[np.uint8] | None, str]:
    from av.error import FFmpegError

    try:
        pixels = rgb(frame)
    except (FFmpegError, ValueError, MemoryError) as error:
        return None, f"the picture cannot be turned into RGB ({error})"
    return pixels, problem or (_DAMAGED if frame.is_corrupt else "")
