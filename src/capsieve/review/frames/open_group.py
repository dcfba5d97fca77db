"""A group of pictures that is being decoded, as far as somebody has asked for."""

from collections.abc import Callable, Generator, Iterator
from threading import Lock
from typing import TYPE_CHECKING

from capsieve.review.frames.decoders import Decoders
from capsieve.sources.video.cutting import Span
from capsieve.sources.video.damage import Damage
from capsieve.sources.video.decoding import decoded

if TYPE_CHECKING:
    from av import Packet, VideoFrame

__all__ = ["OpenGroup"]


class OpenGroup:
    """The pictures of a group: decoded once, in the order of decoding, when they are needed.

    The decoder stays where it is until the next picture is asked for, and goes back when the last
    one has come out, or when the group is parked or let go. Pictures are kept as the decoder gave
    them: that is half of what they take as RGB, and most of them are never shown.

    Parameters
    ----------
    span
        What there is to decode.
    packets
        Gives its packets, from the first.
    decoders
        Where a decoder comes from.
    most
        Bytes of pictures to keep: of a group that is larger, the oldest go first, and asking for
        one of them again decodes the group again.
    """

    def __init__(
        self,
        span: Span,
        packets: Callable[[], Iterator["Packet"]],
        decoders: Decoders,
        *,
        most: int,
    ) -> None:
        self._span = span
        self._packets = packets
        self._decoders = decoders
        self._most = most
        self._lock = Lock()
        self._pictures: dict[int, VideoFrame] = {}
        self._gone: set[int] = set()
        self._bytes = 0
        self._parked = False
        self._done = False
        self._steps = self._decode()

    @property
    def bytes(self) -> int:
        """What the pictures that are kept take."""
        return self._bytes

    def picture(self, number: int) -> "VideoFrame | None":
        """Return a picture by its place in the group; None where the decoder gives none."""
        place = self._span.owned[number]
        with self._lock:
            if place in self._gone:
                self._begin_again()
            while place not in self._pictures:
                step = self._next()
                if step is None and not self._parked:
                    return None
                if step is None:  # from the beginning again; what is kept is kept
                    self._parked = False
                    self._steps = self._decode()
                else:
                    self._keep(*step)
            return self._pictures[place]

    def park(self) -> None:
        """Give the decoder back and keep the pictures, unless somebody is waiting for one."""
        if self._lock.acquire(blocking=False):
            try:
                self._parked = self._parked or not self._done
                self._steps.close()
            finally:
                self._lock.release()

    def _decode(self) -> Generator[tuple[int, "VideoFrame"], None, None]:
        return _decoded_pictures(self._span, self._packets, self._decoders)

    def _next(self) -> "tuple[int, VideoFrame] | None":
        try:
            step = next(self._steps, None)
        except BaseException:
            self._parked = True  # whoever asks next begins again
            raise
        self._done = self._done or (step is None and not self._parked)
        return step

    def _keep(self, place: int, frame: "VideoFrame") -> None:
        if place in self._pictures:
            return  # the first picture of a packet counts
        self._pictures[place] = frame
        self._gone.discard(place)
        self._bytes += _size(frame)
        while self._bytes > self._most and len(self._pictures) > 1:
            oldest = next(iter(self._pictures))
            self._bytes -= _size(self._pictures.pop(oldest))
            self._gone.add(oldest)

    def _begin_again(self) -> None:
        self._steps.close()
        self._pictures.clear()
        self._gone.clear()
        self._bytes = 0
        self._parked = self._done = False
        self._steps = self._decode()


# No method: what runs it would keep the group alive, and with it its decoder and all its pictures.
def _decoded_pictures(
    span: Span, packets: Callable[[], Iterator["Packet"]], decoders: Decoders
) -> Generator[tuple[int, "VideoFrame"], None, None]:
    with decoders.one() as context:
        for place, frame in decoded(context, packets(), Damage(span)):
            if frame is not None:
                yield place, frame


def _size(frame: "VideoFrame") -> int:
    return sum(plane.buffer_size for plane in frame.planes)
