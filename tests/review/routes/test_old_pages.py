"""A page that stood open: somebody else has logged in since, or the exam was screened anew."""

import json
import shutil

import pytest

from room_client import RoomClient

EXAM = "/api/exams/small"
NOTE = {"key": "note-0001", "kind": "note", "subject": "exam", "content": {"text": "x"}}
BATCH = {"key": "batch-01", "head": 0, "frames": [[0, 100]]}
BOTH = pytest.mark.parametrize(("where", "body"), [("entries", NOTE), ("seen", BATCH)])


@pytest.fixture
def out(results, tmp_path):
    shutil.copytree(results / "small", tmp_path / "out" / "small")
    return tmp_path / "out"


def screen_anew(out):
    path = out / "small" / "exam.json"
    record = json.loads(path.read_text())
    record["tables"] = {"frames.parquet": "1" * 64}
    path.write_text(json.dumps(record))


def screening(client):
    return client.get(EXAM).json()["screening"]


def nothing_is_written(client):
    return not client.get(f"{EXAM}/entries").json() and (
        client.get(f"{EXAM}/reading").json()["seen"]["frames"] == 0
    )


@BOTH
def test_a_page_of_this_reader_and_this_screening_is_heard(client, where, body):
    own = {"reader": "anna", "role": "reader", "screening": screening(client)}
    assert client.post(f"{EXAM}/{where}", json=body | own).status_code == 200


@BOTH
@pytest.mark.parametrize("other", [{"reader": "bert"}, {"role": "validator"}])
def test_nobody_writes_in_the_name_of_another(client, where, body, other):
    answer = client.post(f"{EXAM}/{where}", json=body | {"reader": "anna"} | other)
    assert answer.status_code == 401
    assert "this window was opened by" in answer.json()["detail"].lower()
    assert nothing_is_written(client)


@BOTH
def test_a_page_of_an_old_screening_is_refused(open_a_room, out, where, body):
    client = RoomClient(open_a_room(out=out))
    old = screening(client)
    screen_anew(out)
    assert screening(client) != old
    answer = client.post(f"{EXAM}/{where}", json=body | {"screening": old})
    assert answer.status_code == 409
    assert "screened anew" in answer.json()["detail"]
    assert nothing_is_written(client)


def test_what_was_written_before_the_screening_is_known_when_it_comes_again(open_a_room, out):
    client = RoomClient(open_a_room(out=out))
    body = NOTE | {"screening": screening(client)}
    first = client.post(f"{EXAM}/entries", json=body).json()
    screen_anew(out)
    assert client.post(f"{EXAM}/entries", json=body).json() == first


def test_decisions_on_the_old_screening_are_told_and_not_signed(open_a_room, out):
    client = RoomClient(open_a_room(out=out))
    client.post(f"{EXAM}/entries", json=NOTE)
    screen_anew(out)
    (problem,) = client.get(f"{EXAM}/reading").json()["problems"]
    assert "another screening" in problem
    assert problem in client.get("/api/exams").json()[0]["problems"]
    body = {"kind": "sign", "subject": "exam", "content": {"statement": "read", "last": 1}}
    answer = client.post(f"{EXAM}/entries", json=body | {"key": "sign-0001"})
    assert answer.status_code == 409
    assert "take it back" in answer.json()["detail"]


def test_they_go_out_as_no_labels_and_the_report_tells_them(open_a_room, out):
    client = RoomClient(open_a_room(out=out))
    client.post(f"{EXAM}/entries", json=NOTE)
    assert client.get(f"{EXAM}/export/labels.csv").status_code == 200
    screen_anew(out)
    answer = client.get(f"{EXAM}/export/labels.csv")
    assert answer.status_code == 409
    assert "another screening" in answer.json()["detail"]
    report = client.get(f"{EXAM}/export/report.html").text
    assert "made on another screening of this exam, by anna" in report


def test_two_servers_on_one_database_are_one_room(open_a_room):
    one, other = (RoomClient(open_a_room(reader=name)) for name in ("anna", "bert"))
    assert one.get("/api/room").json()["room"] == other.get("/api/room").json()["room"] != ""
