"""The end of the server: quiet, and within a few seconds.

Answers may be under way when somebody presses Ctrl-C: some are nearly there, others are worked out
for pages that have gone. They have a few seconds. What is not ready then is called off, and whoever
still waits for it is told that the room was closed.
"""

import asyncio
import signal
import socket
import threading
import time
from collections.abc import Callable
from types import FrameType

import uvicorn

from capsieve.review.asgi import App, Message, Receive, Scope, Send, refuse

__all__ = ["EndingServer", "QuietEnd", "working_threads_end"]

_LAST_WORDS = 2.0  # seconds that open answers have when the server ends
_FAREWELL = 0.3  # seconds in which those who still wait are told
_CLOSED = "The reading room was closed before the answer was ready."
_WORKER = "AnyIO worker thread"


class QuietEnd:
    """The layer around everything that ends a request which is called off, without a traceback.

    Parameters
    ----------
    app
        What answers.
    ending
        Set when the server ends.
    """

    def __init__(self, app: App, *, ending: threading.Event) -> None:
        self._app = app
        self._ending = ending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if not self._ending.is_set():
                raise
            if not begun:
                await refuse(send, 503, _CLOSED, headers=[("connection", "close")])
            else:  # an answer of which a part is out is not ended as if it were whole
                while (await receive())["type"] != "http.disconnect":
                    pass


class EndingServer(uvicorn.Server):
    """A server that says when it has started, and ends as this module says.

    Parameters
    ----------
    config
        Of uvicorn.
    started
        Called when it answers.
    ending
        Set when it ends.
    last_words
        Seconds that open answers have then.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        started: Callable[[], None],
        ending: threading.Event,
        last_words: float = _LAST_WORDS,
    ) -> None:
        super().__init__(config)
        self._say_started = started
        self._ending = ending
        self._last_words = last_words

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self._say_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End; what is not ready in time is called off here, for uvicorn would do it aloud."""
        self._ending.set()
        calling_off = asyncio.create_task(self._call_off())
        await super().shutdown(sockets)
        calling_off.cancel()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, and let those who follow the changes go."""
        self._ending.set()
        super().handle_exit(sig, frame)
        if sig == signal.SIGTERM:
            # Handed back, it would end the process before the room is closed.
            self._captured_signals = [each for each in self._captured_signals if each != sig]

    async def _call_off(self) -> None:
        await asyncio.sleep(self._last_words)
        for task in list(self.server_state.tasks):
            task.cancel()
        await asyncio.sleep(_FAREWELL)
        for connection in list(self.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()  # the other side does not read, or began and sent half


def working_threads_end(seconds: float) -> bool:
    """Wait until no thread works for an answer any more; return whether that came in time.

    Python waits for them at its end, however long they take. What they work on is not waited for
    by anybody, and nothing that was acknowledged is among it.

    Parameters
    ----------
    seconds
        To wait at most.
    """
    end = time.monotonic() + seconds
    for thread in threading.enumerate():
        if thread.name == _WORKER:
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                return False
    return True
