"""Logging in over somebody who is in already."""

from functools import partial

import pytest

from capsieve.review import users as users_module
from capsieve.review.room import open_room, users_door
from capsieve.review.users import Users, add_user
from room_client import PORT, RoomClient

PASSWORD = "correct horse"


@pytest.fixture
def shared_room(results, tmp_path, monkeypatch):
    monkeypatch.setattr(users_module, "_COST", 16)  # a try costs next to nothing here
    for name in ("anna", "bert"):
        add_user(tmp_path / "users.json", name, PASSWORD, "reader")
    door = users_door(Users(tmp_path / "users.json"), port=PORT, host="0.0.0.0", names=())
    room = open_room(
        results, lambda way: door, reader="admin", database=str(tmp_path / "decisions.sqlite")
    )
    yield room
    room.close()


def log_in(browser, name, password=PASSWORD):
    answer = browser.post("/login", data={"name": name, "password": password})
    return answer.headers.get("set-cookie", "").partition(";")[0].partition("=")[2]


def test_a_login_ends_the_session_that_the_browser_had(shared_room):
    browser = RoomClient(shared_room, enter=False)
    who = partial(shared_room.door.sessions.reader, touch=False)
    first = log_in(browser, "anna")
    assert who(first).name == "anna"
    second = log_in(browser, "bert")
    assert who(first) is None
    assert who(second).name == "bert"


def test_a_login_that_fails_ends_nothing(shared_room):
    browser = RoomClient(shared_room, enter=False)
    secret = log_in(browser, "anna")
    log_in(browser, "bert", "wrong password")
    assert shared_room.door.sessions.reader(secret).name == "anna"
    assert browser.get("/api/room").json()["reader"] == "anna"
