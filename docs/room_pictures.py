"""Pictures of the reading room: somebody reads a synthetic exam in a real browser."""

import io
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

__all__ = ["room_pictures"]

_WINDOW = {"width": 1360, "height": 860}
_LIST = {"x": 0, "y": 0, "width": 1360, "height": 360}


def room_pictures(results: Path, save: Callable[[Image.Image, str], None]) -> None:
    """Read a little, and take pictures of the list, of an exam, and of the evidence in the dark.

    Parameters
    ----------
    results
        A screened study; decisions are written into it.
    save
        Takes a picture and its name.
    """
    with _room(results) as link, _browser() as browser:
        page = browser.new_page(viewport=_WINDOW)
        page.emulate_media(color_scheme="light")
        page.goto(link)
        _open(page, "patient-4")
        # Its first event is a polyp: accepted, with a size, a type and a place.
        _press(page, "a", "s", "2", "t", "3", "o", "3")
        page.locator(".save:has-text('saved')").wait_for()
        _press(page, "1")
        page.locator("#part-Why summary").first.click()
        page.locator("#part-Why .values").first.wait_for()
        _take(page, save, "room-exam.png")
        page.get_by_role("link", name="Exams").click()
        page.locator("tr:has-text('in reading')").wait_for()
        _take(page, save, "room-list.png", clip=_LIST)
        page.emulate_media(color_scheme="dark")
        _open(page, "patient-2")
        _press(page, *["n"] * 5, "1")  # a polyp too, though not the best score
        page.locator("#part-Why summary").first.click()
        page.locator("#part-Why .values").first.wait_for()
        _press(page, "x")
        _take(page, save, "room-dark.png")


def _open(page: Any, exam: str) -> None:
    page.locator(f"tr[data-exam={exam}]").click()
    page.locator(".caption:has-text('frame')").first.wait_for()
    page.locator(".card img[src]").first.wait_for()


@contextmanager
def _room(results: Path) -> Iterator[str]:
    """Open the reading room, and yield its link."""
    command = [sys.executable, "-m", "capsieve", "review", str(results), "--no-browser"]
    command += ["--reader", "A. Reader"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[-1]
        finally:
            server.terminate()


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        try:
            yield browser
        finally:
            browser.close()


def _press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def _take(page: Any, save: Callable[[Image.Image, str], None], name: str, **options: Any) -> None:
    page.wait_for_timeout(8000)  # until maps have come, and what was said has gone
    save(Image.open(io.BytesIO(page.screenshot(**options))), name)
