"""A login from a browser that is logged in already."""

import pytest

from support.users import add_user, cheap_hashes


@pytest.fixture
def app(open_app, tmp_path, monkeypatch):
    cheap_hashes(monkeypatch)
    for name in ("anna", "bert"):
        add_user(tmp_path / "users.json", name)
    return open_app(users=tmp_path / "users.json")


@pytest.fixture
def browser(app):
    return app.client(log_in=False)


def session(answer):
    """Return the cookie of a login."""
    return answer.headers["set-cookie"].partition(";")[0]


def get_reader(app, cookie):
    """Return the reader that a cookie belongs to, or None."""
    answer = app.client(log_in=False).get("/api/room", headers={"cookie": cookie})
    return answer.json()["reader"] if answer.status_code == 200 else None


def test_a_login_ends_the_previous_session_of_the_browser(app, browser):
    first = session(browser.log_in("anna"))
    assert get_reader(app, first) == "anna"
    second = session(browser.log_in("bert"))
    assert get_reader(app, first) is None
    assert get_reader(app, second) == "bert"


def test_a_failed_login_does_not_end_the_session(app, browser):
    cookie = session(browser.log_in("anna"))
    assert browser.log_in("bert", "wrong password").status_code == 401
    assert get_reader(app, cookie) == "anna"
    assert browser.get("/api/room").json()["reader"] == "anna"
