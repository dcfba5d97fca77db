"""An application behind a real socket, served by a thread of the test."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from capsieve.review.security import App
from capsieve.review.server import EndingServer, bound_socket

__all__ = ["connected", "received", "served_app"]

_WAIT = 60.0  # seconds, for a machine that is busy with other things


@contextmanager
def served_app(
    app: App, *, ending: threading.Event | None = None, last_answers: float = 0.2, **options: Any
) -> Iterator[tuple[EndingServer, int]]:
    """Serve an application; yield the server and its port. At the end it has ended.

    Parameters
    ----------
    app
        What answers.
    ending
        Set when the server ends.
    last_answers
        As in :class:`~capsieve.review.server.EndingServer`.
    options
        Of uvicorn.
    """
    started = threading.Event()
    config = uvicorn.Config(
        app, lifespan="off", log_level="warning", access_log=False, ws="none", **options
    )
    server = EndingServer(
        config,
        started=started.set,
        ending=ending or threading.Event(),
        last_answers=last_answers,
    )
    with bound_socket("127.0.0.1", None) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            assert started.wait(_WAIT)
            yield server, port
        finally:
            server.should_exit = True
            thread.join(_WAIT)
            assert not thread.is_alive()


def connected(port: int, said: bytes = b"") -> socket.socket:
    """Return a connection on which something was said."""
    made = socket.create_connection(("127.0.0.1", port), timeout=_WAIT)
    made.sendall(said)
    return made


def received(connection: socket.socket) -> bytes:
    """Return all that comes until the other side closes."""
    parts: list[bytes] = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)
