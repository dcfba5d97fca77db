"""The server of the review app with a PostgreSQL database."""

import signal

import pytest

from support.contents import decision
from support.review_server import TIMEOUT, free_port, serve_review
from support.small_exam import EVENTS_OF_SMALL, write_small_exam

pytestmark = pytest.mark.slow
EVENT = f"event:0:{EVENTS_OF_SMALL[0][0]}"


@pytest.fixture
def results(tmp_path):
    """A results folder with one exam of 24 images."""
    write_small_exam(tmp_path / "out", tmp_path / "source")
    return tmp_path / "out"


def decide(client, word, key):
    screening = client.get("/api/exams/small").json()["screening"]
    body = {"key": f"decision-{key:08d}", "entries": [decision(EVENT, word)]}
    who = {"reader": "anna", "role": "reader", "screening": screening}
    answer = client.post("/api/exams/small/entries", json=body | who)
    assert answer.status_code == 200, answer.text
    return answer.json()[0]


def decided(client):
    reading = client.get("/api/exams/small/reading").json()
    return reading["decisions"][EVENT]["content"]["decision"]


def test_decisions_survive_a_killed_server(results, postgresql_place, tmp_path):
    port = ("--port", free_port())
    with serve_review(results, postgresql_place, *port, state=tmp_path) as (
        process,
        client,
    ):
        first = decide(client, "accept", 1)
        process.send_signal(signal.SIGKILL)
        process.wait(TIMEOUT)
    with serve_review(results, postgresql_place, *port, state=tmp_path) as (
        process,
        client,
    ):
        assert decided(client) == "accept"
        assert decide(client, "accept", 1) == first  # a repeated request
        decide(client, "reject", 2)
        assert decided(client) == "reject"
        assert len(client.get("/api/exams/small/entries").json()) == 2
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 0
        assert len(errors.splitlines()) == 1
    assert not (results / "decisions.sqlite").exists()


def test_two_servers_on_one_database_share_changes(results, postgresql_place, tmp_path):
    with (
        serve_review(results, postgresql_place, state=tmp_path / "one") as (_, one),
        serve_review(results, postgresql_place, state=tmp_path / "other") as (_, other),
    ):
        decide(other, "unsure", 1)
        assert decided(one) == "unsure"
        decide(one, "accept", 2)
        assert decided(other) == "accept"
