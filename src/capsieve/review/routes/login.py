"""Logging in and out, where the room has users."""

from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response

from capsieve.decisions.roles import ROLES
from capsieve.report.text import plain
from capsieve.review.access import LOGIN, Door, cookie, shown_secret
from capsieve.review.exam_view import DISCLAIMER
from capsieve.review.routes.given import Here
from capsieve.review.small_pages import small_page
from capsieve.review.waiting import client_address

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_WRONG = "Name or password is wrong."


@router.get(LOGIN)
async def get_login(request: Request, room: Here) -> Response:
    """The form; who is in already goes on to the room."""
    if request.state.reader is not None:
        return RedirectResponse("/", status_code=303)
    return _form()


@router.post(LOGIN)
async def post_login(request: Request, room: Here) -> Response:
    """Let somebody in, or say why not."""
    door = room.door
    fields = parse_qs((await request.body()).decode("utf-8", "replace"))
    name, password = (fields.get(field, [""])[0] for field in ("name", "password"))
    if door.users is None or door.waiting is None:
        return RedirectResponse("/", status_code=303)
    address = client_address(request.scope)
    wait = door.waiting.left(name, address)
    if wait > 0:
        return _form(
            name, f"Too many wrong passwords: try again in {wait:.0f} seconds.", status=429
        )
    door.waiting.failed(name, address)  # before looking: tries at the same time count as well
    reader = await run_in_threadpool(door.users.reader, name, password)
    if reader is None:
        return _form(name, _WRONG, status=401)
    door.waiting.passed(name, address)
    if reader.role not in ROLES[room.workflow]:
        roles = " and ".join(ROLES[room.workflow])
        return _form(
            name,
            f"{reader.name} is a {reader.role}, and this room is one for {roles}.",
            status=403,
        )
    answer = RedirectResponse("/", status_code=303)
    # Whoever was in by this browser is so no longer: what follows their changes ends, too.
    _end_shown(request, door)
    secret = door.sessions.begin(reader)
    answer.headers.append("set-cookie", cookie(request.scope, door.cookie, secret))
    return answer


@router.post("/logout")
async def post_logout(request: Request, room: Here) -> Response:
    """End the session."""
    _end_shown(request, room.door)
    answer = RedirectResponse("/", status_code=303)
    answer.headers.append("set-cookie", cookie(request.scope, room.door.cookie, ""))
    return answer


def _end_shown(request: Request, door: Door) -> None:
    """End the session whose secret the browser's cookie holds."""
    secret = shown_secret(request.scope, door.cookie)
    if secret:
        door.sessions.end(secret)


def _form(name: str = "", problem: str = "", *, status: int = 200) -> Response:
    return small_page(
        "login.html", status, name=plain(name)[:100], problem=problem, disclaimer=DISCLAIMER
    )
