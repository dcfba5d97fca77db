"""Limits for unauthenticated connections and for slow request heads.

uvicorn waits for the head of a request as long as the other side likes. Somebody without a password
could hold hundreds of connections with half a request each, until no reader gets one. So a head has
to be complete in time, and the oldest unauthenticated connection makes room for a new one.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class LimitedProtocol(H11Protocol):
    """HTTP with limits; a subclass may have others.

    A connection is authenticated if its last request had a reader.
    """

    head_seconds = 10.0
    """For the whole head of a request, from its first byte or from the connection."""

    most_unauthenticated = 100
    """Unauthenticated connections; a browser makes six at most."""

    unauthenticated_keep_alive = 5
    """Seconds; authenticated connections are kept for longer."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._since = 0.0
        self._authenticated_keep_alive = self.timeout_keep_alive

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Begin; if there are too many connections, end the oldest unauthenticated one."""
        super().connection_made(transport)
        self._begin_timer()
        ours = (each for each in self.connections if isinstance(each, LimitedProtocol))
        # One that was ended stays in the list for a moment.
        others = [
            each for each in ours if not (each._authenticated() or each.transport.is_closing())
        ]
        if len(others) > self.most_unauthenticated:
            waiting = [each for each in others if each._waits_for_head()]
            oldest = min(waiting, key=lambda each: each._since, default=self)
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._end_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a head has to be complete in time, however often a byte of it comes."""
        super().data_received(data)
        if not self._waits_for_head():
            self._end_timer()
        elif self._head_timer is None and not self.transport.is_closing():
            self._begin_timer()

    def on_response_complete(self) -> None:
        """Keep the connection for the next request; an unauthenticated one not for long."""
        self._since = self.loop.time()
        longest = self._authenticated_keep_alive
        self.timeout_keep_alive = (
            longest if self._authenticated() else min(self.unauthenticated_keep_alive, longest)
        )
        super().on_response_complete()

    def _authenticated(self) -> bool:
        return self.scope is not None and self.scope.get("state", {}).get("reader") is not None

    def _waits_for_head(self) -> bool:
        """Return whether the head of a request is missing, or the rest of an old one.

        A body that is waited for is neither: the application has a limit for it.
        """
        if self.conn.their_state is h11.IDLE:
            return True
        answered = self.cycle is not None and self.cycle.response_complete
        return self.conn.their_state is h11.SEND_BODY and answered

    def _begin_timer(self) -> None:
        self._since = self.loop.time()
        self._head_timer = self.loop.call_later(self.head_seconds, self._end)

    def _end_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end(self) -> None:
        self._head_timer = None
        self.transport.abort()
