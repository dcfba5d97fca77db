"""The users file, and login by name and password."""

import json
import stat

import pytest

from capsieve import FileError, ParameterError
from support.users import PASSWORD, add_user, cheap_hashes, count_hashes


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch):
    cheap_hashes(monkeypatch)


@pytest.fixture
def file(tmp_path):
    add_user(tmp_path / "users.json", "anna")
    add_user(tmp_path / "users.json", "vera", role="validator")
    return tmp_path / "users.json"


@pytest.fixture
def app(open_app, file):
    return open_app(users=file, allowed_hosts=("review.example",))


@pytest.fixture
def browser(app):
    return app.client(log_in=False)


def remove(file, name):
    content = json.loads(file.read_text())
    del content["users"][name]
    file.write_text(json.dumps(content))


def test_only_the_owner_can_read_the_file_and_it_contains_salted_hashes(file):
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert PASSWORD not in file.read_text()
    users = json.loads(file.read_text())["users"]
    assert users["anna"]["password"] != users["vera"]["password"]


def test_name_and_password_must_match(browser):
    assert browser.log_in("anna", "another one").status_code == 401
    assert browser.log_in("anna", f"{PASSWORD} ").status_code == 401
    assert browser.log_in("unknown", PASSWORD).status_code == 401
    assert browser.log_in("anna", PASSWORD).status_code == 303


def test_a_new_password_replaces_the_old_one(open_app, file):
    add_user(file, "anna", "battery staple", role="consensus")
    browser = open_app(users=file, workflow="blind").client(log_in=False)
    assert browser.log_in("anna", PASSWORD).status_code == 401
    assert browser.log_in("anna", "battery staple").status_code == 303
    assert browser.get("/api/room").json()["role"] == "consensus"


@pytest.mark.parametrize("name", ["", " anna", "a\nb", "x" * 65, "a\u202eb"])
def test_a_misleading_name_is_rejected(tmp_path, name):
    with pytest.raises(ParameterError) as raised:
        add_user(tmp_path / "users.json", name)
    assert raised.value.field == "reader"
    assert not (tmp_path / "users.json").exists()


def test_a_short_password_is_rejected(tmp_path):
    with pytest.raises(ParameterError) as raised:
        add_user(tmp_path / "users.json", "anna", "short")
    assert raised.value.field == "password"


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"schema": 3, "users": {}}',
        '{"schema": 2, "users": {}}',
        '{"schema": 2, "users": {"anna": {"role": "king", "password": "x"}}}',
        '{"schema": 2, "users": {"anna": {"role": "reader", "password": "plain text"}}}',
        '{"schema": 2, "users": {"anna": {"role": "reader", "password": "$argon2id$v=19$m=8"}}}',
        '{"schema": 2, "users": {"anna": {"role": "reader", "password": "$argon2id$v=19$m=99999999,'
        't=1,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA"}}}',
    ],
)
def test_an_invalid_users_file_is_rejected(open_app, tmp_path, content):
    (tmp_path / "users.json").write_text(content)
    with pytest.raises(FileError, match=r"users\.json"):
        open_app(users=tmp_path / "users.json")


def test_only_the_login_page_is_served_before_the_login(browser):
    assert browser.get("/").headers["location"] == "/login"
    assert browser.get("/api/exams").status_code == 401
    assert browser.get("/assets/index.js").status_code == 303
    page = browser.get("/login")
    assert page.status_code == 200
    assert "<script" not in page.text


def test_a_session_ends_with_the_logout(browser):
    answer = browser.log_in("anna")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["set-cookie"]
    about = browser.get("/api/room").json()
    assert (about["reader"], about["role"]) == ("anna", "reader")
    browser.post("/logout")
    assert browser.get("/api/room").status_code == 401


@pytest.mark.parametrize("token", ["", "None"])
def test_a_token_does_not_replace_the_password(browser, token):
    assert browser.get("/", params={"token": token}).headers["location"] == "/login"
    assert browser.get("/api/room").status_code == 401


