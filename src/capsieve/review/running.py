"""The server: its socket, its start, its end."""

import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from capsieve.errors import ParameterError
from capsieve.review.app import create_app
from capsieve.review.connections import guarded
from capsieve.review.ending import EndingServer, QuietEnd, working_threads_end
from capsieve.review.room import ReadingRoom
from capsieve.review.warming import exam_of_each_kind

__all__ = ["DEFAULT_PORT", "bound_socket", "run_room"]

DEFAULT_PORT = 8765
_LONGEST_END = 10  # seconds; open answers are called off well before
_LEAVE_AFTER = 2.0  # seconds that work which was called off has to end
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
        # Connections inherit it. An answer goes out in two pieces, its head and its body; without,
        # the second waits 40 ms for the other side to acknowledge the first.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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
    browser: str | None,
    say: Callable[[str], None],
) -> bool:
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
        What to open in a browser, which other accounts of this machine can read in the list of
        processes; None opens nothing.
    say
        Told the link when the room answers.

    Returns
    -------
    bool
        Whether all work for answers has ended; some may go on that nobody waits for.
    """
    config = uvicorn.Config(
        QuietEnd(create_app(room), ending=room.ending),
        log_level="warning",
        access_log=False,  # it would write the token down
        lifespan="off",
        http=guarded(),
        ws="none",
        server_header=False,
        proxy_headers=room.door.users is not None,  # whether TLS stands in front
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_LONGEST_END,
    )

    def started() -> None:
        say(link)
        room.warming.begin(lambda: exam_of_each_kind(room.catalogue.exams()))
        if browser is not None:
            threading.Thread(target=_open_browser, args=(browser,), daemon=True).start()

    # The server hands the signals back when it is done; a second Ctrl-C ends it at once.
    server = EndingServer(config, started=started, ending=room.ending)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
    with suppress(KeyboardInterrupt):
        room.close()
        return working_threads_end(_LEAVE_AFTER)
    return False


def _open_browser(address: str) -> None:
    try:
        webbrowser.open(address)
    except Exception as error:  # a reader opens the link by hand then
        print(f"capsieve: no browser could be opened: {error}", file=sys.stderr)


def _told(host: str, port: int, error: OSError) -> tuple[str, str]:
    import errno

    if error.errno == errno.EADDRINUSE:
        return "port", f"{port} is in use; leave --port out, and a free one is taken"
    if error.errno == errno.EACCES:
        return "port", f"{port} is reserved for the system; choose one from 1024"
    return "host", f"cannot listen at {host}: {error.strerror or error}"
