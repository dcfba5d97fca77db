"""Temporary problems give status 503: the page sends the request again."""

import os
import shutil
import sqlite3

import pytest

from support.contents import note

ENTRIES, VIEWED = "/api/exams/small/entries", "/api/exams/small/viewed"
NOTE = {"key": "note-0001", "entries": [note("x")]}
SHOWN = {"head": 0, "displayed": [{"head": 0, "first": 0, "last": 0}], "viewed": []}


@pytest.fixture
def out(results, tmp_path):
    shutil.copytree(results / "small", tmp_path / "out" / "small")
    return tmp_path / "out"


def test_a_locked_database_gives_503_until_it_is_released(open_app, tmp_path):
    client = open_app(lock_timeout=0.05).client()
    other = sqlite3.connect(tmp_path / "decisions.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    who = client.who()
    for address, body in ((ENTRIES, NOTE), (VIEWED, SHOWN)):
        answer = client.post(address, json=body | who)
        assert answer.status_code == 503
        assert str(tmp_path) not in answer.text
    other.execute("ROLLBACK")
    other.close()
    assert client.post(ENTRIES, json=NOTE | who).json()[0]["number"] == 1
    assert client.post(VIEWED, json=SHOWN | who).status_code == 200


def test_a_full_database_gives_503_until_it_can_grow(app, client):
    body = NOTE | {"entries": [note("x" * 9000)]} | client.who()
    app.limit_database(full=True)
    assert client.post(ENTRIES, json=body).status_code == 503
    app.limit_database(full=False)
    assert client.post(ENTRIES, json=body).status_code == 200


def test_a_missing_results_folder_gives_503_until_it_is_back(open_app, out):
    client = open_app(out).client()
    body = NOTE | client.who()
    elsewhere = out.with_name("elsewhere")
    os.rename(out, elsewhere)
    for address in ("/api/exams", "/api/exams/small", "/api/exams/small/reading"):
        assert client.get(address).status_code == 503
    answer = client.post(ENTRIES, json=body)
    assert answer.status_code == 503
    assert str(out) not in answer.text
    os.rename(elsewhere, out)
    assert client.post(ENTRIES, json=body).json()[0]["number"] == 1


def test_a_missing_table_gives_503_until_it_is_back(open_app, out):
    body = NOTE | open_app(out).client().who()
    client = open_app(out).client()
    os.rename(out / "small" / "frames.parquet", out / "kept")
    assert client.get("/api/exams/small").status_code == 503
    assert client.post(ENTRIES, json=body).status_code == 503
    assert client.post("/api/exams/other/entries", json=body).status_code == 404
    os.rename(out / "kept", out / "small" / "frames.parquet")
    assert client.post(ENTRIES, json=body).status_code == 200


def test_a_table_removed_after_the_exam_was_opened_gives_503(open_app, out):
    client = open_app(out).client()
    assert client.get("/api/exams/small").status_code == 200
    (out / "small" / "events.parquet").unlink()
    assert client.get("/api/exams/small").status_code == 503
