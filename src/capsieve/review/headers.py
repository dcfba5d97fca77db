"""Response headers, with which the browser helps to protect the app."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any


def content_policy(*, style: str = "self") -> str:
    """Return a content security policy: only what the app itself serves.

    Parameters
    ----------
    style
        The digest of the one style sheet inside the page, if there is one.
    """
    own = ("script", "img", "font", "connect", "worker", "manifest")
    parts = {f"{name}-src": "'self'" for name in own} | {
        "default-src": "'none'",
        "style-src": f"'{style}'",
        "img-src": "'self' blob: data:",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items())


_ALWAYS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not "no-referrer": with it a browser sends "Origin: null" with a form, and nobody logs in.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
_BY_DEFAULT = {
    "content-security-policy": content_policy(),
    "cache-control": "no-store",  # frames are a patient's: the browser keeps none on its disk
}


class ResponseHeaders:
    """The layer that adds the headers to every answer."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, and complete its answer."""

        async def complete(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                fields = [field for field in message.get("headers", ()) if field[0] != b"server"]
                present = {name.lower() for name, _ in fields}
                for name, value in (_ALWAYS | _BY_DEFAULT).items():
                    if name in _ALWAYS or name.encode() not in present:
                        fields.append((name.encode(), value.encode()))
                message["headers"] = fields
            await send(message)

        await self._app(scope, receive, complete)
