"""The review app on a results folder, called with httpx without a server.

The other tests do not know how the package opens the app. If that changes, change this module.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import httpx

from capsieve.decisions import database as database_module
from capsieve.review.app import create_app
from capsieve.review.room import ReadingRoom, local_door, open_room, users_door
from capsieve.review.users import Users
from capsieve.review.waiting import Waiting
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
        content = {"statement": reading["statement"], "last": reading["last"], "reasons": reasons}
        return self.act({"kind": "sign"} | content)

    def log_in(
        self, name: str = "anna", password: str = PASSWORD, *, url: str = "/login", **options: Any
    ) -> httpx.Response:
        """Send the login form."""
        return self.post(url, data={"name": name, "password": password}, **options)


class ReviewApp:
    """An open review app."""

    def __init__(self, room: ReadingRoom) -> None:
        self._room = room
        self._app = create_app(room)

    @property
    def token(self) -> str:
        """The token of the link; only without a users file."""
        assert self._room.door.token is not None
        return self._room.door.token

    @property
    def workflow(self) -> str:
        return self._room.workflow

    def client(self, *, log_in: bool = True, address: str = "127.0.0.1") -> Client:
        """Return a new browser that has opened the link, or has not logged in."""
        client = Client(self._app, address)
        if log_in:
            assert client.get("/", params={"token": self.token}).status_code == 303
        return client

    def fail_on_exam_list(self, error: Exception) -> None:
        """Let the next requests for the list of exams raise an error."""
        self._room.summaries.follow = mock.Mock(side_effect=error)

    def limit_database(self, *, full: bool) -> None:
        """Let the database file grow no further, or let it grow again."""
        with self._room.database.read() as connection:  # the connection returns to the pool
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar() if full else 100_000
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    def close(self) -> None:
        self._room.close()


def open_review_app(
    out: Path,
    *,
    database: Path,
    reader: str = "anna",
    role: Any = None,
    workflow: Any = None,
    users: Path | None = None,
    allowed_hosts: Iterable[str] = (),
    clock: Callable[[], float] = time.monotonic,
    report: Callable[[str], None] = lambda message: None,
    lock_timeout: float | None = None,
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
    allowed_hosts
        Further names of the server, with `users`.
    clock
        Counts the seconds of the rate limit of logins.
    report
        Receives messages about problems in the background.
    lock_timeout
        Seconds to wait for another writer of the database.
    """
    if users is None:
        make_door = partial(local_door, port=_PORT, reader=reader, role=role)
    else:
        listed = Users(users, say=report)
        door = users_door(listed, port=_PORT, host="0.0.0.0", names=list(allowed_hosts))
        door = replace(door, waiting=Waiting(clock=clock))

        def make_door(workflow: Any) -> Any:
            return door

    with ExitStack() as stack:
        if lock_timeout is not None:
            stack.enter_context(mock.patch.object(database_module, "_WAIT_S", lock_timeout))
        room = open_room(out, make_door, workflow=workflow, database=str(database))
    return ReviewApp(room)
