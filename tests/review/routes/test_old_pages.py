"""Requests of a page that was opened before another login or another screening."""

import html
import json
import shutil

import pytest

EXAM = "/api/exams/small"
NOTE = {"key": "note-0001", "kind": "note", "subject": "exam", "content": {"text": "x"}}
BATCH = {"key": "batch-01", "head": 0, "frames": [[0, 100]]}
BOTH = pytest.mark.parametrize(("route", "body"), [("entries", NOTE), ("seen", BATCH)])


@pytest.fixture
def out(results, tmp_path):
    shutil.copytree(results / "small", tmp_path / "out" / "small")
    return tmp_path / "out"


def screen_again(out):
    path = out / "small" / "exam.json"
    record = json.loads(path.read_text())
    record["tables"] = {"frames.parquet": "1" * 64}
    path.write_text(json.dumps(record))


def screening(client):
    return client.get(EXAM).json()["screening"]


def assert_nothing_stored(client):
    assert client.get(f"{EXAM}/entries").json() == []
    assert client.get(f"{EXAM}/reading").json()["seen"]["frames"] == 0


@BOTH
def test_a_request_of_the_present_reader_and_screening_is_accepted(client, route, body):
    own = {"reader": "anna", "role": "reader", "screening": screening(client)}
    assert client.post(f"{EXAM}/{route}", json=body | own).status_code == 200


@BOTH
@pytest.mark.parametrize("other", [{"reader": "bert"}, {"role": "validator"}])
def test_a_request_in_the_name_of_another_reader_is_rejected(client, route, body, other):
    answer = client.post(f"{EXAM}/{route}", json=body | {"reader": "anna"} | other)
    assert answer.status_code == 401
    assert_nothing_stored(client)


@BOTH
def test_a_request_of_an_old_screening_is_rejected(open_app, out, route, body):
    client = open_app(out).client()
    old = screening(client)
    screen_again(out)
    assert screening(client) != old
    answer = client.post(f"{EXAM}/{route}", json=body | {"screening": old})
    assert answer.status_code == 409
    assert_nothing_stored(client)


def test_a_repeated_request_gets_the_entry_stored_before_the_new_screening(open_app, out):
    client = open_app(out).client()
    body = NOTE | {"screening": screening(client)}
    first = client.post(f"{EXAM}/entries", json=body).json()
    screen_again(out)
    assert client.post(f"{EXAM}/entries", json=body).json() == first


def test_entries_of_an_old_screening_are_a_problem_and_cannot_be_signed(open_app, out):
    client = open_app(out).client()
    client.post(f"{EXAM}/entries", json=NOTE)
    screen_again(out)
    (problem,) = client.get(f"{EXAM}/reading").json()["problems"]
    assert problem in client.get("/api/exams").json()[0]["problems"]
    body = {"kind": "sign", "subject": "exam", "content": {"statement": "read", "last": 1}}
    answer = client.post(f"{EXAM}/entries", json=body | {"key": "sign-0001"})
    assert answer.status_code == 409


def test_entries_of_an_old_screening_are_not_exported_as_labels_and_are_reported(open_app, out):
    client = open_app(out).client()
    client.post(f"{EXAM}/entries", json=NOTE)
    assert client.get(f"{EXAM}/export/labels.csv").status_code == 200
    screen_again(out)
    assert client.get(f"{EXAM}/export/labels.csv").status_code == 409
    (problem,) = client.get(f"{EXAM}/reading").json()["problems"]
    report = html.unescape(client.get(f"{EXAM}/export/report.html").text)
    assert problem.lower() in report.lower()


def test_two_servers_on_one_database_have_the_same_identity(open_app):
    one, other = (open_app(reader=name).client() for name in ("anna", "bert"))
    assert one.get("/api/room").json()["room"] == other.get("/api/room").json()["room"] != ""
