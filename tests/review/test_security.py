"""Access to the review app: the token of the link, the cookie, allowed hosts and origins."""

import pytest

from support.contents import note
from support.review_app import BASE_URL

PATHS = [
    "/",
    "/index.html",
    "/assets/index.js",
    "/api/room",
    "/api/exams",
    "/api/exams/small",
    "/api/exams/small/frames/0/0",
    "/api/exams/small/export/decisions.csv",
    "/api/openapi.json",
    "/login",
    "/nothing",
]
ENTRIES = "/api/exams/small/entries"
NOTE = {"key": "12345678", "entries": [note("x")]}


@pytest.mark.parametrize("path", PATHS)
def test_every_path_needs_the_token(unauthenticated, path):
    answer = unauthenticated.get(path)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", ["", "wrong", "\u00e4", "x" * 10_000])
def test_a_wrong_token_is_rejected(unauthenticated, token):
    answer = unauthenticated.get("/", params={"token": token})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert unauthenticated.get("/api/room").status_code == 401


def test_the_token_is_exchanged_for_a_cookie_and_removed_from_the_url(unauthenticated, app):
    answer = unauthenticated.get("/", params={"token": app.token, "exam": "small"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?exam=small"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert app.token not in cookie
    assert unauthenticated.get("/api/room").json()["reader"] == "anna"


@pytest.mark.parametrize("path", ["/api/room", "//elsewhere.example/", "/index.html"])
def test_the_token_is_accepted_on_the_first_page_only(unauthenticated, app, path):
    answer = unauthenticated.get(f"{BASE_URL}{path}?token={app.token}")
    assert answer.status_code == 401
    assert "location" not in answer.headers


def test_another_browser_needs_the_link_too(client, app):
    assert client.get("/api/room").status_code == 200
    assert app.client(log_in=False).get("/api/room").status_code == 401


@pytest.mark.parametrize("cookie", ["{name}=made-up", "{name}=", "other=1; broken", '{name}="a;b'])
def test_an_invalid_cookie_is_rejected(app, cookie):
    opened = app.client(log_in=False).get("/", params={"token": app.token})
    name = opened.headers["set-cookie"].partition("=")[0]
    headers = {"cookie": cookie.format(name=name)}
    assert app.client(log_in=False).get("/api/room", headers=headers).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "[", "", "10.0.0.1"]
)
def test_a_host_that_is_not_allowed_is_rejected(client, host):
    assert client.get("/api/room", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:9000", "[::1]:8765", "LOCALHOST"])
def test_loopback_hosts_are_allowed_with_any_port(client, host):
    assert client.get("/api/room", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"origin": "http://["},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_post_from_another_origin_is_rejected_and_not_stored(client, headers):
    assert client.post(ENTRIES, json=NOTE | client.who(), headers=headers).status_code == 403
    assert client.get(ENTRIES).json() == []


def test_a_get_from_another_site_is_rejected(client):
    answer = client.get("/api/exams", headers={"sec-fetch-site": "same-site"})
    assert answer.status_code == 403


def test_a_post_from_the_same_origin_is_accepted(client):
    headers = {"origin": BASE_URL, "sec-fetch-site": "same-origin"}
    assert client.post(ENTRIES, json=NOTE | client.who(), headers=headers).status_code == 200


def test_only_a_visit_from_another_site_is_redirected(unauthenticated):
    # After a redirect from another site the browser does not send the new cookie yet.
    page = unauthenticated.get("/", headers={"sec-fetch-site": "cross-site"})
    assert 'http-equiv="refresh"' in page.text
    page = unauthenticated.get("/", headers={"sec-fetch-site": "same-origin"})
    assert "refresh" not in page.text
