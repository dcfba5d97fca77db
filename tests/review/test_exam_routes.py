"""The list of exams, one exam, and the description of the interface over HTTP."""

import os
import shutil

import pytest

from support.contents import decision, note
from support.small_exam import EVENTS_OF_SMALL, FRAMES, SIZE

EVENT = f"event:0:{EVENTS_OF_SMALL[0][0]}"


def test_the_app_describes_its_user_and_workflow(client):
    about = client.get("/api/room").json()
    assert (about["workflow"], about["reader"], about["role"]) == ("single", "anna", "reader")
    assert about["disclaimer"]


def test_the_list_shows_frames_and_the_progress_of_the_reading(client):
    (exam,) = client.get("/api/exams").json()
    assert (exam["exam"], exam["state"], exam["frames"]) == ("small", "unread", FRAMES)
    assert client.act(decision(EVENT, "reject")).status_code == 200
    (exam,) = client.get("/api/exams").json()
    assert (exam["state"], exam["decided_events"]) == ("in reading", 1)
    assert exam["readers"] == [{"reader": "anna", "state": "in reading"}]


def test_the_list_shows_entries_of_another_server_on_the_same_database(client, open_app):
    assert client.get("/api/exams").json()[0]["state"] == "unread"
    other = open_app(reader="bert").client()
    assert other.act(note("x")).status_code == 200
    (exam,) = client.get("/api/exams").json()
    assert (exam["state"], exam["readers"][0]["reader"]) == ("in reading", "bert")


@pytest.mark.parametrize("path", ["/api/exams", "/api/exams/small/reading"])
def test_an_unchanged_answer_is_not_sent_again(client, path):
    first = client.get(path)
    known = {"if-none-match": f'"other", {first.headers["etag"]}'}
    again = client.get(path, headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    client.act(decision(EVENT, "reject"))
    changed = client.get(path, headers=known)
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]


def test_a_damaged_exam_is_listed_with_its_problem_and_cannot_be_opened(
    results, tmp_path, open_app
):
    out = tmp_path / "out"
    out.mkdir()
    (out / "good").symlink_to(results / "small")
    (out / "bad").mkdir()
    (out / "bad" / "exam.json").write_text("{")
    client = open_app(out).client()
    bad, good = client.get("/api/exams").json()
    assert (bad["readable"], good["readable"]) == (False, True)
    assert len(bad["problems"]) == 1
    answer = client.get("/api/exams/bad")
    assert answer.status_code == 503
    assert str(out) not in answer.json()["detail"]


def test_a_folder_whose_name_is_no_text_does_not_hide_the_other_exams(results, tmp_path, open_app):
    shutil.copytree(results / "small", tmp_path / "out" / "small")
    shutil.copytree(results / "small", tmp_path / "out" / os.fsdecode(b"bad\xffname"))
    bad, small = open_app(tmp_path / "out").client().get("/api/exams").json()
    assert (small["exam"], small["readable"]) == ("small", True)
    assert not bad["readable"]
    assert "rename" in bad["problems"][0]


def test_an_exam_has_heads_and_events(client):
    exam = client.get("/api/exams/small").json()
    (head,) = exam["heads"]
    assert (head["frames"], head["rows"], head["cols"]) == (FRAMES, SIZE, SIZE)
    assert (head["fps"], head["has_times"]) == (None, False)
    found = [(event["first_frame"], event["last_frame"]) for event in exam["events"]]
    assert found == list(EVENTS_OF_SMALL)
    assert exam["threshold"] == 37
    assert exam["score"]["low"] <= 20
    assert exam["score"]["high"] >= 59


def test_frames_have_the_names_of_their_files_without_folders(client, results):
    exam = client.get("/api/exams/small")
    assert str(results.parent) not in exam.text
    assert exam.json()["heads"][0]["files"] == [f"frame{number}.png" for number in range(FRAMES)]


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "%2e%2e",
        "..%2f..%2fetc%2fpasswd",
        "small%2f..%2fsmall",
        "%2fetc",
        "small%00",
        "source",
        "decisions.sqlite",
        "x" * 3000,
    ],
)
@pytest.mark.parametrize("rest", ["", "/frames/0/0", "/reading", "/export/labels.csv"])
def test_a_name_cannot_lead_out_of_the_results_folder(client, name, rest):
    answer = client.get(f"/api/exams/{name}{rest}")
    assert answer.status_code == 404
    assert answer.json()["detail"]


def test_every_route_has_a_description_and_a_response_schema(client):
    description = client.get("/api/openapi.json").json()
    for methods in description["paths"].values():
        for route in methods.values():
            content = route["responses"]["200"]["content"]
            assert all(part.get("schema") != {} for part in content.values()), route["summary"]
            assert route["description"]
