"""Readers of a blind workflow learn nothing of each other before both have signed."""

import csv
import io
import json
import shutil

import pytest

from support.contents import decision, finding, note, removed, undo

FIRST, SECOND = "event:0:0", "event:0:20"
EXAM = "/api/exams/small"


@pytest.fixture
def anna(open_app):
    return open_app(reader="anna", workflow="blind").client()


@pytest.fixture
def bert(anna, open_app):
    return open_app(reader="bert").client()


@pytest.fixture
def carl(anna, open_app):
    return open_app(reader="carl", role="consensus").client()


def act(client, *contents):
    answer = client.act(*contents)
    assert answer.status_code == 200, answer.text
    return answer.json()[0]["action"]


def sign(client):
    answer = client.sign()
    assert answer.status_code == 200, answer.text


def accept(client, name, *, frames, event=FIRST):
    """Accept an event and describe its polyp."""
    act(client, finding(name, frames), decision(event, "accept", finding=f"finding:{name}"))


def decisions(client, reader=""):
    answer = client.get(f"{EXAM}/reading?reader={reader}" if reader else f"{EXAM}/reading")
    return {
        subject: entry["content"]["decision"]
        for subject, entry in answer.json()["decisions"].items()
    }


def labels(client):
    """Return the label of each frame in labels.csv."""
    rows = csv.DictReader(io.StringIO(client.get(f"{EXAM}/export/labels.csv").text))
    return {int(row["frame"]): row["label"] for row in rows}


def readers(client):
    (exam,) = client.get("/api/exams").json()
    return [(each["reader"], each["state"]) for each in exam["readers"]]


def test_a_blind_reader_sees_the_progress_of_the_other_after_both_have_signed(anna, bert):
    act(anna, note("x"))
    act(bert, note("x"))
    sign(bert)
    assert readers(anna) == [("anna", "in reading")]
    assert readers(bert) == [("bert", "signed")]
    sign(anna)
    assert readers(anna) == [("anna", "signed"), ("bert", "signed")]


def test_other_roles_and_a_third_reader_see_progress_without_names(anna, bert, carl, open_app):
    act(anna, note("x"))
    third = open_app(reader="dora").client()
    assert readers(third) == []
    act(bert, note("x"))
    sign(bert)
    for other in (carl, third):
        assert readers(other) == [("", "in reading"), ("", "signed")]


