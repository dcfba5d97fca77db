"""The door of the room: nothing is answered to anybody who has not shown a token or a password.

On one's own machine the link that the command prints carries a token. The browser exchanges it for
a cookie, and the token leaves the address. Elsewhere a name and a password do the same. Three
checks keep out what a browser could be talked into by another page:

- the request's host must be one of the room's names, else a foreign name that points to this
  machine would pass for the room (DNS rebinding);
- what writes must come from the room's own page, by Origin and Sec-Fetch-Site;
- the cookie is HttpOnly and SameSite=Strict, and its name carries the port, for cookies of one
  machine are shared by all of its ports.
"""

import hmac
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from capsieve.review.asgi import App, Receive, Scope, Send, header, is_api, refuse
from capsieve.review.sessions import Reader, Sessions
from capsieve.review.small_pages import small_page
from capsieve.review.users import Users
from capsieve.review.waiting import Waiting

__all__ = ["LOGIN", "Door", "Gate", "cookie", "shown_secret"]

LOGIN = "/login"
_SAFE = ("GET", "HEAD")
_OWN = (None, "same-origin", "none")  # of Sec-Fetch-Site; programs without a browser send none
_AUTOMATIC = "x-capsieve-automatic"  # sent with what the page asks for without a key or a click
_NO_TOKEN = (
    "This room opens only by its own link, which capsieve review printed: open that link again."
)
_NO_SESSION = "Nobody is logged in here any more: log in again."


@dataclass(frozen=True, slots=True)
class Door:
    """How the room is entered.

    Attributes
    ----------
    cookie
        Its name.
    hosts
        The room's names, in small letters and without a port.
    sessions
        Who is in.
    token, reader
        On one's own machine: what the link carries, and who has it.
    users, waiting
        Elsewhere: who may enter, and who must wait.
    """

    cookie: str
    hosts: frozenset[str]
    sessions: Sessions
    token: str | None = None
    reader: Reader | None = None
    users: Users | None = None
    waiting: Waiting | None = None


class Gate:
    """The layer that lets requests in, each with its reader in ``request.state.reader``.

    Parameters
    ----------
    app
        What answers.
    door
        How the room is entered.
    """

    def __init__(self, app: App, *, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # the room has no web sockets
            await send({"type": "websocket.close", "code": 1008})
            return
        problem = _foreign(scope, self._door.hosts)
        if problem:
            await refuse(send, 403, problem)
            return
        secret = shown_secret(scope, self._door.cookie)
        touch = header(scope, _AUTOMATIC) is None and scope["path"] != "/api/changes"
        reader = self._door.sessions.reader(secret, touch=touch) if secret else None
        token = _token(scope)
        if token is not None and await self._exchange(scope, receive, send, token, reader):
            return
        if reader is None and not (self._door.users and scope["path"] == LOGIN):
            await self._turn_away(scope, receive, send)
            return
        scope.setdefault("state", {})["reader"] = reader
        await self._app(scope, receive, send)

    async def _exchange(
        self, scope: Scope, receive: Receive, send: Send, token: str, reader: Reader | None
    ) -> bool:
        """Take the token out of the address; return whether that was all there was to do."""
        from fastapi.responses import RedirectResponse

        door = self._door
        right = (
            door.token is not None
            and door.reader is not None
            and hmac.compare_digest(token.encode(), door.token.encode())
        )
        if not right and reader is None:
            return False
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        answer = RedirectResponse(f"/?{rest}" if rest else "/", status_code=303)
        if right and reader is None and door.reader is not None:
            secret = door.sessions.begin(door.reader)
            answer.headers.append("set-cookie", cookie(scope, door.cookie, secret))
        await answer(scope, receive, send)
        return True

    async def _turn_away(self, scope: Scope, receive: Receive, send: Send) -> None:
        from fastapi.responses import RedirectResponse

        if is_api(scope):
            await refuse(send, 401, _NO_TOKEN if self._door.users is None else _NO_SESSION)
        elif self._door.users is not None:
            await RedirectResponse(LOGIN, status_code=303)(scope, receive, send)
        else:
            # Where a page of another site led here, the browser holds the new cookie back; it
            # sends it when this page leads on.
            led = scope["path"] == "/" and header(scope, "sec-fetch-site") in _LED
            page = small_page("closed.html", 401, sentence=_NO_TOKEN, again=led)
            await page(scope, receive, send)


_LED = ("cross-site", "same-site")


def cookie(scope: Scope, name: str, secret: str) -> str:
    """Return the header that sets the cookie, or takes it back where the secret is empty."""
    parts = [f"{name}={secret}", "Path=/", "HttpOnly", "SameSite=Strict"]
    if not secret:
        parts.append("Max-Age=0")
    if _is_encrypted(scope):
        parts.append("Secure")
    return "; ".join(parts)


def _is_encrypted(scope: Scope) -> bool:
    """Return whether the reader's browser speaks TLS, to us or to a server in front of us.

    The scheme is known where that server is on this machine. Where it is elsewhere, what it or the
    browser says is believed for this alone. A page of another site can set neither header. Who
    makes them up for a request of their own gets a cookie that their browser shows over TLS alone,
    and harms nobody else.
    """
    if scope.get("scheme") == "https":
        return True
    forwarded = (header(scope, "x-forwarded-proto") or "").partition(",")[0].strip().lower()
    return forwarded == "https" or (header(scope, "origin") or "").lower().startswith("https://")


def shown_secret(scope: Scope, name: str) -> str | None:
    """Return what the browser's cookie holds; None where there is none."""
    text = header(scope, "cookie")
    if text is None:
        return None
    # One by one: a cookie of another server on this machine may be none that Python can read.
    for part in text.split(";"):
        if part.strip().startswith(f"{name}="):
            try:
                return SimpleCookie(part.strip())[name].value
            except (CookieError, KeyError):
                return None
    return None


def _foreign(scope: Scope, hosts: frozenset[str]) -> str:
    """Return why a request is not one of the room's own page; "" where it may be."""
    host = header(scope, "host")
    if host is None or _name(host) not in hosts:
        return (
            "This room does not go by that name; open the link that capsieve review printed, or "
            "start it with --name."
        )
    site = header(scope, "sec-fetch-site")
    safe = scope["method"] in _SAFE
    if site not in _OWN and (not safe or is_api(scope)):
        return "Only the room's own page may ask for that."
    origin = header(scope, "origin")
    if origin is not None and _place(origin) != host.lower():
        return "Only the room's own page may ask for that."
    return ""


def _place(origin: str) -> str:
    """Return host and port of an origin; "" where it is none."""
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
    """Return the token of the address; it counts on the room's first page alone."""
    if scope["path"] != "/" or scope["method"] not in _SAFE:
        return None
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return next((value for name, value in pairs if name == "token"), None)
