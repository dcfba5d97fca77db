"""Who may ask for what, and what every answer carries.

Requests pass through the layers from the outside in: response headers, access, length of the body.
They are plain ASGI, so that they hold for every answer, also for errors.

On one's own machine, the link that the command prints has a token. The browser exchanges it for a
cookie, and the token leaves the address. With a file of users, a name and a password do the same,
or the header in which a trusted proxy names the user. Against requests that another page makes a
browser send:

- the host must be one of the allowed ones, also against names that point to this machine (DNS
  rebinding);
- what writes must come from the app's own page, by Origin and Sec-Fetch-Site;
- the cookie is HttpOnly and SameSite=Strict, and its name has the port, because all ports of a
  machine share cookies.
"""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from capsieve.review.log import Log, log_nothing
from capsieve.review.sessions import Reader, Sessions
from capsieve.review.small_pages import small_page
from capsieve.review.users import Users

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOGIN, HEALTH = "/login", "/healthz"

_SAFE = ("GET", "HEAD")
_OWN = (None, "same-origin", "none")  # of Sec-Fetch-Site; programs send none
_AUTOMATIC = "x-capsieve-automatic"  # sent with what the page asks for without a key or a click
_LONGEST_BODY = 1 << 20  # bytes; a batch of displayed frames is some kilobytes
_SLOWEST_BODY = 30.0  # seconds
_NO_TOKEN = "The link is needed that capsieve review printed: open that link again."
_NO_SESSION = "Nobody is logged in here any more: log in again."
_OTHER_PAGE = "Only the page of the review app may ask for that."
_OTHER_HOST = (
    "The review app is not reached by this name: open the link that capsieve review printed, or "
    "start it with --allowed-host."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How readers get access.

    Attributes
    ----------
    cookie
        Name of the cookie.
    hosts
        Names of the server, in lower case and without a port.
    sessions
        Who is logged in.
    token, reader
        What the link has, and whom it logs in.
    users
        Who logs in by name and password, instead of by the link.
    trusted_proxy, remote_user_header
        Address or network of the proxy, and the header in which it names the user.
    log
        Takes log-ins and failures.
    """

    cookie: str
    hosts: frozenset[str]
    sessions: Sessions
    token: str | None = None
    reader: Reader | None = None
    users: Users | None = None
    trusted_proxy: str | None = None
    remote_user_header: str | None = None
    log: Log = log_nothing


class AccessControl:
    """The layer that passes requests on with their reader in ``state.reader``, or refuses them."""

    def __init__(self, app: App, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":  # there are no web sockets
            await send({"type": "websocket.close", "code": 1008})
            return
        state = scope.setdefault("state", {})
        state["reader"] = None
        if scope["path"] == HEALTH:
            await self._app(scope, receive, send)
            return
        problem = _foreign(scope, self._access.hosts)
        if problem:
            await refuse(send, 403, problem)
            return
        named = state.get("remote_user")
        reader = self._session(scope) if named is None else self._remote(named)
        if named is not None and reader is None:
            self._access.log("login-failed", reader=named, why="not a user")
            await refuse(send, 403, f"{named} is not among the users of the review app.")
            return
        token = _token(scope)
        if token is not None and await self._exchange(scope, receive, send, token, reader):
            return
        if reader is None and not (self._access.users and scope["path"] == LOGIN):
            await self._turn_away(scope, receive, send)
            return
        state["reader"] = reader
        await self._app(scope, receive, send)

    def _session(self, scope: Scope) -> Reader | None:
        secret = cookie_secret(scope, self._access.cookie)
        automatic = _header(scope, _AUTOMATIC) is not None
        return self._access.sessions.reader(secret, touch=not automatic) if secret else None

    def _remote(self, name: str) -> Reader | None:
        users = self._access.users
        return None if users is None else users.readers.get(name)

    async def _exchange(
        self, scope: Scope, receive: Receive, send: Send, token: str, reader: Reader | None
    ) -> bool:
        """Take the token out of the address; return whether that was all there was to do."""
        from fastapi.responses import RedirectResponse

        access = self._access
        right = access.token is not None and hmac.compare_digest(
            token.encode("utf-8", "surrogatepass"), access.token.encode()
        )
        if not right and reader is None:
            return False
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        answer = RedirectResponse(f"/?{rest}" if rest else "/", status_code=303)
        if right and reader is None and access.reader is not None:
            secret = access.sessions.begin(access.reader)
            access.log("login", reader=access.reader.name, role=access.reader.role)
            answer.headers.append("set-cookie", cookie(scope, access.cookie, secret))
        await answer(scope, receive, send)
        return True

    async def _turn_away(self, scope: Scope, receive: Receive, send: Send) -> None:
        from fastapi.responses import RedirectResponse

        users = self._access.users
        if _is_api(scope):
            await refuse(send, 401, _NO_TOKEN if users is None else _NO_SESSION)
        elif users is not None:
            await RedirectResponse(LOGIN, status_code=303)(scope, receive, send)
        else:
            # After a link on a page of another site, the browser holds the new cookie back; it
            # sends it if this page leads on.
            led = scope["path"] == "/" and _header(scope, "sec-fetch-site") not in _OWN
            page = small_page("closed.html", 401, sentence=_NO_TOKEN, again=led)
            await page(scope, receive, send)


class RemoteUser:
    """The outermost layer with a proxy: notes the user whom the trusted proxy names.

    The header of anybody else counts for nothing.
    """

    def __init__(self, app: App, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        access, client = self._access, scope.get("client")
        if access.remote_user_header and client and is_trusted(client[0], access.trusted_proxy):
            value = _header(scope, access.remote_user_header)
            if value:  # its bytes are usually UTF-8
                name = value.encode("latin-1").decode("utf-8", "replace").strip()
                scope.setdefault("state", {})["remote_user"] = name
        await self._app(scope, receive, send)


def is_trusted(address: str, proxy: str | None) -> bool:
    """Return whether an address is that of the proxy, or in its network."""
    try:
        return proxy is not None and ip_address(address) in ip_network(proxy, strict=False)
    except ValueError:
        return False


def cookie(scope: Scope, name: str, secret: str) -> str:
    """Return the header that sets the cookie, or removes it if the secret is empty."""
    parts = [f"{name}={secret}", "Path=/", "HttpOnly", "SameSite=Strict"]
    if not secret:
        parts.append("Max-Age=0")
    # The scheme is what a trusted proxy says; a browser behind another one says it in Origin.
    origin = (_header(scope, "origin") or "").lower()
    if scope.get("scheme") == "https" or origin.startswith("https://"):
        parts.append("Secure")
    return "; ".join(parts)


def cookie_secret(scope: Scope, name: str) -> str | None:
    """Return the secret in the browser's cookie; None if there is none."""
    # One by one, because Python may be unable to read a cookie of another server.
    for part in (_header(scope, "cookie") or "").split(";"):
        if part.strip().startswith(f"{name}="):
            try:
                return SimpleCookie(part.strip())[name].value
            except (CookieError, KeyError):
                return None
    return None


def _header(scope: Scope, name: str) -> str | None:
    """Return a header of the request; None if it is absent, or there more than once."""
    wanted = name.lower().encode("latin-1")
    found = [value for key, value in scope["headers"] if key == wanted]
    return found[0].decode("latin-1") if len(found) == 1 else None


def _is_api(scope: Scope) -> bool:
    return scope["path"].startswith("/api/")


def _foreign(scope: Scope, hosts: frozenset[str]) -> str:
    """Return why a request cannot be one of the app's own page; "" if it can."""
    host = _header(scope, "host")
    if host is None or _name(host) not in hosts:
        return _OTHER_HOST
    site = _header(scope, "sec-fetch-site")
    if site not in _OWN and (scope["method"] not in _SAFE or _is_api(scope)):
        return _OTHER_PAGE
    origins = [value for key, value in scope["headers"] if key == b"origin"]
    if origins and [_netloc(origin.decode("latin-1")) for origin in origins] != [host.lower()]:
        return _OTHER_PAGE
    return ""


def _netloc(origin: str) -> str:
    """Return host and port of an origin; "" if it is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _name(host: str) -> str:
    """Return a host without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _token(scope: Scope) -> str | None:
    """Return the token of the address; it counts on the first page alone."""
    if scope["path"] != "/" or scope["method"] not in _SAFE:
        return None
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return next((value for name, value in pairs if name == "token"), None)


async def refuse(
    send: Send, status: int, sentence: str, *, headers: Iterable[tuple[str, str]] = ()
) -> None:
    """Answer with a message, in the form of every other error."""
    content = json.dumps({"detail": sentence}).encode()
    fields = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        *((name.encode("latin-1"), value.encode("latin-1")) for name, value in headers),
    ]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": content})


class BodyLimit:
    """The layer that refuses long and slow bodies before anything reads them."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body, or refuse it."""
        if scope["method"] in _SAFE:
            await self._app(scope, receive, send)
            return
        close = [("connection", "close")]
        try:
            async with asyncio.timeout(_SLOWEST_BODY):
                body = await _body(scope, receive)
        except TimeoutError:
            await refuse(send, 408, "The request took too long to arrive.", headers=close)
            return
        except ValueError:
            sentence = f"The request is longer than {_LONGEST_BODY} bytes."
            await refuse(send, 413, sentence, headers=close)
            return
        if body is None:
            return
        whole: list[Message] = [{"type": "http.request", "body": body}]

        async def replay() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, replay, send)


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """Read a body; None if the browser has gone. Raise ValueError if it is too long."""
    declared = _header(scope, "content-length")
    if declared is not None and not (declared.isdecimal() and int(declared) <= _LONGEST_BODY):
        raise ValueError
    parts: list[bytes] = []
    more = True
    while more:  # a body without a declared length is counted as well
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
        if sum(map(len, parts)) > _LONGEST_BODY:
            raise ValueError
    return b"".join(parts)
