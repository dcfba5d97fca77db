"""The file of users, and logging in."""

import hashlib
import json
import stat
from dataclasses import replace

import pytest

from capsieve.errors import FileError, ParameterError
from capsieve.review import users as users_module
from capsieve.review.room import open_room, users_door
from capsieve.review.sessions import Reader
from capsieve.review.users import Users, add_user, hashed, matches
from capsieve.review.waiting import Waiting
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
    door = users_door(Users(file), port=PORT, host="0.0.0.0", names=["room.example"])
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
    users = Users(file)
    assert users.reader("anna", PASSWORD) == Reader("anna", "reader")
    assert users.reader("anna", "another one") is None
    assert users.reader("nobody", PASSWORD) is None


def test_a_new_password_takes_the_place_of_the_old_one(file):
    assert add_user(file, "anna", "battery staple", "consensus")
    users = Users(file)
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
        Users(tmp_path / "users.json")


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
    told = {}
    for name in ("anna", "nobody", "no such name"):
        answers = [log_in(browser, name, "wrong password") for _ in range(5)]
        told[name] = [(answer.status_code, answer.text.replace(name, "NAME")) for answer in answers]
    assert told["anna"] == told["nobody"] == told["no such name"]
    assert [status for status, _ in told["anna"]] == [401, 401, 401, 429, 429]
    assert "Name or password is wrong." in told["anna"][0][1]
    slowed = log_in(browser)  # the right one, too early
    assert slowed.status_code == 429
    assert "try again in" in slowed.text
    assert browser.get("/api/room").status_code == 401


def test_a_stranger_elsewhere_locks_nobody_out(shared_room):
    stranger = RoomClient(shared_room, enter=False, address="203.0.113.9")
    answers = [log_in(stranger, password="wrong password") for _ in range(10)]
    assert answers[-1].status_code == 429
    assert log_in(RoomClient(shared_room, enter=False)).status_code == 303


def test_an_unknown_name_costs_what_a_known_one_does(file, monkeypatch):
    monkeypatch.setattr(users_module, "_COST", 64)  # as if the file were older than the program
    costs = []
    scrypt = hashlib.scrypt
    monkeypatch.setattr(
        hashlib, "scrypt", lambda *a, **o: (costs.append(o["n"]), scrypt(*a, **o))[1]
    )
    users = Users(file)
    for name in ("anna", "nobody", "", "x" * 1000, "\ud800"):
        assert users.reader(name, "wrong password") is None
    assert costs == [16] * 5


def remove(file, name):
    content = json.loads(file.read_text())
    del content["users"][name]
    file.write_text(json.dumps(content))


def test_who_is_removed_from_the_file_is_out(shared_room, browser, file):
    log_in(browser)
    assert browser.get("/api/room").status_code == 200
    remove(file, "anna")
    assert browser.get("/api/room").status_code == 401
    assert log_in(browser).status_code == 401
    add_user(file, "anna", PASSWORD, "reader")
    assert log_in(browser).status_code == 303


def test_a_new_role_needs_a_new_login(browser, file):
    log_in(browser)
    add_user(file, "anna", PASSWORD, "consensus")
    assert browser.get("/api/room").status_code == 401


@pytest.mark.parametrize("harm", ["damaged", "gone"])
def test_a_file_that_cannot_be_read_again_counts_as_before_and_is_told_once(file, harm):
    said = []
    users = Users(file, say=said.append)
    content = file.read_text()
    file.unlink() if harm == "gone" else file.write_text("{")
    for _ in range(3):
        assert users.reader("anna", PASSWORD) == Reader("anna", "reader")
    (sentence,) = said
    assert "users.json" in sentence
    file.write_text(content)
    remove(file, "anna")
    assert users.reader("anna", PASSWORD) is None
    assert len(said) == 1


def test_a_name_is_shown_as_text(browser):
    page = log_in(browser, name='"><script>alert(1)</script>', password="x")
    assert "<script" not in page.text


def test_a_role_that_the_room_has_not_is_turned_away(browser):
    answer = log_in(browser, name="vera")
    assert answer.status_code == 403
    assert "this room is one for reader" in answer.text


def test_the_cookie_is_for_tls_alone_where_tls_stands_in_front(shared_room):
    from capsieve.review.access import cookie

    def is_secure(scheme, **headers):
        fields = [
            (name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()
        ]
        return "Secure" in cookie({"scheme": scheme, "headers": fields}, "name", "secret")

    assert is_secure("https")
    assert is_secure("http", origin="https://room.example")
    assert is_secure("http", x_forwarded_proto="https")
    assert is_secure("http", x_forwarded_proto="https, http")
    assert not is_secure("http")
    assert not is_secure("http", origin="http://room.example", x_forwarded_proto="http, https")


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
            lambda way: users_door(Users(file), port=1, host="0.0.0.0", names=()),
            reader="admin",
            database=str(tmp_path / "decisions.sqlite"),
        )
