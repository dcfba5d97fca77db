"""The server: its socket, its start and its end."""

import asyncio
import html
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import uvicorn

from capsieve.decisions.roles import Role, Workflow, default_role
from capsieve.errors import ParameterError
from capsieve.review.app import create_app
from capsieve.review.connections import LimitedProtocol
from capsieve.review.log import Log, log_nothing
from capsieve.review.security import Access, App, Receive, Scope, Send, refuse
from capsieve.review.sessions import Reader, Sessions
from capsieve.review.settings import LOOPBACK, ReviewSettings
from capsieve.review.state import State
from capsieve.review.users import Users

DEFAULT_PORT = 8765
_HOUR = 3600.0
_LAST_ANSWERS = 2.0  # seconds that open answers have when the server ends
_LAST_REFUSALS = 0.3
_LONGEST_END = 10  # seconds
_LONGEST_WORK = 2.0  # seconds that cancelled work has to end
_KEEP_ALIVE = 75  # seconds; a reader who looks at a frame for a minute keeps the connection
_CLOSED = "The server ended before the answer was ready."
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>capsieve</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={link}">
</head><body><p><a href="{link}">Open the reading room</a></p></body></html>
"""


def bound_socket(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens at a host.

    Parameters
    ----------
    host
        A name or an address.
    port
        By default the usual one, or any that is free.

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
            listener.listen(128)  # now: a client can wait until the server is up
        except socket.gaierror:
            listener.close()
            raise ParameterError("host", f"{host!r} is not an address of a machine") from None
        except OSError as error:
            listener.close()
            if number == wanted[-1]:
                raise ParameterError(*_reason(host, number, error)) from error
            continue
        return listener
    raise AssertionError("the last one returned or raised")


def _reason(host: str, port: int, error: OSError) -> tuple[str, str]:
    import errno

    if error.errno == errno.EADDRINUSE:
        return "port", f"{port} is in use; leave --port out, and a free one is taken"
    if error.errno == errno.EACCES:
        return "port", f"{port} is reserved for the system; choose one from 1024"
    return "host", f"cannot listen at {host}: {error.strerror or error}"


def link_access(
    workflow: Workflow,
    *,
    port: int,
    reader: str,
    role: Role | None = None,
    log: Log = log_nothing,
) -> Access:
    """Return the access of one reader on this machine, by a link with a token."""
    return Access(
        cookie=f"capsieve-{port}",
        hosts=LOOPBACK,
        # The page may stay open overnight; the session ends with the server.
        sessions=Sessions(longest=30 * 24 * _HOUR, idle=30 * 24 * _HOUR),
        token=secrets.token_urlsafe(32),
        reader=Reader(reader, role or default_role(workflow)),
        log=log,
    )


def users_access(
    users: Users, settings: ReviewSettings, *, port: int, log: Log = log_nothing
) -> Access:
    """Return the access of the users in a file, by name and password or by a trusted proxy."""
    names = {settings.host, socket.gethostname(), *settings.allowed_hosts} - {"0.0.0.0", "::"}
    return Access(
        cookie=f"capsieve-{port}",
        hosts=LOOPBACK | {name.lower() for name in names},
        sessions=Sessions(longest=12 * _HOUR, idle=_HOUR, known=users.knows),
        users=users,
        trusted_proxy=settings.trusted_proxy,
        remote_user_header=settings.remote_user_header,
        log=log,
    )


@contextmanager
def link_page(link: str) -> Iterator[str]:
    """Write a page that leads to a link; yield its address. The page goes at the end.

    A browser is opened with the page's address. With the link itself, every account of the machine
    could read the token in the list of processes.
    """
    with tempfile.TemporaryDirectory(prefix="capsieve-") as folder:  # of this account alone
        page = Path(folder) / "link.html"
        page.touch(mode=0o600)
        page.write_text(_PAGE.format(link=html.escape(link)), encoding="ascii")
        yield page.as_uri()


def run_server(
    state: State,
    listener: socket.socket,
    *,
    browser: str | None,
    started: Callable[[], None],
) -> bool:
    """Serve until Ctrl-C or SIGTERM, then close what is open.

    Parameters
    ----------
    listener
        From :func:`bound_socket`.
    browser
        What to open in a browser; other accounts can read it in the list of processes.
    started
        Called when the server answers.

    Returns
    -------
    bool
        Whether all work for answers has ended; some may continue that no request waits for.
    """
    config = uvicorn.Config(
        QuietEnd(create_app(state), ending=state.ending),
        log_level="warning",
        access_log=False,  # it would have the token
        lifespan="off",
        http=LimitedProtocol,
        ws="none",
        server_header=False,
        proxy_headers=False,  # see create_app
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_LONGEST_END,
    )

    def begin() -> None:
        started()
        if browser is not None:
            threading.Thread(target=_open_browser, args=(browser,), daemon=True).start()

    # The server hands signals back when it is done; a second Ctrl-C ends it at once.
    server = EndingServer(config, started=begin, ending=state.ending)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listener])
    with suppress(KeyboardInterrupt):
        state.close()
        return _threads_end()
    return False


def _threads_end() -> bool:
    """Wait until no thread works for an answer any more; return whether that came in time.

    Python waits for threads at its end, however long they take. Nobody waits for what they do, and
    everything that was acknowledged is stored.
    """
    end = time.monotonic() + _LONGEST_WORK
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join(max(0.0, end - time.monotonic()))
            if thread.is_alive():
                return False
    return True


def _open_browser(address: str) -> None:
    try:
        webbrowser.open(address)
    except Exception as error:  # a reader opens the link by hand then
        print(f"capsieve: no browser could be opened: {error}", file=sys.stderr)


class QuietEnd:
    """The layer around everything that ends cancelled requests without a traceback."""

    def __init__(self, app: App, *, ending: threading.Event) -> None:
        self._app, self._ending = app, ending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        begun = False

        async def noted(message: Scope) -> None:
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
            else:  # an answer of which a part is out is not ended as if it were complete
                while (await receive())["type"] != "http.disconnect":
                    pass


class EndingServer(uvicorn.Server):
    """A server that says when it has started, and ends within a few seconds.

    Parameters
    ----------
    started
        Called when it answers.
    ending
        Set when it ends.
    last_answers
        Seconds that open answers have then.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        started: Callable[[], None],
        ending: threading.Event,
        last_answers: float = _LAST_ANSWERS,
    ) -> None:
        super().__init__(config)
        self._call_started = started
        self._ending = ending
        self._last_answers = last_answers

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self._call_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End; what is not ready in time is cancelled here, because uvicorn logs a traceback."""
        self._ending.set()
        cancelling = asyncio.create_task(self._cancel())
        await super().shutdown(sockets)
        cancelling.cancel()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note that a signal came."""
        self._ending.set()
        super().handle_exit(sig, frame)
        if sig == signal.SIGTERM:
            # Handed back, it would end the process before everything is closed.
            self._captured_signals = [each for each in self._captured_signals if each != sig]

    async def _cancel(self) -> None:
        await asyncio.sleep(self._last_answers)
        for task in list(self.server_state.tasks):
            task.cancel()
        await asyncio.sleep(_LAST_REFUSALS)
        for connection in list(self.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()  # the other side does not read, or sent half
