"""Readers of a blind workflow learn nothing of each other before both have signed."""

import csv
import io
import itertools
import json
import shutil

import pytest

FIRST, SECOND = "event:0:0-5", "event:0:20-23"
EXAM = "/api/exams/small"
_KEYS = itertools.count(20_000_000)


@pytest.fixture
def anna(open_app):
    return open_app(reader="anna", workflow="blind").client()


@pytest.fixture
def bert(anna, open_app):
    return open_app(reader="bert").client()


@pytest.fixture
def carl(anna, open_app):
    return open_app(reader="carl", role="consensus").client()


def act(client, kind, content, subject="exam"):
    body = {"key": f"{next(_KEYS)}", "kind": kind, "subject": subject, "content": content}
    answer = client.post(f"{EXAM}/entries", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["number"]


def sign(client):
    last = client.get(f"{EXAM}/reading").json()["last"]
    return act(client, "sign", {"statement": "read", "last": last})


def accept(client, name, *, frames):
    """Accept the first event and describe its polyp."""
    finding = {"head": 0, "frames": frames, "best_frame": frames[0]}
    act(client, "finding", finding, f"finding:{name}")
    act(client, "verdict", {"verdict": "accept", "finding": name}, FIRST)


def labels(client):
    """Return the label of each frame in labels.csv."""
    rows = csv.DictReader(io.StringIO(client.get(f"{EXAM}/export/labels.csv").text))
    return {int(row["frame"]): row["label"] for row in rows}


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


def test_a_consensus_has_the_polyps_that_both_readers_accepted(anna, bert, carl):
    accept(anna, "a", frames=[2, 3])
    accept(bert, "b", frames=[3, 4])
    act(anna, "verdict", {"verdict": "accept"}, SECOND)
    act(bert, "verdict", {"verdict": "reject"}, SECOND)
    sign(anna)
    sign(bert)
    begun = carl.get(f"{EXAM}/reading").json()
    assert begun["state"] == "unread"
    assert begun["undoable"] is None
    assert list(begun["verdicts"]) == [FIRST]
    act(carl, "verdict", {"verdict": "reject"}, SECOND)
    sign(carl)
    signed = carl.get(f"{EXAM}/reading").json()
    verdicts = {subject: each["verdict"] for subject, each in signed["verdicts"].items()}
    assert verdicts == {FIRST: "accept", SECOND: "reject"}
    assert [(each["id"], each["reader"]) for each in signed["findings"]] == [("a", "anna and bert")]
    (listed,) = carl.get("/api/exams").json()
    assert (listed["findings"], listed["decided_events"]) == (1, 2)
    report = carl.get(f"{EXAM}/export/report.html").text
    assert "1 finding" in report
    assert "undecided" not in report
    polyps = dict.fromkeys(range(6), "polyp")
    assert labels(carl) == polyps | dict.fromkeys(range(20, 24), "normal")


def test_a_consensus_may_decide_otherwise_than_both_readers(anna, bert, carl):
    for client, name in ((anna, "a"), (bert, "b")):
        accept(client, name, frames=[2])
        sign(client)
    decided = act(carl, "verdict", {"verdict": "unsure"}, FIRST)
    act(carl, "finding", {"removed": True}, "finding:a")
    reading = carl.get(f"{EXAM}/reading").json()
    assert reading["verdicts"][FIRST]["verdict"] == "unsure"
    assert reading["findings"] == []
    assert labels(carl) == {}
    body = {"key": f"{next(_KEYS)}", "kind": "undo", "subject": "", "content": {}}
    assert carl.post(f"{EXAM}/entries", json=body | {"undoes": decided}).status_code == 200
    reading = carl.get(f"{EXAM}/reading").json()
    assert reading["verdicts"][FIRST]["verdict"] == "accept"


@pytest.mark.parametrize("verdict", ["unsure", "reject"])
def test_a_consensus_against_an_event_is_also_against_its_agreed_finding(anna, bert, carl, verdict):
    for client, name in ((anna, "a"), (bert, "b")):
        accept(client, name, frames=[2])
        sign(client)
    act(carl, "verdict", {"verdict": verdict}, FIRST)
    assert carl.get(f"{EXAM}/reading").json()["findings"] == []
    assert "polyp" not in labels(carl).values()


def test_a_reader_of_both_roles_compares_her_own_reading_in_the_consensus(anna, bert, open_app):
    act(anna, "verdict", {"verdict": "accept"}, SECOND)
    act(bert, "verdict", {"verdict": "reject"}, SECOND)
    sign(anna)
    sign(bert)
    consensus = open_app(reader="anna", role="consensus").client()
    act(consensus, "verdict", {"verdict": "unsure"}, SECOND)
    compared = consensus.get(f"{EXAM}/reading?reader=anna").json()
    assert compared["verdicts"][SECOND]["verdict"] == "accept"
    own = consensus.get(f"{EXAM}/reading").json()
    assert own["verdicts"][SECOND]["verdict"] == "unsure"


def test_a_consensus_signs_the_frames_that_it_displayed_itself(anna, bert, carl):
    for client, frames in ((anna, [1, 2]), (bert, [1, 2]), (carl, [3])):
        batch = {"head": 0, "frames": [[frame, 500.0] for frame in frames]}
        answer = client.post(f"{EXAM}/seen", json={"key": f"{next(_KEYS)}"} | batch)
        assert answer.status_code == 200
        sign(client)
    reading = carl.get(f"{EXAM}/reading").json()
    assert reading["signature"]["seen_frames"] == reading["seen"]["frames"] == 1


def test_readings_of_another_screening_are_not_compared(results, tmp_path, open_app):
    shutil.copytree(results / "small", tmp_path / "out" / "small")
    clients = [
        open_app(tmp_path / "out", reader=name, workflow="blind").client()
        for name in ("anna", "bert")
    ]
    for client in clients:
        act(client, "verdict", {"verdict": "accept"}, FIRST)
        sign(client)
    assert clients[0].get(f"{EXAM}/agreement").status_code == 200
    record = tmp_path / "out" / "small" / "exam.json"
    changed = json.loads(record.read_text()) | {"tables": {"frames.parquet": "1" * 64}}
    record.write_text(json.dumps(changed))
    answer = clients[0].get(f"{EXAM}/agreement")
    assert answer.status_code == 409
    assert "another screening" in answer.json()["detail"]
