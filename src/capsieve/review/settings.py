"""Settings of the review app.

Only the standard library is imported, because the command line needs them. The text "help" of a
field makes it an option of the command line and describes it.
"""

from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from capsieve.decisions.roles import Role, Workflow
from capsieve.errors import MissingExtraError, ParameterError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_PACKAGES = ("argon2", "fastapi", "limits", "pydantic", "sqlalchemy", "uvicorn")


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
    trusted_proxy: str | None = _option(
        None,
        "Address or network of a proxy whose X-Forwarded-For and X-Forwarded-Proto count; needs "
        "--users.",
        metavar="ADDRESS",
    )
    remote_user_header: str | None = _option(
        None,
        "Header in which the trusted proxy names the user (single sign-on).",
        metavar="NAME",
    )
    log: Path | None = _option(
        None,
        "Log of log-ins, exams opened, exports and signatures, as JSON lines.  [default: stderr "
        "with --users, otherwise none]",
        metavar="FILE",
    )
    database: str | None = _option(
        None,
        "Database of the decisions: a file, or postgresql://user@host/name.  "
        "[default: OUT/decisions.sqlite]",
        metavar="URL",
    )

    def __post_init__(self) -> None:
        if self.users is None:
            if self.host not in LOOPBACK:
                raise ParameterError(
                    "host",
                    f"{self.host} can be reached by other machines; give --users FILE as well, "
                    "which capsieve users add writes",
                )
            if self.trusted_proxy is not None:
                raise ParameterError("trusted_proxy", "needs --users FILE")
        elif self.reader is not None:
            raise ParameterError("reader", "cannot be combined with --users; users log in by name")
        if self.remote_user_header is not None and self.trusted_proxy is None:
            raise ParameterError(
                "remote_user_header", "needs --trusted-proxy; anybody else could name any user"
            )
        if self.trusted_proxy is not None:
            try:
                ip_network(self.trusted_proxy, strict=False)
            except ValueError:
                raise ParameterError(
                    "trusted_proxy",
                    f"{self.trusted_proxy!r} is no address or network, such as 127.0.0.1",
                ) from None


def require_review() -> None:
    """Raise MissingExtraError if a package of the extra "review" is not installed."""
    absent = [name for name in _PACKAGES if find_spec(name) is None]
    if absent:
        raise MissingExtraError(
            f"the review app needs the package {' and '.join(absent)}; pip install "
            "'capsieve[review]'"
        )
