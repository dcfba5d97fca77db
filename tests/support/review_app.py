"""The review app on a results folder, called with httpx without a server.

The other tests do not know how the package opens the app. If that changes, change this module.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import httpx

from capsieve.decisions import database as database_module
from capsieve.review.app import create_app
from capsieve.review.log import Log, log_nothing
from capsieve.review.server import link_access, users_access
from capsieve.review.sessions import Sessions
from capsieve.review.settings import ReviewSettings
from capsieve.review.state import State, open_state
from capsieve.review.users import Users
from support.readings import unique_key
from support.users import PASSWORD

__all__ = ["BASE_URL", "Client", "ReviewApp", "open_review_app"]

_PORT = 8765
BASE_URL = f"http://127.0.0.1:{_PORT}"
_SMALL = "/api/exams/small"


class Client:
    """A browser: it keeps cookies and does not follow redirects."""

    def __init__(self, app: Any, address: str) -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 123))
        self.asynchronous = httpx.AsyncClient(transport=transport, base_url=BASE_URL)

    def get(self, url: str, **options: Any) -> httpx.Response:
        return asyncio.run(self.asynchronous.get(url, **options))

    def post(self, url: str, **options: Any) -> httpx.Response:
        return asyncio.run(self.asynchronous.post(url, **options))

    def act(self, *contents: dict[str, Any], key: str | None = None, **more: Any) -> httpx.Response:
        """Send an action about the exam small, as its page does."""
        body = {"key": key or unique_key(), "entries": list(contents)} | self.who() | more
        return self.post(f"{_SMALL}/entries", json=body)

    def see(self, displayed: Iterable[int], viewed: Iterable[int] = ()) -> httpx.Response:
        """Send that frames of the exam small were displayed."""
        body: dict[str, Any] = {"head": 0}
        for name, frames in (("displayed", displayed), ("viewed", viewed)):
            body[name] = [{"head": 0, "first": frame, "last": frame} for frame in frames]
        return self.post(f"{_SMALL}/viewed", json=body | self.who())

    def who(self) -> dict[str, str]:
        """Return reader, role and screening, as the page of the exam small knows them."""
        room = self.get("/api/room").json()
        screening = self.get(_SMALL).json()["screening"]
        return {"reader": room["reader"], "role": room["role"], "screening": screening}

    def sign(self, **reasons: str) -> httpx.Response:
        """Sign the exam small as its page shows it now."""
        reading = self.get(f"{_SMALL}/reading").json()
        open_events = [each for each in reading["offered"] if each not in reading["decisions"]]
        content = {
            "statement": reading["statement"],
            "last": reading["last"],
            "offered": reading["offered"],
            "reasons": dict.fromkeys(open_events, "left open") | reasons,
        }
        return self.act({"kind": "sign"} | content)

    def log_in(
        self, name: str = "anna", password: str = PASSWORD, *, url: str = "/login", **options: Any
    ) -> httpx.Response:
        """Send the login form."""
        return self.post(url, data={"name": name, "password": password}, **options)


class ReviewApp:
    """An open review app."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._app = create_app(state)

    @property
    def token(self) -> str:
        """The token of the link; only without a users file."""
        assert self._state.access.token is not None
        return self._state.access.token

    @property
    def workflow(self) -> str:
        return self._state.workflow

    def client(self, *, log_in: bool = True, address: str = "127.0.0.1") -> Client:
        """Return a new browser that has opened the link, or has not logged in."""
        client = Client(self._app, address)
        if log_in:
            assert client.get("/", params={"token": self.token}).status_code == 303
        return client

    def fail_on_exam_list(self, error: Exception) -> None:
        """Let the next requests for the list of exams raise an error."""
        self._state.summaries.summaries = mock.Mock(side_effect=error)

    def limit_database(self, *, full: bool) -> None:
        """Let the database file grow no further, or let it grow again."""
        with self._state.database.read() as connection:  # the connection returns to the pool
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar() if full else 100_000
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    def close(self) -> None:
        self._state.close()


def open_review_app(
    out: Path,
    *,
    database: Path,
    reader: str = "anna",
    role: Any = None,
    workflow: Any = None,
    users: Path | None = None,
    clock: Callable[[], float] | None = None,
    report: Callable[[str], None] = lambda message: None,
    log: Log = log_nothing,
    lock_timeout: float | None = None,
    **settings: Any,
) -> ReviewApp:
    """Open the review app on a results folder.

    Parameters
    ----------
    out, database
        Results, and the file of the decisions.
    reader, role
        The user of the link.
    workflow
        "single", "validated" or "blind"; by default the stored one.
    users
        A users file. With it readers log in by password, and there is not a link.
    clock
        Counts the seconds of the sessions, which end after 60 unused ones.
    report
        Receives messages about problems in the background.
    log
        Receives what the server logs.
    lock_timeout
        Seconds to wait for another writer of the database.
    settings
        Further settings, with `users`.
    """

    def make_access(workflow: Any) -> Any:
        if users is None:
            access = link_access(workflow, port=_PORT, reader=reader, role=role, log=log)
        else:
            chosen = ReviewSettings(host="0.0.0.0", users=users, **settings)
            access = users_access(Users(users, report=report), chosen, port=_PORT, log=log)
        if clock is not None:
            known = lambda reader: access.users is None or access.users.knows(reader)  # noqa: E731
            sessions = Sessions(longest=600, idle=60, known=known, clock=clock)
            return replace(access, sessions=sessions)
        return access

    with ExitStack() as stack:
        if lock_timeout is not None:
            stack.enter_context(mock.patch.object(database_module, "_WAIT_S", lock_timeout))
        return ReviewApp(open_state(out, make_access, workflow=workflow, database=str(database)))
