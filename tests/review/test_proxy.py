"""A trusted proxy, single sign-on by its header, the log and the health check."""

import json

import pytest

from capsieve.review.log import log_to
from support.contents import note
from support.users import add_user, cheap_hashes

PROXY, OTHER = "10.1.2.3", "10.9.9.9"
NAMED = {"x-remote-user": "anna"}


@pytest.fixture
def file(tmp_path, monkeypatch):
    cheap_hashes(monkeypatch)
    add_user(tmp_path / "users.json", "anna")
    return tmp_path / "users.json"


@pytest.fixture
def lines(tmp_path):
    """Return the lines of the log."""
    return lambda: [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]


@pytest.fixture
def app(open_app, file, tmp_path):
    log = log_to(tmp_path / "log")
    return open_app(users=file, trusted_proxy=PROXY, remote_user_header="X-Remote-User", log=log)


def test_the_proxy_names_the_user(app):
    browser = app.client(log_in=False, address=PROXY)
    assert browser.get("/api/room", headers=NAMED).json()["reader"] == "anna"
    assert browser.get("/api/room").status_code == 401


@pytest.mark.parametrize("header", ["x-remote-user", "x-forwarded-for"])
def test_nobody_else_names_the_user(app, header):
    browser = app.client(log_in=False, address=OTHER)
    headers = NAMED | {"x-forwarded-for": PROXY}
    assert browser.get("/api/room", headers=headers).status_code == 401


def test_a_name_that_is_not_a_user_or_is_given_twice_is_refused(app):
    browser = app.client(log_in=False, address=PROXY)
    assert browser.get("/api/room", headers={"x-remote-user": "eve"}).status_code == 403
    twice = [("x-remote-user", "anna"), ("x-remote-user", "anna")]
    assert browser.get("/api/room", headers=twice).status_code == 401


@pytest.mark.parametrize(("address", "limited"), [(OTHER, True), (PROXY, False)])
def test_only_the_proxy_says_from_where_an_attempt_comes(app, address, limited):
    browser = app.client(log_in=False, address=address)
    answers = [
        browser.log_in("anna", "wrong", headers={"x-forwarded-for": f"192.0.2.{number}"})
        for number in range(8)
    ]
    assert (answers[-1].status_code == 429) == limited


@pytest.mark.parametrize(("address", "secure"), [(PROXY, True), (OTHER, False)])
def test_only_the_proxy_says_that_the_browser_uses_tls(app, address, secure):
    headers = {"x-forwarded-proto": "https"}
    answer = app.client(log_in=False, address=address).log_in(headers=headers)
    assert ("Secure" in answer.headers["set-cookie"]) == secure


def test_log_in_failure_exam_export_and_signature_are_one_line_each(app, lines):
    browser = app.client(log_in=False, address=OTHER)
    browser.log_in("anna", "wrong")
    browser.log_in("eve\n{}", "wrong")
    browser.log_in()
    browser.get("/api/exams/small/export/labels.csv")
    browser.act(note("x"))
    assert browser.sign().status_code == 200
    events = [line["event"] for line in lines() if line["event"] != "exam"]
    assert events == ["login-failed", "login-failed", "login", "export", "signature"]
    assert {line["exam"] for line in lines() if line["event"] in ("exam", "export")} == {"small"}
    cookie = browser.asynchronous.cookies["capsieve-8765"]
    assert cookie not in json.dumps(lines())


def test_the_health_check_needs_no_log_in_and_says_nothing(app):
    answer = app.client(log_in=False).get("/healthz", headers={"host": "10.0.0.1"})
    assert (answer.status_code, answer.json()) == (200, {})
