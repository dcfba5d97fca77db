"""The file of users, and logging in."""

import hashlib
import json
import stat
from dataclasses import replace

import pytest

from capsieve.errors import FileError, ParameterError
from capsieve.review import users as users_module
from capsieve.review.room import open_room, users_door
from capsieve.review.sessions import Reader, Waiting
from capsieve.review.users import add_user, hashed, matches, read_users
from room_client import PORT, RoomClient

PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def cheap(monkeypatch):
    """A try costs next to nothing here."""
    monkeypatch.setattr(users_module, "_COST", 16)


@pytest.fixture
def file(tmp_path):
    add_user(tmp_path / "users.json", "anna", PASSWORD, "reader")
    add_user(tmp_path / "users.json", "vera", PASSWORD, "validator")
    return tmp_path / "users.json"


@pytest.fixture
def shared_room(results, tmp_path, file):
    door = users_door(read_users(file), port=PORT, host="0.0.0.0", names=["room.example"])
    door = replace(door, waiting=Waiting(clock=lambda: 0.0))  # nobody waits long enough
    room = open_room(
        results, lambda way: door, reader="admin", database=str(tmp_path / "decisions.sqlite")
    )
    yield room
    room.close()


@pytest.fixture
def browser(shared_room):
    return RoomClient(shared_room, enter=False)


def log_in(browser, name="anna", password=PASSWORD):
    return browser.post("/login", data={"name": name, "password": password})


def test_a_hash_is_the_scrypt_of_the_password():
    import base64

    kind, cost, block, lanes, salt, key = hashed(PASSWORD).split("$")
    again = hashlib.scrypt(
        PASSWORD.encode(),
        salt=base64.b64decode(salt),
        n=int(cost),
        r=int(block),
        p=int(lanes),
        dklen=32,
    )
    assert (kind, base64.b64decode(key)) == ("scrypt", again)


def test_passwords_match_their_own_hash_alone():
    kept = hashed(PASSWORD)
    assert matches(PASSWORD, kept)
    assert not matches(PASSWORD + " ", kept)
    assert hashed(PASSWORD) != kept


def test_the_file_is_the_owners_alone_and_holds_no_password(file):
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert PASSWORD not in file.read_text()
    users = read_users(file)
    assert users.reader("anna", PASSWORD) == Reader("anna", "reader")
    assert users.reader("anna", "another one") is None
    assert users.reader("nobody", PASSWORD) is None


def test_a_new_password_takes_the_place_of_the_old_one(file):
    assert add_user(file, "anna", "battery staple", "consensus")
    users = read_users(file)
    assert users.reader("anna", PASSWORD) is None
    assert users.reader("anna", "battery staple") == Reader("anna", "consensus")
    assert users.reader("vera", PASSWORD) == Reader("vera", "validator")


@pytest.mark.parametrize("name", ["", " anna", "a\nb", "x" * 65, "a\u202eb"])
def test_a_name_that_could_disguise_itself_is_refused(tmp_path, name):
    with pytest.raises(ParameterError, match="no name"):
        add_user(tmp_path / "users.json", name, PASSWORD, "reader")


def test_a_short_password_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="at least 10"):
        add_user(tmp_path / "users.json", "anna", "short", "reader")


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"schema": 2, "users": {}}',
        '{"schema": 1, "users": {}}',
        '{"schema": 1, "users": {"anna": {"role": "king", "password": "x"}}}',
        '{"schema": 1, "users": {"anna": {"role": "reader", "password": "plain text"}}}',
        '{"schema": 1, "users": {"anna": {"role": "reader", "password": "scrypt$1$8$1$AA$AA"}}}',
        '{"schema": 1, "users": {"anna": {"role": "reader", "password": "scrypt$9999999$8$1$$"}}}',
    ],
)
def test_a_file_that_is_none_is_one_sentence(tmp_path, content):
    (tmp_path / "users.json").write_text(content)
    with pytest.raises(FileError, match=r"users\.json"):
        read_users(tmp_path / "users.json")


def test_nothing_is_answered_before_the_login(browser):
    assert browser.get("/").headers["location"] == "/login"
    assert browser.get("/api/exams").status_code == 401
    assert browser.get("/api/docs").status_code == 303
    assert browser.get("/assets/index.js").status_code == 303
    page = browser.get("/login")
    assert page.status_code == 200
    assert "<script" not in page.text


def test_a_login_lasts_until_the_logout(browser):
    answer = log_in(browser)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["set-cookie"]
    room = browser.get("/api/room").json()
    assert (room["reader"], room["role"], room["readers"]) == ("anna", "reader", ["anna", "vera"])
    browser.post("/logout")
    assert browser.get("/api/room").status_code == 401


def test_there_is_no_way_around_the_password(browser):
    assert browser.get("/?token=").headers["location"] == "/login"
    assert browser.get("/?token=None").headers["location"] == "/login"


def test_wrong_passwords_are_told_alike_and_slowed_down(browser):
    known = [log_in(browser, password="wrong password") for _ in range(3)]
    unknown = log_in(browser, name="nobody", password="wrong password")
    assert {answer.status_code for answer in (*known, unknown)} == {401}
    assert "Name or password is wrong." in unknown.text
    slowed = log_in(browser)  # the right one, too early
    assert slowed.status_code == 429
    assert "try again in" in slowed.text
    assert browser.get("/api/room").status_code == 401


def test_a_name_is_shown_as_text(browser):
    page = log_in(browser, name='"><script>alert(1)</script>', password="x")
    assert "<script" not in page.text


def test_a_role_that_the_room_has_not_is_turned_away(browser):
    answer = log_in(browser, name="vera")
    assert answer.status_code == 403
    assert "this room is one for reader" in answer.text


def test_the_cookie_is_for_tls_alone_where_tls_stands_in_front(shared_room):
    from capsieve.review.access import cookie

    assert "Secure" in cookie({"scheme": "https"}, "name", "secret")
    assert "Secure" not in cookie({"scheme": "http"}, "name", "secret")


def test_the_rooms_public_name_is_known(browser):
    assert browser.get("/login", headers={"host": "room.example"}).status_code == 200
    assert browser.get("/login", headers={"host": "other.example"}).status_code == 403


def test_users_of_other_roles_make_no_room(results, tmp_path, file):
    content = json.loads(file.read_text())
    del content["users"]["anna"]
    file.write_text(json.dumps(content))
    with pytest.raises(ParameterError, match="none of the users is a reader"):
        open_room(
            results,
            lambda way: users_door(read_users(file), port=1, host="0.0.0.0", names=()),
            reader="admin",
            database=str(tmp_path / "decisions.sqlite"),
        )
