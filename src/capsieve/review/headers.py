"""What every answer carries, so that the browser helps to keep the room closed."""

from capsieve.review.asgi import App, Message, Receive, Scope, Send

__all__ = ["POLICY", "SafeHeaders", "policy"]


def policy(*, style: str | None = None) -> str:
    """Return a content security policy that lets in what the room itself serves, and no more.

    Parameters
    ----------
    style
        The digest of the one style sheet that stands inside the page, where there is one.
    """
    parts = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'" if style is None else f"'{style}'",
        "img-src": "'self' blob: data:",
        "font-src": "'self'",
        "connect-src": "'self'",
        "worker-src": "'self'",
        "manifest-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items())


POLICY = policy()
"""Of the page: no script or style inside it, nothing from other hosts, and nobody frames it."""

_ALWAYS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not "no-referrer": with it a browser sends "Origin: null" with a form, and nobody logs in.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
_UNLESS_SAID = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",  # frames are a patient's: the browser keeps none on its disk
}


class SafeHeaders:
    """The outermost layer: adds the headers to every answer, refusals included.

    Parameters
    ----------
    app
        What answers.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and complete its answer."""

        async def complete(message: Message) -> None:
            if message["type"] == "http.response.start":
                fields = [
                    field for field in message.get("headers", ()) if field[0].lower() != b"server"
                ]
                said = {name.lower() for name, _ in fields}
                for name, value in _ALWAYS.items():
                    fields.append((name.encode(), value.encode()))
                for name, value in _UNLESS_SAID.items():
                    if name.encode() not in said:
                        fields.append((name.encode(), value.encode()))
                message["headers"] = fields
            await send(message)

        await self._app(scope, receive, complete)