@pytest.mark.parametrize("path", ["/api/exams", f"{EXAM}/reading"])
def test_answers_and_etags_do_not_depend_on_what_another_blind_reader_does(anna, bert, path):
    act(anna, note("x"))
    before = anna.get(path)
    for change in ([note("y")], [decision(FIRST, "accept")]):
        act(bert, *change)
        bert.see([1])
        again = anna.get(path, headers={"if-none-match": before.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    sign(bert)
    assert anna.get(path).content == before.content


def test_the_reading_of_another_is_refused_whether_it_was_started_or_not(anna, bert):
    assert anna.get(f"{EXAM}/reading?reader=bert").status_code == 409
    act(anna, note("x"))
    assert anna.get(f"{EXAM}/reading?reader=bert").status_code == 409
    assert anna.get(f"{EXAM}/reading?reader=anna").status_code == 200
    sign(anna)
    assert bert.get(f"{EXAM}/reading?reader=anna").status_code == 409
    act(bert, note("x"))
    sign(bert)
    assert bert.get(f"{EXAM}/reading?reader=anna").json()["state"] == "signed"


def test_a_consensus_has_the_polyps_that_both_readers_accepted(anna, bert, carl):
    accept(anna, "a", frames=[2, 3])
    accept(bert, "b", frames=[3, 4])
    act(anna, decision(SECOND, "accept"))
    act(bert, decision(SECOND, "reject"))
    sign(anna)
    sign(bert)
    begun = carl.get(f"{EXAM}/reading").json()
    assert begun["state"] == "unread"
    assert begun["undoable"] is None
    assert list(begun["decisions"]) == [FIRST]
    act(carl, decision(SECOND, "reject"))
    sign(carl)
    assert decisions(carl) == {FIRST: "accept", SECOND: "reject"}
    signed = carl.get(f"{EXAM}/reading").json()
    found = [(each["content"]["subject"], each["reader"]) for each in signed["findings"]]
    assert found == [("finding:a", "anna and bert")]
    statement = signed["signature"]["content"]["statement"]
    assert all(name in statement for name in ("anna", "bert", "carl"))
    (listed,) = carl.get("/api/exams").json()
    assert (listed["findings"], listed["decided_events"]) == (1, 2)
    report = carl.get(f"{EXAM}/export/report.html").text
    assert "1 finding" in report
    assert "undecided" not in report
    polyps = dict.fromkeys(range(6), "polyp")
    assert labels(carl) == polyps | dict.fromkeys(range(20, 24), "normal")


def test_an_event_on_which_both_readers_agree_takes_no_decision_of_the_consensus(anna, bert, carl):
    for client, name in ((anna, "a"), (bert, "b")):
        accept(client, name, frames=[2])
        sign(client)
    answer = carl.act(decision(FIRST, "unsure"))
    assert answer.status_code == 409
    assert "Both readers" in answer.json()["detail"]
    act(carl, removed("finding", "finding:a"))
    assert carl.get(f"{EXAM}/reading").json()["findings"] == []


@pytest.mark.parametrize("word", ["unsure", "reject"])
def test_a_consensus_against_an_event_is_also_against_its_agreed_finding(anna, bert, carl, word):
    accept(anna, "a", frames=[0])
    act(bert, finding("b", [0]), decision(FIRST, "unsure"))
    sign(anna)
    sign(bert)
    assert len(carl.get(f"{EXAM}/reading").json()["findings"]) == 1
    action = act(carl, decision(FIRST, word))
    assert carl.get(f"{EXAM}/reading").json()["findings"] == []
    assert "polyp" not in labels(carl).values()
    act(carl, undo(action))
    assert len(carl.get(f"{EXAM}/reading").json()["findings"]) == 1


def test_a_reader_of_both_roles_compares_her_own_reading_in_the_consensus(anna, bert, open_app):
    act(anna, decision(SECOND, "accept"))
    act(bert, decision(SECOND, "reject"))
    sign(anna)
    sign(bert)
    consensus = open_app(reader="anna", role="consensus").client()
    act(consensus, decision(SECOND, "unsure"))
    assert decisions(consensus, "anna")[SECOND] == "accept"
    assert decisions(consensus)[SECOND] == "unsure"


def test_a_reader_who_has_undone_everything_leaves_the_place_to_another(anna, bert, open_app):
    act(anna, note("x"))
    third = open_app(reader="dora").client()
    undone = act(bert, note("x"))
    assert third.act(note("y")).status_code == 403
    act(bert, undo(undone))
    act(third, note("y"))
    assert bert.act(note("z")).status_code == 403


def test_a_consensus_signs_the_frames_that_were_displayed_to_it(anna, bert, carl):
    for client, frames in ((anna, [1, 2]), (bert, [1, 2]), (carl, [3])):
        assert client.see(frames).status_code == 200
        sign(client)
    reading = carl.get(f"{EXAM}/reading").json()
    signed = reading["signature"]["content"]
    assert signed["displayed_frames"] == reading["progress"]["displayed"] == 1
    assert [(each["reader"], each["role"]) for each in signed["viewed"]] == [("carl", "consensus")]


def test_readings_of_another_screening_are_not_compared(results, tmp_path, open_app):
    shutil.copytree(results / "small", tmp_path / "out" / "small")
    clients = [
        open_app(tmp_path / "out", reader=name, workflow="blind").client()
        for name in ("anna", "bert")
    ]
    for client in clients:
        act(client, decision(FIRST, "accept"))
        sign(client)
    assert clients[0].get(f"{EXAM}/agreement").status_code == 200
    record = tmp_path / "out" / "small" / "exam.json"
    changed = json.loads(record.read_text()) | {"versions": {"capsieve": "another"}}
    record.write_text(json.dumps(changed))
    answer = clients[0].get(f"{EXAM}/agreement")
    assert answer.status_code == 409
    assert "another screening" in answer.json()["detail"]
    report = clients[0].get(f"{EXAM}/export/report.html").text
    assert "kappa" not in report
