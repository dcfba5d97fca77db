"""Open decoders, kept for the next one who needs one."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from capsieve.sources.source import Place
from capsieve.sources.video.opening import open_video

if TYPE_CHECKING:
    from av.video.codeccontext import VideoCodecContext

__all__ = ["Decoders", "Opener", "stream_decoder"]

Opener = Callable[[], AbstractContextManager["VideoCodecContext"]]
"""Opens a decoder, for as long as its context lasts."""

_MOST_IDLE = 3


@contextmanager
def stream_decoder(place: Place) -> Iterator["VideoCodecContext"]:
    """Open the decoder of a video's stream: it knows what only the container says."""
    with open_video(place.path, place.stream) as (_, stream):
        yield stream.codec_context


class Decoders:
    """The decoders of one stream. Each is used by one thread at a time.

    Parameters
    ----------
    opener
        Opens another one.
    """

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._idle: list[tuple[VideoCodecContext, ExitStack]] = []
        self._lock = Lock()
        self._closed = False

    @property
    def idle(self) -> int:
        """How many are open and wait."""
        return len(self._idle)

    @contextmanager
    def one(self) -> Iterator["VideoCodecContext"]:
        """Lend a decoder that knows of no picture yet."""
        with self._lock:
            taken = self._idle.pop() if self._idle else None
        if taken is None:
            stack = ExitStack()
            taken = stack.enter_context(self._opener()), stack
        context, stack = taken
        try:
            yield context
        finally:
            context.flush_buffers()
            with self._lock:
                keep = not self._closed and len(self._idle) < _MOST_IDLE
                if keep:
                    self._idle.append(taken)
            if not keep:
                stack.close()

    def close(self) -> None:
        """Close those that wait, and the others when they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for _, stack in idle:
            stack.close()
