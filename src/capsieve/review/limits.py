"""How much a request may send: no reader's action is long."""

import asyncio

from capsieve.review.asgi import App, Message, Receive, Scope, Send, header, refuse

__all__ = ["MOST_BYTES", "BodyLimit"]

MOST_BYTES = 1 << 20
"""Of a request's body: a batch of seen frames is some kilobytes, a long note less."""

_SLOWEST = 30.0  # seconds for the whole of a body


class BodyLimit:
    """Refuses bodies that are too long, before anything reads them.

    Parameters
    ----------
    app
        What answers.
    most
        Bytes.
    """

    def __init__(self, app: App, *, most: int = MOST_BYTES) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body, or refuse it."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        declared = header(scope, "content-length")
        if declared is not None and (not declared.isdecimal() or int(declared) > self._most):
            await self._refuse(send)
            return
        # Read here, so that a body without a declared length is counted as well.
        parts: list[bytes] = []
        length, more = 0, True
        try:
            async with asyncio.timeout(_SLOWEST):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return
                    parts.append(message.get("body", b""))
                    length += len(parts[-1])
                    more = message.get("more_body", False)
                    if length > self._most:
                        await self._refuse(send)
                        return
        except TimeoutError:
            await refuse(
                send, 408, "The request took too long to arrive.", headers=[("connection", "close")]
            )
            return
        whole: list[Message] = [{"type": "http.request", "body": b"".join(parts)}]

        async def replay() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, replay, send)

    async def _refuse(self, send: Send) -> None:
        await refuse(
            send,
            413,
            f"The request is longer than {self._most} bytes.",
            headers=[("connection", "close")],
        )
