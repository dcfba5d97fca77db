"""The token of a room's link, kept so that it outlives a server that was killed.

A server that dies and is started again at the same port has the same link. One that ends as it
should takes its token with it. The token lies with the account of whoever reads, not in OUT:
results are copied and handed on, and a token among them would open the room to whoever has the
copy. The cookie is not kept: while the server is down, the page shows it to whatever listens at
the port instead.
"""

import html
import os
import secrets
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

__all__ = ["HOURS", "forget_token", "kept_fresh", "kept_token", "leading_page", "token_file"]

HOURS = 24
"""A token that no server has used for longer than this is not used again."""

_BYTES = 32
_LENGTH = 43  # letters of so many bytes
_REFRESH = 3600.0  # seconds
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>The reading room of capsieve</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={link}">
</head><body><p><a href="{link}">Open the reading room</a></p></body></html>
"""


def token_file(*room: object) -> Path:
    """Return where this account keeps the token of a room.

    Parameters
    ----------
    room
        What makes it this one: folder, port, reader, role. A link of one reader is none of
        another's.
    """
    state = os.environ.get("XDG_STATE_HOME")
    folder = Path(state or Path.home() / ".local" / "state") / "capsieve" / "rooms"
    said = "\0".join(map(str, room)).encode("utf-8", "surrogatepass")
    return folder / sha256(said).hexdigest()[:32]


def kept_token(path: Path) -> str:
    """Return the token of a file; make one where there is none, or where it is not to be trusted.

    Where the file cannot be written, the token lasts as long as the server.

    Parameters
    ----------
    path
        From :func:`token_file`.
    """
    known = _trusted(path)
    if known is not None:
        return known
    token = secrets.token_urlsafe(_BYTES)
    with suppress(OSError):
        _write_for_owner(path, token)
    return token


@contextmanager
def kept_fresh(path: Path, *, every: float = _REFRESH) -> Iterator[None]:
    """Keep a token from growing old while its server runs.

    Parameters
    ----------
    path
        From :func:`token_file`.
    every
        Seconds.
    """
    done = threading.Event()

    def work() -> None:
        while True:  # at once: the token may be one of yesterday's server
            with suppress(OSError):
                os.utime(path)
            if done.wait(every):
                return

    threading.Thread(target=work, name="fresh token", daemon=True).start()
    try:
        yield
    finally:
        done.set()


def leading_page(path: Path, link: str) -> str | None:
    """Write a page that leads to a link, and return its address; None where it cannot be written.

    A browser is opened with the page's address. With the link itself, every account of the machine
    could read the token in the list of processes.

    Parameters
    ----------
    path
        From :func:`token_file`; the page lies beside it, and goes with it.
    link
        With a token.
    """
    page = _page_file(path)
    try:
        _write_for_owner(page, _PAGE.format(link=html.escape(link)))
    except OSError:
        return None
    return page.absolute().as_uri()


def forget_token(path: Path) -> None:
    """Remove the token of a room that was closed, and the page that leads there."""
    for each in (path, _page_file(path)):
        with suppress(OSError):
            each.unlink(missing_ok=True)


def _page_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.html")


def _write_for_owner(path: Path, text: str) -> None:
    """Write a file that is nobody else's to read, not for a moment."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(made, "w", encoding="ascii") as file:
        file.write(text)


def _trusted(path: Path) -> str | None:
    """Return the token of a file that nobody else could have read or written; None for others."""
    try:
        # A link could lead to a file of somebody else's.
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with open(opened, encoding="ascii", errors="replace") as file:
            facts = os.fstat(opened)
            token = file.read(_LENGTH + 1)
    except OSError:
        return None
    if hasattr(os, "geteuid"):  # elsewhere the home folder is guarded as a whole
        others = stat.S_IMODE(facts.st_mode) & (stat.S_IRWXG | stat.S_IRWXO)
        if facts.st_uid != os.geteuid() or others:
            return None
    fresh = 0 <= time.time() - facts.st_mtime < HOURS * 3600
    return token if fresh and len(token) == _LENGTH and token.isascii() else None