def test_wrong_passwords_of_known_and_unknown_names_get_equal_responses_and_a_limit(browser):
    responses = {}
    for name in ("anna", "unknown", "another one"):
        answers = [browser.log_in(name, "wrong password") for _ in range(5)]
        responses[name] = [(each.status_code, each.text.replace(name, "NAME")) for each in answers]
    assert responses["anna"] == responses["unknown"] == responses["another one"]
    assert [status for status, _ in responses["anna"]] == [401, 401, 401, 429, 429]
    assert browser.log_in("anna").status_code == 429  # the right password, too early
    assert browser.get("/api/room").status_code == 401


def test_wrong_passwords_from_one_address_do_not_limit_another(app):
    other = app.client(log_in=False, address="203.0.113.9")
    answers = [other.log_in("anna", "wrong password") for _ in range(10)]
    assert answers[-1].status_code == 429
    assert app.client(log_in=False).log_in("anna").status_code == 303


@pytest.mark.parametrize("name", ["anna", "unknown", "", "x" * 1000, "\xff"])
def test_an_unknown_name_costs_one_hash_like_a_known_one(browser, name, monkeypatch):
    cheap_hashes(monkeypatch, cost=64)  # the cost of new hashes, not of those in the file
    costs = count_hashes(monkeypatch)
    form = "name={}&password=wrong".format("".join(f"%{ord(each):02X}" for each in name))
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert browser.post("/login", content=form, headers=headers).status_code == 401
    assert costs == [16]


def test_a_removed_user_is_logged_out(browser, file):
    browser.log_in("anna")
    assert browser.get("/api/room").status_code == 200
    remove(file, "anna")
    assert browser.get("/api/room").status_code == 401
    assert browser.log_in("anna").status_code == 401
    add_user(file, "anna")
    assert browser.log_in("anna").status_code == 303


def test_a_new_role_needs_a_new_login(browser, file):
    browser.log_in("anna")
    add_user(file, "anna", role="consensus")
    assert browser.get("/api/room").status_code == 401


@pytest.mark.parametrize("damage", ["invalid", "missing"])
def test_an_unreadable_file_keeps_the_previous_users_and_is_reported_once(open_app, file, damage):
    messages = []
    browser = open_app(users=file, report=messages.append).client(log_in=False)
    content = file.read_text()
    file.unlink() if damage == "missing" else file.write_text("{")
    for _ in range(3):
        assert browser.log_in("anna").status_code == 303
    (message,) = messages
    assert str(file) in message
    file.write_text(content)
    remove(file, "anna")
    assert browser.log_in("anna").status_code == 401
    assert len(messages) == 1


def test_a_name_is_escaped_on_the_login_page(browser):
    page = browser.log_in('"><script>alert(1)</script>', "x")
    assert page.status_code == 401
    assert "<script" not in page.text


def test_a_role_that_the_workflow_does_not_have_is_rejected(browser):
    assert browser.log_in("vera").status_code == 403
    assert browser.get("/api/room").status_code == 401


HOST = {"host": "review.example"}


@pytest.mark.parametrize(
    ("scheme", "headers", "secure"),
    [
        ("https", {}, True),
        ("http", HOST | {"origin": "https://review.example"}, True),
        ("http", {"x-forwarded-proto": "https"}, False),  # of no trusted proxy
        ("http", {}, False),
        ("http", HOST | {"origin": "http://review.example"}, False),
    ],
)
def test_the_cookie_is_secure_with_tls(browser, scheme, headers, secure):
    url = f"{scheme}://127.0.0.1:8765/login"
    answer = browser.log_in("anna", url=url, headers=headers)
    assert answer.status_code == 303
    assert ("Secure" in answer.headers["set-cookie"]) == secure


def test_allowed_hosts_are_accepted(browser):
    assert browser.get("/login", headers={"host": "review.example"}).status_code == 200
    assert browser.get("/login", headers={"host": "other.example"}).status_code == 403


def test_a_workflow_needs_a_user_with_one_of_its_roles(open_app, file):
    remove(file, "anna")
    with pytest.raises(ParameterError) as raised:
        open_app(users=file)
    assert raised.value.field == "users"
