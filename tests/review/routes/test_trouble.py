"""Trouble that passes is told as such: nobody takes it for a refusal of what they decided."""

import os
import shutil
import sqlite3

import pytest

from room_client import RoomClient

ENTRIES, SEEN = "/api/exams/small/entries", "/api/exams/small/seen"
NOTE = {"key": "note-0001", "kind": "note", "subject": "exam", "content": {"text": "x"}}
BATCH = {"key": "batch-01", "head": 0, "frames": [[0, 100]]}


@pytest.fixture
def out(results, tmp_path):
    shutil.copytree(results / "small", tmp_path / "out" / "small")
    return tmp_path / "out"


def test_a_busy_database_is_tried_again(open_a_room, tmp_path, monkeypatch):
    monkeypatch.setattr("capsieve.review.decisions.database._WAIT_S", 0.05)
    client = RoomClient(open_a_room())
    other = sqlite3.connect(tmp_path / "decisions.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for address, body in ((ENTRIES, NOTE), (SEEN, BATCH)):
        answer = client.post(address, json=body)
        assert answer.status_code == 503
        assert "try again" in answer.json()["detail"]
        assert str(tmp_path) not in answer.text
    other.execute("ROLLBACK")
    other.close()
    assert client.post(ENTRIES, json=NOTE).json()["number"] == 1
    assert client.post(SEEN, json=BATCH).status_code == 200


def test_a_full_database_is_tried_again(room, client):
    with room.database.read() as connection:  # its connection goes back to the pool
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    body = NOTE | {"content": {"text": "x" * 9000}}
    answer = client.post(ENTRIES, json=body)
    assert answer.status_code == 503
    assert "full" in answer.json()["detail"]
    with room.database.read() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 100000")
    assert client.post(ENTRIES, json=body).status_code == 200


def test_results_that_were_moved_away_come_back(open_a_room, out):
    client = RoomClient(open_a_room(out=out))
    elsewhere = out.with_name("elsewhere")
    os.rename(out, elsewhere)
    for address in ("/api/exams", "/api/exams/small", "/api/exams/small/reading"):
        assert client.get(address).status_code == 503
    answer = client.post(ENTRIES, json=NOTE)
    assert answer.status_code == 503
    assert str(out) not in answer.text
    os.rename(elsewhere, out)
    assert client.post(ENTRIES, json=NOTE).json()["number"] == 1


def test_an_exam_that_cannot_be_read_is_there_all_the_same(open_a_room, out):
    client = RoomClient(open_a_room(out=out))
    os.rename(out / "small" / "frames.parquet", out / "kept")
    assert client.get("/api/exams/small").status_code == 503
    assert client.post(ENTRIES, json=NOTE).status_code == 503
    assert client.post("/api/exams/other/entries", json=NOTE).status_code == 404
    os.rename(out / "kept", out / "small" / "frames.parquet")
    assert client.post(ENTRIES, json=NOTE).status_code == 200


def test_a_table_that_fails_later_is_told_alike(open_a_room, out):
    client = RoomClient(open_a_room(out=out))
    assert client.get("/api/exams/small").status_code == 200
    (out / "small" / "events.parquet").unlink()
    assert client.get("/api/exams/small").status_code == 503
