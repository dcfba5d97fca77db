"""``capsieve review``."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from support.commands import assert_failed
from support.small_exam import write_small_exam
from support.users import add_user, cheap_hashes


@pytest.fixture
def out(tmp_path):
    write_small_exam(tmp_path / "out", tmp_path / "source")
    return tmp_path / "out"


@pytest.fixture
def served(monkeypatch):
    """Note what would be served, and serve nothing."""
    calls = []

    def run_server(state, listener, *, browser, started):
        started()
        calls.append({"state": state, "browser": browser, "token": state.access.token})
        if browser is not None and browser.startswith("file:"):
            calls[-1]["page"] = Path(unquote(urlsplit(browser).path))
            assert f"token={state.access.token}" in calls[-1]["page"].read_text()
        state.close()
        return True

    monkeypatch.setattr("capsieve.review.server.run_server", run_server)
    return calls


def test_the_link_is_printed_and_the_browser_opened(run, out, served):
    result = run("review", out)
    assert result.exit_code == 0
    (call,) = served
    assert f"?token={call['token']}" in result.stdout
    assert call["browser"].startswith("file:")
    assert call["token"] not in call["browser"]
    assert not call["page"].exists()
    assert (out / "decisions.sqlite").is_file()


def test_options_reach_the_server(run, out, served, tmp_path):
    result = run(
        *("review", out, "--no-browser", "--reader", "Anna B.", "--workflow", "validated"),
        *("--role", "validator", "--database", tmp_path / "other.sqlite"),
    )
    assert result.exit_code == 0
    (call,) = served
    assert call["browser"] is None
    reader = call["state"].access.reader
    assert (reader.name, reader.role) == ("Anna B.", "validator")
    assert call["state"].workflow == "validated"
    assert not (out / "decisions.sqlite").exists()


def test_the_role_follows_from_the_workflow(run, out, served):
    run("review", out, "--workflow", "validated")
    run("review", out)
    assert [call["state"].access.reader.role for call in served] == ["pre-reader"] * 2


def test_one_exam_is_read_with_the_decisions_of_all(run, out, served):
    assert run("review", out / "small").exit_code == 0
    (call,) = served
    assert [facts.exam for facts in call["state"].catalogue.exams()] == ["small"]
    assert (out / "decisions.sqlite").is_file()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("nowhere",), "nowhere"),
        (("out/small/exam.json",), "exam.json"),
        (("source",), "source"),
        (("out", "--users", "nobody.json"), "nobody.json"),
        (("out", "--database", "mysql://x/y"), "PostgreSQL"),
        (("out", "--database", "absent/decisions.sqlite"), "absent"),
    ],
)
def test_a_failure_names_its_cause_in_one_line(run, out, served, monkeypatch, arguments, named):
    monkeypatch.chdir(out.parent)
    assert_failed(run("review", *arguments), named)
    assert not served


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ((), "OUT"),
        (("out", "--host", "0.0.0.0"), "--host"),
        (("out", "--users", "users.json", "--reader", "anna"), "--reader"),
        (("out", "--trusted-proxy", "127.0.0.1"), "--trusted-proxy"),
        (("out", "--users", "users.json", "--trusted-proxy", "proxy"), "--trusted-proxy"),
        (
            ("out", "--users", "users.json", "--remote-user-header", "x-user"),
            "--remote-user-header",
        ),
        (("out", "--reader", "a\nb"), "--reader"),
        (("out", "--workflow", "blind", "--role", "validator"), "--role"),
    ],
)
def test_wrong_usage_names_the_option(run, out, served, monkeypatch, arguments, option):
    monkeypatch.chdir(out.parent)
    result = run("review", *arguments)
    assert result.exit_code == 2
    assert option in result.stderr.splitlines()[-1]
    assert not served


def test_a_missing_package_is_named(run, out, monkeypatch):
    monkeypatch.setattr("capsieve.review.settings._PACKAGES", ("no_such_package",))
    assert_failed(run("review", out), "capsieve[review]")


def test_a_server_with_users_has_no_link_with_a_token(run, out, served, tmp_path, monkeypatch):
    cheap_hashes(monkeypatch)
    file = tmp_path / "users.json"
    add_user(file, "anna")
    host = ("--host", "0.0.0.0", "--allowed-host", "room.example")
    result = run("review", out, *host, "--users", file)
    assert result.exit_code == 0
    assert "TLS" in result.stderr
    (call,) = served
    assert call["token"] is None
    assert "token" not in result.stdout
    assert "room.example" in call["state"].access.hosts
