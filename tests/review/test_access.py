"""The door: who is let in, and by what."""

import pytest

from room_client import BASE, RoomClient

ADDRESSES = [
    "/",
    "/index.html",
    "/assets/index.js",
    "/api/room",
    "/api/exams",
    "/api/exams/small",
    "/api/exams/small/frames/0/0",
    "/api/exams/small/export/decisions.csv",
    "/api/changes",
    "/api/docs",
    "/api/openapi.json",
    "/login",
    "/nothing",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_is_answered_without_the_token(visitor, address):
    answer = visitor.get(address)
    assert answer.status_code == 401
    assert "opens only by its own link" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", ["", "wrong", "\u00e4", "x" * 10_000])
def test_a_wrong_token_opens_nothing(visitor, token):
    answer = visitor.get("/", params={"token": token})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert visitor.get("/api/room").status_code == 401


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(visitor, room):
    answer = visitor.get("/", params={"token": room.door.token, "exam": "small"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?exam=small"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert room.door.token not in cookie
    assert visitor.get("/api/room").json()["reader"] == "anna"


def test_the_token_counts_on_the_first_page_alone(visitor, room):
    for address in ("/api/room", "//elsewhere.example/", "/index.html"):
        answer = visitor.get(f"{BASE}{address}?token={room.door.token}")
        assert answer.status_code == 401
        assert "location" not in answer.headers


def test_another_browser_needs_the_link_again(client, room):
    assert client.get("/api/room").status_code == 200
    assert RoomClient(room, enter=False).get("/api/room").status_code == 401


def test_a_cookie_of_another_server_is_no_key(visitor):
    name = "capsieve-8765"
    for cookie in (f"{name}=made-up", f"{name}=", "other=1; broken", f'{name}="a;b'):
        assert visitor.get("/api/room", headers={"cookie": cookie}).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "[", "", "10.0.0.1"]
)
def test_a_foreign_name_of_this_machine_is_refused(client, host):
    answer = client.get("/api/room", headers={"host": host})
    assert answer.status_code == 403
    assert "does not go by that name" in answer.json()["detail"]


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:9000", "[::1]:8765", "LOCALHOST"])
def test_the_rooms_own_names_are_known_at_any_port(client, host):
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
def test_what_another_page_sends_is_refused_and_not_written(client, headers):
    body = {"key": "12345678", "kind": "note", "subject": "exam", "content": {"text": "x"}}
    answer = client.post("/api/exams/small/entries", json=body, headers=headers)
    assert answer.status_code == 403
    assert client.get("/api/exams/small/entries").json() == []


def test_another_page_may_not_even_ask(client):
    answer = client.get("/api/exams", headers={"sec-fetch-site": "same-site"})
    assert answer.status_code == 403


def test_the_rooms_own_page_may_write(client):
    body = {"key": "12345678", "kind": "note", "subject": "exam", "content": {"text": "x"}}
    headers = {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "same-origin"}
    answer = client.post("/api/exams/small/entries", json=body, headers=headers)
    assert answer.status_code == 200


def test_who_was_led_here_by_another_page_is_led_on(visitor):
    # The browser holds a new cookie back on the way from another site.
    page = visitor.get("/", headers={"sec-fetch-site": "cross-site"})
    assert 'http-equiv="refresh"' in page.text
    page = visitor.get("/", headers={"sec-fetch-site": "same-origin"})
    assert "refresh" not in page.text
