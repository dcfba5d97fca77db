"""Log in and out by name and password."""

from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from capsieve.decisions.roles import ROLES
from capsieve.report.text import plain
from capsieve.review.messages import DISCLAIMER
from capsieve.review.security import LOGIN, Access, cookie, cookie_secret
from capsieve.review.sessions import client_address
from capsieve.review.small_pages import small_page
from capsieve.review.state import Here, run_in

router = APIRouter(include_in_schema=False)


@router.get(LOGIN)
async def get_login(request: Request) -> Response:
    """The form, or the page if the reader is logged in."""
    if request.state.reader is not None:
        return RedirectResponse("/", status_code=303)
    return _form()


@router.post(LOGIN)
async def post_login(request: Request, app: Here) -> Response:
    """Log in, or say why not."""
    access = app.access
    if access.users is None:
        return RedirectResponse("/", status_code=303)
    fields = parse_qs((await request.body()).decode("utf-8", "replace"))
    name, password = (fields.get(field, [""])[0] for field in ("name", "password"))
    address = client_address(request.scope)
    wait = app.attempts.count(name, address)
    if wait > 0:
        access.log("login-failed", reader=name[:100], address=address, why="too many attempts")
        sentence = f"Too many wrong passwords: try again in {max(wait, 1):.0f} seconds."
        return _form(name, sentence, status=429)
    reader = await run_in(app.logins, access.users.log_in, name, password)
    if reader is None:
        access.log("login-failed", reader=name[:100], address=address, why="wrong password")
        return _form(name, "Name or password is wrong.", status=401)
    app.attempts.forget(name, address)
    roles = ROLES[app.workflow]
    if reader.role not in roles:
        access.log("login-failed", reader=name, address=address, why=f"role {reader.role}")
        sentence = f"{reader.name} is a {reader.role}; here, exams are read by a "
        return _form(name, f"{sentence}{' and a '.join(roles)}.", status=403)
    access.log("login", reader=reader.name, role=reader.role, address=address)
    answer = RedirectResponse("/", status_code=303)
    _end_session(request, access)
    secret = access.sessions.begin(reader)
    answer.headers.append("set-cookie", cookie(request.scope, access.cookie, secret))
    return answer


@router.post("/logout")
async def post_logout(request: Request, app: Here) -> Response:
    """End the session."""
    _end_session(request, app.access)
    answer = RedirectResponse("/", status_code=303)
    answer.headers.append("set-cookie", cookie(request.scope, app.access.cookie, ""))
    return answer


def _end_session(request: Request, access: Access) -> None:
    secret = cookie_secret(request.scope, access.cookie)
    if secret:
        access.sessions.end(secret)


def _form(name: str = "", problem: str = "", *, status: int = 200) -> Response:
    return small_page(
        "login.html", status, name=plain(name)[:100], problem=problem, disclaimer=DISCLAIMER
    )
