"""Decoding the packets of a segment: one row for every picture, whether it comes out or not."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.source import SourceFrame
from capsieve.sources.video.colour import RGB
from capsieve.sources.video.cutting import Span
from capsieve.sources.video.damage import Damage
from capsieve.sources.video.damaged_jpeg import is_cut_jpeg, what_is_left
from capsieve.sources.video.opening import LIMITS
from capsieve.sources.video.packet_index import seconds

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.video.codeccontext import VideoCodecContext

__all__ = ["decode_span", "decoded", "expected_stamps"]

# H.264 and HEVC reorder at most 16 pictures: what has not come by then, will not come.
_MOST_REORDERED = 16
_LATEST = 2 * _MOST_REORDERED  # packets that a picture may take to come out

_NO_PICTURE = "the decoder gave no picture"
_CUT = "the picture may be damaged: its data lack the beginning or the end of a JPEG"
_DAMAGED = "the picture is damaged: the decoder filled in what was lost"


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a packet: a new object for each, because its identity matters."""

    number: int


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
    damage = Damage(span)
    outcomes = decoded(context, packets, damage)
    arranged = _as_they_come if span.order == "decoder" else _in_known_order
    stamps = expected_stamps(span)
    own = span.order == "decoder" and None in stamps
    rows = _once_ancestors_are_known(arranged(outcomes, span), span, damage)
    for row, (place, frame) in enumerate(rows):
        stamp = span.stamps[place] if own else stamps[row]
        pixels = None if frame is None else _pixels(frame, place, rgb, damage)
        time = seconds(stamp, time_base)
        yield SourceFrame(pixels=pixels, pts=stamp, time=time, problem=damage.of(place))


def decoded(
    context: "VideoCodecContext", packets: Iterable["Packet"], damage: Damage
) -> Iterator[tuple[int, "VideoFrame | None"]]:
    """Yield the place of each packet that was fed, with None, and of each frame that came out.

    Errors of the decoder never end it: they are noted as the packet's damage.
    """
    from av.error import FFmpegError

    for place, packet in enumerate(packets):
        # PyAV knows an opaque by its identity, for all threads of a process together. Small numbers
        # are one object wherever they occur: what one thread frees, another would lose.
        packet.opaque = _Place(place)
        if packet.is_corrupt:
            damage.note(place, "the container marks the picture's data as damaged")
        try:
            frames = context.decode(packet)
        except FFmpegError as error:
            frames = what_is_left(context, packet, options=LIMITS)
            failed = f"the decoder failed ({error.strerror})"
            damage.note(place, _DAMAGED if frames else failed)
        if is_cut_jpeg(context, packet):
            damage.note(place, _CUT)
        for frame in frames:
            yield _place(frame), frame
        yield place, None
    try:
        for frame in context.decode(None):
            yield _place(frame), frame
    except FFmpegError:
        return  # what has not come out by now has no picture


def _place(frame: "VideoFrame") -> int:
    carried = frame.opaque
    return carried.number if isinstance(carried, _Place) else -1


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


def _once_ancestors_are_known(
    rows: Iterable[tuple[int, "VideoFrame | None"]], span: Span, damage: Damage
) -> Iterator[tuple[int, "VideoFrame | None"]]:
    """Hold pictures back until those stored before them have come, because they may be damaged."""
    unknown = deque(sorted(span.owned))
    known: set[int] = set()
    held: deque[tuple[int, VideoFrame | None]] = deque()
    for place, frame in rows:
        if frame is None:
            damage.note(place, _NO_PICTURE)
        elif frame.is_corrupt:
            damage.note(place, _DAMAGED)
        held.append((place, frame))
        known.add(place)
        while unknown and unknown[0] in known:
            known.discard(unknown.popleft())
        while held and (not unknown or held[0][0] < unknown[0] or len(held) > _MOST_REORDERED):
            yield held.popleft()
    yield from held


def _pixels(frame: "VideoFrame", place: int, rgb: RGB, damage: Damage) -> NDArray[np.uint8] | None:
    from av.error import FFmpegError

    try:
        return rgb(frame)
    except (FFmpegError, ValueError, MemoryError) as error:
        damage.note(place, f"the picture cannot be turned into RGB ({error})")
        return None
