"""Requests of a page that was opened before another login or another screening."""

import html
import json
import shutil

import pytest

from support.contents import decision, note, removed

EXAM = "/api/exams/small"
ACTION = {"key": "note-0001", "entries": [note("x")]}
SHOWN = {"head": 0, "displayed": [{"head": 0, "first": 0, "last": 0}], "viewed": []}
BOTH = pytest.mark.parametrize(("route", "body"), [("entries", ACTION), ("viewed", SHOWN)])


@pytest.fixture
def out(results, tmp_path):
    shutil.copytree(results / "small", tmp_path / "out" / "small")
    return tmp_path / "out"


def screen_again(out):
    path = out / "small" / "exam.json"
    record = json.loads(path.read_text())
    record["versions"] = {"capsieve": "another"}
    path.write_text(json.dumps(record))


def assert_nothing_stored(client):
    assert client.get(f"{EXAM}/entries").json() == []
    assert client.get(f"{EXAM}/reading").json()["progress"]["displayed"] == 0


@BOTH
def test_a_request_of_the_present_reader_and_screening_is_accepted(client, route, body):
    assert client.post(f"{EXAM}/{route}", json=body | client.who()).status_code == 200


@BOTH
@pytest.mark.parametrize("other", [{"reader": "bert"}, {"role": "validator"}])
def test_a_request_in_the_name_of_another_reader_is_rejected(client, route, body, other):
    answer = client.post(f"{EXAM}/{route}", json=body | client.who() | other)
    assert answer.status_code == 401
    assert_nothing_stored(client)


@BOTH
def test_a_request_of_an_old_screening_is_rejected(open_app, out, route, body):
    client = open_app(out).client()
    old = client.who()
    screen_again(out)
    assert client.who() != old
    answer = client.post(f"{EXAM}/{route}", json=body | old)
    assert answer.status_code == 409
    assert_nothing_stored(client)


def test_a_repeated_request_gets_the_entry_stored_before_the_new_screening(open_app, out):
    client = open_app(out).client()
    body = ACTION | client.who()
    first = client.post(f"{EXAM}/entries", json=body).json()
    screen_again(out)
    assert client.post(f"{EXAM}/entries", json=body).json() == first


def test_entries_of_an_old_screening_are_a_problem_and_cannot_be_signed(open_app, out):
    client = open_app(out).client()
    client.act(decision("event:0:0", "accept"))
    screen_again(out)
    reading = client.get(f"{EXAM}/reading").json()
    (problem,) = reading["problems"]
    assert [entry["number"] for entry in reading["misfits"]] == [1]
    assert problem in client.get("/api/exams").json()[0]["problems"]
    assert client.sign().status_code == 409
    client.act(removed("decision", "event:0:0"))
    assert client.get(f"{EXAM}/reading").json()["problems"] == []
    assert client.sign().status_code == 200


def test_frames_displayed_on_an_old_screening_are_not_counted(open_app, out):
    client = open_app(out).client()
    client.see(range(10))
    screen_again(out)
    assert client.get(f"{EXAM}/reading").json()["progress"]["displayed"] == 0
    client.see([3])
    assert client.get(f"{EXAM}/reading").json()["progress"]["displayed"] == 1
    content = client.sign().json()[0]["content"]
    assert content["displayed_frames"] == 1


def test_entries_of_an_old_screening_are_not_exported_as_labels_and_are_reported(open_app, out):
    client = open_app(out).client()
    client.act(note("x"))
    assert client.get(f"{EXAM}/export/labels.csv").status_code == 200
    screen_again(out)
    assert client.get(f"{EXAM}/export/labels.csv").status_code == 409
    (problem,) = client.get(f"{EXAM}/reading").json()["problems"]
    report = html.unescape(client.get(f"{EXAM}/export/report.html").text)
    assert problem.lower() in report.lower()


def test_two_servers_on_one_database_have_the_same_identity(open_app):
    one, other = (open_app(reader=name).client() for name in ("anna", "bert"))
    assert one.get("/api/room").json()["room"] == other.get("/api/room").json()["room"] != ""
