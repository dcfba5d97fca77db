"""The built page and its files."""

from dataclasses import replace

import pytest

from capsieve.review.static_pages import StaticFiles
from room_client import RoomClient


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>the page")
    (folder / "assets" / "index-1a2b.js").write_text("1")
    (folder / "icon.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


@pytest.fixture
def browser(room, folder):
    return RoomClient(replace(room, pages=StaticFiles(folder)))


def test_the_page_is_asked_for_anew_each_time(browser):
    answer = browser.get("/")
    assert answer.text == "<!doctype html>the page"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


def test_files_with_a_digest_in_their_name_are_kept(browser):
    answer = browser.get("/assets/index-1a2b.js")
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in answer.headers["cache-control"]
    assert browser.get("/icon.svg").headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize(
    "address",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "//etc/passwd",
        "/link.txt",
        "/assets",
        "/assets/",
    ],
)
def test_nothing_else_of_the_disk_is_served(browser, address):
    answer = browser.get(f"http://127.0.0.1:8765{address}")
    assert answer.status_code == 404
    assert "secret" not in answer.text


def test_a_page_that_is_built_meanwhile_appears(browser, folder):
    assert browser.get("/assets/new-3c.js").status_code == 404
    (folder / "assets" / "new-3c.js").write_text("2")
    assert browser.get("/assets/new-3c.js").text == "2"


def test_a_page_that_was_never_built_is_one_sentence(room, tmp_path):
    browser = RoomClient(replace(room, pages=StaticFiles(tmp_path / "absent")))
    answer = browser.get("/")
    assert answer.status_code == 503
    assert "has not been built" in answer.text
