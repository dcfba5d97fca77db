"""Readers of a blind workflow learn nothing of each other before both have signed."""

import itertools

import pytest

EXAM = "/api/exams/small"
_KEYS = itertools.count(20_000_000)


@pytest.fixture
def anna(open_app):
    return open_app(reader="anna", workflow="blind").client()


@pytest.fixture
def bert(anna, open_app):
    return open_app(reader="bert").client()


def act(client, kind, content):
    body = {"key": f"{next(_KEYS)}", "kind": kind, "subject": "exam", "content": content}
    answer = client.post(f"{EXAM}/entries", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["number"]


def sign(client):
    last = client.get(f"{EXAM}/reading").json()["last"]
    return act(client, "sign", {"statement": "read", "last": last})


def readers(client):
    (exam,) = client.get("/api/exams").json()
    return [(each["reader"], each["state"]) for each in exam["readers"]]


def test_the_exam_list_shows_the_progress_of_others_without_their_names(anna, bert):
    act(anna, "note", {"text": "x"})
    act(bert, "note", {"text": "x"})
    sign(bert)
    assert readers(anna) == [("anna", "in reading"), ("", "signed")]
    assert readers(bert) == [("", "in reading"), ("bert", "signed")]
    sign(anna)
    assert readers(anna) == [("anna", "signed"), ("bert", "signed")]


def test_the_reading_of_another_is_refused_whether_it_was_started_or_not(anna, bert):
    assert anna.get(f"{EXAM}/reading?reader=bert").status_code == 409
    act(anna, "note", {"text": "x"})
    assert anna.get(f"{EXAM}/reading?reader=bert").status_code == 409
    assert anna.get(f"{EXAM}/reading?reader=anna").status_code == 200
    sign(anna)
    assert bert.get(f"{EXAM}/reading?reader=anna").status_code == 409
    act(bert, "note", {"text": "x"})
    sign(bert)
    assert bert.get(f"{EXAM}/reading?reader=anna").json()["state"] == "signed"
