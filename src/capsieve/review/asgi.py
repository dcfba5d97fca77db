"""What every layer of the server is written in: the types of ASGI, and answers without a route.

Layers stand around the application and see every request first. They are plain ASGI: an answer
that goes on for hours, as that of the changes does, passes through them piece by piece.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

__all__ = ["App", "Message", "Receive", "Scope", "Send", "header", "is_api", "refuse"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def header(scope: Scope, name: str) -> str | None:
    """Return a header of the request; None where it is absent, or there more than once."""
    wanted = name.lower().encode("latin-1")
    found = [value for key, value in scope["headers"] if key == wanted]
    return found[0].decode("latin-1") if len(found) == 1 else None


def is_api(scope: Scope) -> bool:
    """Return whether a program asks, and not somebody in front of the page."""
    path: str = scope["path"]
    return path.startswith("/api/") and not path.startswith("/api/docs")


async def refuse(
    send: Send,
    status: int,
    sentence: str,
    *,
    headers: Iterable[tuple[str, str]] = (),
) -> None:
    """Answer with one sentence, in the form of every other error."""
    content = json.dumps({"detail": sentence}).encode()
    fields = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        *((name.encode("latin-1"), value.encode("latin-1")) for name, value in headers),
    ]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": content})
