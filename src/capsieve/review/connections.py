"""Connections of those who were not let in: few at a time, and none that keeps us waiting.

The server waits for the head of a request as long as the other side likes. Somebody without a
password could hold hundreds of connections with half a request each, until no reader gets one. So
a head has to be whole in time, and of the connections that nobody was let in by, the one that has
kept us waiting longest makes room for a new one.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["HEAD_SECONDS", "MOST_STRANGERS", "GuardedProtocol", "guarded"]

HEAD_SECONDS = 10.0
"""For the whole head of a request, from its first byte or from the connection."""

MOST_STRANGERS = 100
"""Connections by which nobody was let in; a browser makes six at most."""

_STRANGERS_KEEP_ALIVE = 5  # seconds; a reader's connection is kept for longer


class GuardedProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with limits for strangers. Limits are set by :func:`guarded`."""

    head_seconds = HEAD_SECONDS
    most_strangers = MOST_STRANGERS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._since = 0.0
        self._readers_keep_alive = self.timeout_keep_alive

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Begin, and make room for it where there are too many."""
        super().connection_made(transport)
        self._begin_timer()
        ours = (each for each in self.connections if isinstance(each, GuardedProtocol))
        # One that was ended stays in the list for a moment.
        strangers = [each for each in ours if not (each._let_in() or each.transport.is_closing())]
        if len(strangers) > self.most_strangers:
            waiting = [each for each in strangers if each._waits_for_them()]
            oldest = min(waiting, key=lambda each: each._since, default=self)
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._end_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a head that begins has to end in time, however often a byte of it comes."""
        super().data_received(data)
        if not self._waits_for_them():
            self._end_timer()
        elif self._head_timer is None and not self.transport.is_closing():
            self._begin_timer()

    def on_response_complete(self) -> None:
        """Keep the connection for the next request; that of a stranger not for long."""
        self._since = self.loop.time()
        longest = self._readers_keep_alive
        self.timeout_keep_alive = longest if self._let_in() else min(_STRANGERS_KEEP_ALIVE, longest)
        super().on_response_complete()

    def _let_in(self) -> bool:
        """Whether the gate found a reader for the last request of this connection."""
        return self.scope is not None and self.scope.get("state", {}).get("reader") is not None

    def _waits_for_them(self) -> bool:
        """Whether the other side has yet to send the head of a request, or the rest of an old one.

        A body that somebody waits for is none of it: the application has a limit of its own.
        """
        if self.conn.their_state is h11.IDLE:
            return True
        answered = self.cycle is not None and self.cycle.response_complete
        return self.conn.their_state is h11.SEND_BODY and answered

    def _begin_timer(self) -> None:
        self._since = self.loop.time()
        self._head_timer = self.loop.call_later(self.head_seconds, self._too_late)

    def _end_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_late(self) -> None:
        self._head_timer = None
        self.transport.abort()


def guarded(
    *, head_seconds: float = HEAD_SECONDS, most_strangers: int = MOST_STRANGERS
) -> type[GuardedProtocol]:
    """Return the protocol with limits of its own.

    Parameters
    ----------
    head_seconds
        For the head of a request.
    most_strangers
        Connections by which nobody was let in.
    """
    limits = {"head_seconds": head_seconds, "most_strangers": most_strangers}
    return type("GuardedProtocol", (GuardedProtocol,), limits)
