"""The review app on a small screened exam."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.review_app import Client, ReviewApp, open_review_app
from support.small_exam import write_small_exam

OpenApp = Callable[..., ReviewApp]


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with one exam of 24 images."""
    folder = tmp_path_factory.mktemp("review")
    write_small_exam(folder / "out", folder / "source")
    return folder / "out"


@pytest.fixture
def open_app(results: Path, tmp_path: Path) -> Iterator[OpenApp]:
    """Open apps on the exam, all with one database of this test."""
    opened: list[ReviewApp] = []

    def opener(out: Path = results, **options: Any) -> ReviewApp:
        opened.append(open_review_app(out, database=tmp_path / "decisions.sqlite", **options))
        return opened[-1]

    yield opener
    for app in opened:
        app.close()


@pytest.fixture
def app(open_app: OpenApp) -> ReviewApp:
    return open_app()


@pytest.fixture
def client(app: ReviewApp) -> Client:
    """A browser that has opened the link."""
    return app.client()


@pytest.fixture
def unauthenticated(app: ReviewApp) -> Client:
    """A browser that has not opened the link."""
    return app.client(log_in=False)
