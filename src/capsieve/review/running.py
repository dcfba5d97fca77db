"""The server: its socket, its start, its end."""

import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn

from capsieve.errors import ParameterError
from capsieve.review.app import create_app
from capsieve.review.room import ReadingRoom

__all__ = ["DEFAULT_PORT", "bound_socket", "run_room"]

DEFAULT_PORT = 8765
_LAST_WORDS = 3  # seconds that open answers have when the server ends
_KEEP_ALIVE = 75  # seconds; a reader who looks at a frame for a minute keeps the connection


def bound_socket(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens at a host.

    Parameters
    ----------
    host
        A name or an address.
    port
        None takes the usual one, or any that is free.

    Raises
    ------
    ParameterError
        The port is in use, or the host is none of this machine's.
    """
    wanted = [DEFAULT_PORT, 0] if port is None else [port]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in wanted:
        listener = socket.socket(family, socket.SOCK_STREAM)
        # So that a server that was just ended can be started again at once.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(128)  # now, so that whoever comes before the server is up can wait
        except socket.gaierror:
            listener.close()
            raise ParameterError("host", f"{host!r} is no address of a machine") from None
        except OSError as error:
            listener.close()
            if number == wanted[-1]:
                raise ParameterError(*_told(host, number, error)) from error
            continue
        return listener
    raise AssertionError("one of them was the last")


def run_room(
    room: ReadingRoom,
    listener: socket.socket,
    *,
    link: str,
    browser: bool,
    say: Callable[[str], None],
) -> None:
    """Serve a room until somebody presses Ctrl-C.

    Parameters
    ----------
    room
        It is closed at the end.
    listener
        From :func:`bound_socket`.
    link
        What opens the room.
    browser
        Whether to open it.
    say
        Told the link when the room answers.
    """
    config = uvicorn.Config(
        create_app(room),
        log_level="warning",
        access_log=False,  # it would write the token down
        lifespan="off",
        server_header=False,
        proxy_headers=room.door.users is not None,  # whether TLS stands in front
        timeout_graceful_shutdown=_LAST_WORDS,
        timeout_keep_alive=_KEEP_ALIVE,
    )

    def started() -> None:
        say(link)
        if browser:
            threading.Thread(target=_open_browser, args=(link,), daemon=True).start()

    # The server hands the signals back when it is done; a second Ctrl-C ends it at once.
    server = _Server(config, started=started, ending=room.ending)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
    with suppress(KeyboardInterrupt):
        room.close()


class _Server(uvicorn.Server):
    """A server that says when it has started, and tells open answers when it ends."""

    def __init__(
        self, config: uvicorn.Config, *, started: Callable[[], None], ending: threading.Event
    ) -> None:
        super().__init__(config)
        self._say_started = started
        self._ending = ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self._say_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, and let those who follow the changes go."""
        self._ending.set()
        super().handle_exit(sig, frame)
        if sig == signal.SIGTERM:
            # Handed back, it would end the process before the room is closed.
            self._captured_signals = [each for each in self._captured_signals if each != sig]


def _open_browser(link: str) -> None:
    try:
        webbrowser.open(link)
    except Exception as error:  # a reader opens the link by hand then
        print(f"capsieve: no browser could be opened: {error}", file=sys.stderr)


def _told(host: str, port: int, error: OSError) -> tuple[str, str]:
    import errno

    if error.errno == errno.EADDRINUSE:
        return "port", f"{port} is in use; leave --port out, and a free one is taken"
    if error.errno == errno.EACCES:
        return "port", f"{port} is reserved for the system; choose one from 1024"
    return "host", f"cannot listen at {host}: {error.strerror or error}"
