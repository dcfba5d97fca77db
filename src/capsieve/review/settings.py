"""Settings of the review app.

Only the standard library is imported, because the command line needs them. The text "help" of a
field makes it an option of the command line and describes it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capsieve.decisions.roles import Role, Workflow
from capsieve.errors import ParameterError

__all__ = ["LOOPBACK", "ReviewSettings", "is_loopback"]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def _option(default: Any, text: str, **more: Any) -> Any:
    return field(default=default, metadata={"help": text} | more)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSettings:
    """Settings of a server of the review app."""

    port: int | None = _option(
        None, "Port.  [default: 8765, or any free port]", metavar="N", min=1, max=65535
    )
    host: str = _option(
        "127.0.0.1",
        "Address to listen on. Any but this machine's needs --users.",
        metavar="ADDRESS",
    )
    browser: bool = _option(True, "Open the page in a browser. Otherwise only print the link.")
    reader: str | None = _option(
        None,
        "Name in decisions and signatures.  [default: the name of your account]",
        metavar="NAME",
    )
    role: Role | None = _option(
        None,
        "Role of the reader.  [default: reader, or pre-reader if readings are validated]",
    )
    workflow: Workflow | None = _option(
        None,
        "How exams are read: by one reader; by a pre-reader and a validator; or by two blind "
        "readers and a consensus reader. It cannot be changed once reading has begun.  "
        "[default: single]",
    )
    users: Path | None = _option(
        None,
        "Users who log in by name and password (capsieve users add), instead of by a link.",
        metavar="FILE",
    )
    allowed_hosts: tuple[str, ...] = _option(
        (),
        "Name under which browsers reach this machine. May be given several times.",
        option="--allowed-host",
        metavar="HOST",
    )
    database: str | None = _option(
        None,
        "Database of the decisions: a file, or postgresql://user@host/name.  "
        "[default: OUT/decisions.sqlite]",
        metavar="URL",
    )

    def __post_init__(self) -> None:
        if self.users is None and not is_loopback(self.host):
            raise ParameterError(
                "host",
                f"{self.host} can be reached by other machines; give --users FILE as well, which "
                "capsieve users add writes",
            )
        if self.users is not None and self.reader is not None:
            raise ParameterError("reader", "cannot be combined with --users; users log in by name")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine alone."""
    return host in LOOPBACK
