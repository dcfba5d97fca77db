"""The room and its exams, over HTTP."""

import pytest

from support.small_exam import EVENTS_OF_SMALL, FRAMES, SIZE

NOTE = {"key": "note-0001", "kind": "note", "subject": "exam", "content": {"text": "x"}}


def test_the_room_says_who_is_in_it(client):
    room = client.get("/api/room").json()
    assert (room["way"], room["reader"], room["role"]) == ("single", "anna", "reader")
    assert (room["exams"], room["readers"]) == (1, ["anna"])
    assert "not a medical device" in room["disclaimer"]


def test_the_list_says_what_the_sieve_found_and_how_far_the_reading_is(client):
    (exam,) = client.get("/api/exams").json()
    assert (exam["exam"], exam["state"], exam["frames"]) == ("small", "unread", FRAMES)
    subject = "event:0:{}-{}".format(*EVENTS_OF_SMALL[0])
    verdict = {
        "key": "verdict-1",
        "kind": "verdict",
        "subject": subject,
        "content": {"verdict": "reject"},
    }
    assert client.post("/api/exams/small/entries", json=verdict).status_code == 200
    (exam,) = client.get("/api/exams").json()
    assert (exam["state"], exam["decided_events"]) == ("in reading", 1)
    assert exam["readers"] == [{"reader": "anna", "state": "in reading"}]


def test_a_second_process_changes_the_list_too(client, open_a_room):
    from room_client import RoomClient

    assert client.get("/api/exams").json()[0]["state"] == "unread"
    other = RoomClient(open_a_room(reader="bert"))  # on the same database
    assert other.post("/api/exams/small/entries", json=NOTE).status_code == 200
    (exam,) = client.get("/api/exams").json()
    assert (exam["state"], exam["readers"][0]["reader"]) == ("in reading", "bert")


def test_a_broken_exam_stands_in_the_list_and_is_not_opened(results, tmp_path, open_a_room):
    from room_client import RoomClient

    out = tmp_path / "out"
    out.mkdir()
    (out / "good").symlink_to(results / "small")
    (out / "bad").mkdir()
    (out / "bad" / "exam.json").write_text("{")
    client = RoomClient(open_a_room(out=out))
    bad, good = client.get("/api/exams").json()
    assert (bad["readable"], good["readable"]) == (False, True)
    assert len(bad["problems"]) == 1
    answer = client.get("/api/exams/bad")
    assert answer.status_code == 503
    assert str(out) not in answer.json()["detail"]


def test_one_exam_tells_its_heads_and_events(client):
    exam = client.get("/api/exams/small").json()
    (head,) = exam["heads"]
    assert (head["frames"], head["rows"], head["cols"]) == (FRAMES, SIZE, SIZE)
    assert (head["fps"], head["has_times"]) == (None, False)
    found = [(event["first_frame"], event["last_frame"]) for event in exam["events"]]
    assert found == list(EVENTS_OF_SMALL)
    assert exam["threshold"] == 37
    assert exam["score"]["low"] <= 20
    assert exam["score"]["high"] >= 59


def test_where_the_sources_lie_is_not_told(client, results):
    exam = client.get("/api/exams/small")
    assert str(results.parent) not in exam.text
    assert exam.json()["provenance"]["sources"][0]["name"] == "source"


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
def test_no_name_leads_out_of_the_room(client, name, rest):
    answer = client.get(f"/api/exams/{name}{rest}")
    assert answer.status_code == 404
    assert answer.json()["detail"].endswith(".")


def test_the_interface_is_documented_without_other_hosts(client):
    shapes = client.get("/api/openapi.json").json()
    page = client.get("/api/docs").text
    for path in shapes["paths"]:
        assert path in page
    assert "http://" not in page
    assert "https://" not in page


def test_every_route_says_what_it_answers(client):
    shapes = client.get("/api/openapi.json").json()
    for methods in shapes["paths"].values():
        for route in methods.values():
            content = route["responses"]["200"]["content"]
            assert all(part.get("schema") != {} for part in content.values()), route["summary"]
            assert route["description"]
