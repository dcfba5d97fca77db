"""``capsieve users``."""

import json

import pytest

from support.commands import assert_failed
from support.users import cheap_hashes

PASSWORD, OTHER = "correct horse", "battery staple"


@pytest.fixture
def users(tmp_path, monkeypatch):
    cheap_hashes(monkeypatch)
    return tmp_path / "users.json"


@pytest.fixture
def manage(run, users):
    """Run a command on the file of users, and type these lines."""

    def manage(*arguments, lines=()):
        typed = "".join(f"{line}\n" for line in lines)
        return run("users", *arguments, "--users", users, input=typed)

    return manage


def stored(users):
    return json.loads(users.read_text())["users"]


def test_an_added_user_is_listed_and_the_password_is_not_stored(manage, users):
    added = manage("add", "anna", "--role", "consensus", lines=(PASSWORD, PASSWORD))
    assert added.exit_code == 0
    assert PASSWORD not in added.output + users.read_text()
    listed = manage("list")
    assert listed.stdout == "anna  consensus reader\n"


def test_a_known_name_is_replaced_only_if_it_is_confirmed(manage, users):
    manage("add", "anna", lines=(PASSWORD, PASSWORD))
    before = users.read_bytes()
    assert manage("add", "anna", "--role", "validator", lines=("n",)).exit_code != 0
    assert users.read_bytes() == before
    assert manage("add", "anna", "--role", "validator", lines=("y", OTHER, OTHER)).exit_code == 0
    assert stored(users)["anna"]["role"] == "validator"


def test_a_new_password_keeps_the_role(manage, users):
    manage("add", "vera", "--role", "validator", lines=(PASSWORD, PASSWORD))
    before = stored(users)["vera"]
    assert manage("password", "vera", lines=(OTHER, OTHER)).exit_code == 0
    after = stored(users)["vera"]
    assert after["role"] == "validator"
    assert after["password"] != before["password"]


def test_a_removed_user_is_gone_and_the_others_remain(manage, users):
    for name in ("anna", "bert"):
        manage("add", name, lines=(PASSWORD, PASSWORD))
    assert manage("remove", "anna").exit_code == 0
    assert list(stored(users)) == ["bert"]


@pytest.mark.parametrize("command", ["remove", "password"])
def test_an_unknown_name_is_wrong_usage_and_changes_nothing(manage, users, command):
    manage("add", "anna", lines=(PASSWORD, PASSWORD))
    before = users.read_bytes()
    result = manage(command, "bert", lines=(OTHER, OTHER))
    assert result.exit_code == 2
    assert "bert" in result.stderr
    assert "anna" in result.stderr
    assert users.read_bytes() == before


def test_the_last_user_is_not_removed(manage, users):
    manage("add", "anna", lines=(PASSWORD, PASSWORD))
    assert manage("remove", "anna").exit_code == 2
    assert list(stored(users)) == ["anna"]


@pytest.mark.parametrize(("name", "password"), [("a\u202eb", PASSWORD), ("anna", "short")])
def test_a_misleading_name_or_a_short_password_adds_nobody(manage, users, name, password):
    assert manage("add", name, lines=(password, password)).exit_code == 2
    assert not users.exists()


@pytest.mark.parametrize("arguments", [("list",), ("remove", "anna"), ("password", "anna")])
def test_a_missing_file_is_named_and_not_written(manage, users, arguments):
    assert_failed(manage(*arguments), users)
    assert not users.exists()


def test_a_file_of_something_else_is_not_replaced(manage, users):
    users.write_text("exam,frame,label\n")
    assert_failed(manage("add", "anna", lines=(PASSWORD, PASSWORD)), users)
    assert users.read_text() == "exam,frame,label\n"
