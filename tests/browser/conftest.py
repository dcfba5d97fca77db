"""The real server, a real browser, and people who sit in front of it."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.exams import write_exams
from browser.person import Person
from browser.server import Server

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
# No word to the network, and time goes on in a window that nobody sees.
OPTIONS = (
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-background-timer-throttling", "--disable-renderer-backgrounding"),
    *("--disable-backgrounding-occluded-windows", "--no-first-run", "--disable-gpu"),
    "--enable-precise-memory-info",
)


def _absent(reason: str) -> None:
    # In CI both are installed: a skip there would hide that they are not.
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


# Not for the whole session: while it runs, nothing else in this thread may have an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium."""
    if CHROMIUM is None:
        _absent("chromium is not installed: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _absent("playwright is not installed: pip install playwright")
        raise
    options = [*OPTIONS, *(["--no-sandbox"] if os.name == "posix" and os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield started
        started.close()


@pytest.fixture(scope="session")
def screened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """OUT with three exams: a video, images, and a video of two heads."""
    return write_exams(tmp_path_factory.mktemp("screened"))


@pytest.fixture
def serve(screened: Path, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Return what starts the room over the exams, with a database of this test's own."""
    started: list[Server] = []

    def start(*options: str, out: Path = screened, reader: str | None = "anna") -> Server:
        state = tmp_path / "state"
        database = tmp_path / "decisions.sqlite"
        server = Server(out, *options, database=database, reader=reader, state=state)
        started.append(server)
        server.start()
        return server

    yield start
    for server in started:
        server.kill()


@pytest.fixture
def enter(browser: Any) -> Iterator[Callable[..., Person]]:
    """Return what lets somebody open a room's link; in the end nobody's browser had a complaint.

    No request went to another host, nothing was against the content policy, and the console shows
    no error.
    """
    people: list[Person] = []

    def come(server: Server, **options: Any) -> Person:
        person = Person(browser, server, **options)
        people.append(person)
        return person

    yield come
    complaints = [complaint for person in people for complaint in person.complaints()]
    for person in people:
        person.leave()
    assert complaints == []
