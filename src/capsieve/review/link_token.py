"""The token of a room's link, kept so that it outlives a server that was killed.

A server that dies and is started again at the same port has the same link. One that ends as it
should takes its token with it. The token lies with the account of whoever reads, not in OUT:
results are copied and handed on, and a token among them would open the room to whoever has the
copy. The cookie is not kept: while the server is down, the page shows it to whatever listens at
the port instead.
"""

import os
import secrets
import stat
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

__all__ = ["HOURS", "forget_token", "kept_token", "token_file"]

HOURS = 24
"""A token that is older than this is not used again."""

_BYTES = 32
_LENGTH = 43  # letters of so many bytes


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
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(made, "w", encoding="ascii") as file:
            file.write(token)
    return token


def forget_token(path: Path) -> None:
    """Remove the token of a room that was closed."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


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
