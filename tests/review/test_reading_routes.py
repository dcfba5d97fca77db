"""Decisions, signatures and exports over HTTP."""

import base64

import numpy as np
import pytest

import capsieve
from support.contents import decision, finding, landmark, note, removed, undo
from support.readings import tamper
from support.small_exam import EVENTS_OF_SMALL, FRAMES

EXAM = "/api/exams/small"
FIRST, SECOND = (f"event:0:{first}" for first, _ in EVENTS_OF_SMALL)
SPAN = {"head": 0, "first": 0, "last": 0}


def reading(client, **options):
    return client.get(f"{EXAM}/reading", **options).json()


def decisions(client):
    return {
        subject: entry["content"]["decision"]
        for subject, entry in reading(client)["decisions"].items()
    }


def test_an_entry_has_its_number_reader_and_time(client):
    (entry,) = client.act(decision(FIRST, "accept")).json()
    assert (entry["number"], entry["reader"], entry["role"]) == (1, "anna", "reader")
    assert entry["time"].endswith("Z")
    found = reading(client)
    assert found["decisions"][FIRST] == entry
    assert (found["state"], found["undoable"]) == ("in reading", 1)
    assert found["readers"] == ["anna"]
    assert client.get(f"{EXAM}/entries").json() == [entry]
    assert client.get(f"{EXAM}/entries?after=1").json() == []


def test_a_repeated_key_stores_one_action(client):
    both = [finding("a", range(6)), decision(FIRST, "accept", finding="finding:a")]
    first, second = (client.act(*both, key="12345678") for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()
    assert client.act(decision(SECOND, "unsure"), key="12345678").status_code == 409
    assert client.act(*both[:1], key="12345678").status_code == 409
    assert len(client.get(f"{EXAM}/entries").json()) == 2


def test_undo_and_redo_are_entries_and_take_the_whole_action(client):
    both = [finding("a", range(6)), decision(FIRST, "accept", finding="finding:a")]
    action = client.act(*both).json()[0]["action"]
    (undone,) = client.act(undo(action)).json()
    assert (decisions(client), reading(client)["findings"]) == ({}, [])
    client.act(undo(undone["action"]))
    assert decisions(client) == {FIRST: "accept"}
    assert len(reading(client)["findings"]) == 1
    assert len(client.get(f"{EXAM}/entries").json()) == 4


def test_an_action_is_stored_as_a_whole_or_not_at_all(client):
    answer = client.act(note("fine"), decision("event:0:1", "accept"))
    assert answer.status_code == 422
    assert client.get(f"{EXAM}/entries").json() == []


@pytest.mark.parametrize(
    "content",
    [
        decision(f"frame:0:{FRAMES}", "reject"),
        decision("frame:1:0", "reject"),
        decision("frame:0:0", "accept"),  # that is a finding
        decision("event:0:1", "accept"),  # not a best frame
        decision(FIRST, "perhaps"),
        decision(FIRST, "accept", more=1),
        decision(FIRST, "accept", frame=EVENTS_OF_SMALL[1][0]),
        decision(FIRST, "accept", frame=EVENTS_OF_SMALL[0][1] + 1),
        decision(FIRST, "accept") | {"frame": "0"},
        {"kind": "decision", "subject": FIRST, "decision": "accept"},
        landmark("caecum", FRAMES),
        landmark("elbow", 0),
        finding("a", [1, FRAMES]),
        finding("a", [1]) | {"spans": []},
        finding("a", [1]) | {"spans": [{"head": 0, "first": 5, "last": 1}]},
        finding("a", [1]) | {"best": {"head": 0, "frame": 2}},
        finding("a", [1], size="small"),
        finding("a", [10**400]),
        finding("a", [1], missed=True),  # the frame is flagged
        note("x", f"frame:0:{FRAMES}"),
        note(" "),
        {"kind": "unknown"},
        {"kind": "note", "subject": "exam", "text": 5},
        {"kind": "cleanliness", "subject": "segment:left", "grade": 4},
        removed("decision", "polyp"),
        {"kind": "sign", "last": 0},
        {"kind": "sign", "statement": "x"},
        {"kind": "sign", "statement": "x", "last": None},
        {"kind": "sign", "statement": "x", "last": -1},
        {"kind": "sign", "statement": " ", "last": 0},
        {"kind": "sign", "statement": "x", "last": 0, "hash": "mine"},
        {"kind": "sign", "statement": "x", "last": True},
    ],
)
def test_an_invalid_entry_is_rejected_and_not_stored(client, content):
    answer = client.act(content)
    assert answer.status_code == 422
    assert answer.json()["detail"]
    assert client.get(f"{EXAM}/entries").json() == []


@pytest.mark.parametrize("missing", ["reader", "role", "screening", "key", "entries"])
def test_a_request_without_reader_role_or_screening_is_rejected(client, missing):
    body = {"key": "12345678", "entries": [note("x")]} | client.who()
    del body[missing]
    assert client.post(f"{EXAM}/entries", json=body).status_code == 422


@pytest.mark.parametrize("frame", EVENTS_OF_SMALL[0])
def test_a_decision_is_stored_with_the_displayed_frame(client, frame):
    (entry,) = client.act(decision(FIRST, "accept", frame=frame)).json()
    assert entry["content"]["frame"] == frame


def test_findings_are_in_the_order_of_the_exam(client):
    client.act(finding("late", [21]))
    client.act(finding("early", [2]))
    found = [entry["content"]["subject"] for entry in reading(client)["findings"]]
    assert found == ["finding:early", "finding:late"]


def test_a_signed_exam_accepts_no_decision_until_it_is_reopened(client):
    client.act(decision(FIRST, "accept"))
    signature = client.sign()
    assert signature.status_code == 200
    found = reading(client)
    assert found["state"] == "signed"
    assert found["signature"]["content"]["hash"] == signature.json()[0]["content"]["hash"]
    assert client.act(decision(FIRST, "reject")).status_code == 409
    (opened,) = client.act({"kind": "reopen", "reason": "second thoughts"}).json()
    assert opened["revision"] == 2
    assert client.act(decision(FIRST, "reject")).status_code == 200
    assert client.get("/api/exams").json()[0]["revision"] == 2


def test_a_signature_that_does_not_cover_the_last_entry_is_rejected(client):
    (seen,) = client.act(decision(FIRST, "accept")).json()
    client.act(decision(SECOND, "accept"))
    content = {"statement": reading(client)["statement"], "last": seen["number"]}
    assert client.act({"kind": "sign"} | content).status_code == 409


def test_a_signature_has_the_statement_that_the_page_shows(open_app):
    client = open_app(reader="anna").client()
    client.act(decision(FIRST, "accept"))
    assert client.act({"kind": "sign", "statement": "mine", "last": 1}).status_code == 409
    open_app(reader="bert").client().act(decision(SECOND, "accept"))
    statement = reading(client)["statement"]
    assert "anna" in statement
    assert "bert" in statement
    assert client.sign().json()[0]["content"]["statement"] == statement


def test_displayed_frames_are_merged_and_a_repeated_request_changes_nothing(client):
    for _ in range(2):
        assert client.see([0, 3], [3]).json() == {}
    client.see([5])
    stored = client.get(f"{EXAM}/viewed").json()["0"]
    assert stored["frames"] == FRAMES
    for name, frames in (("displayed", [0, 3, 5]), ("viewed", [3])):
        bits = np.frombuffer(base64.b64decode(stored[name]), np.uint8)
        assert np.flatnonzero(np.unpackbits(bits, bitorder="little")).tolist() == frames
    progress = reading(client)["progress"]
    assert (progress["displayed"], progress["viewed"], progress["frames"]) == (3, 1, FRAMES)


@pytest.mark.parametrize(
    "changes",
    [
        {"displayed": [{"head": 0, "first": 0, "last": FRAMES}]},
        {"displayed": [{"head": 1, "first": 0, "last": 1}]},
        {"head": 1},
        {"displayed": [[0, 1]]},
        {"viewed": [{"head": 0, "first": -1, "last": 1}]},
        {"displayed": [{"head": 0, "first": 0.5, "last": 1}]},
    ],
)
def test_invalid_displayed_frames_are_rejected(client, changes):
    body = {"head": 0, "displayed": [SPAN], "viewed": []} | client.who() | changes
    assert client.post(f"{EXAM}/viewed", json=body).status_code == 422


def test_a_validator_signs_what_a_pre_reader_decided(open_app):
    nurse = open_app(reader="anna", workflow="validated").client()
    physician = open_app(reader="bert", role="validator").client()
    nurse.act(decision(FIRST, "accept"))
    nurse.act(decision(SECOND, "reject"))
    assert nurse.sign().status_code == 403
    waiting = [
        each["entry"]["subject"]
        if "subject" in each["entry"]
        else each["entry"]["content"]["subject"]
        for each in reading(physician)["to_validate"]
    ]
    assert waiting == [FIRST, SECOND]
    assert physician.get("/api/exams").json()[0]["to_validate"] == 2
    physician.see([EVENTS_OF_SMALL[0][0]])
    assert physician.get("/api/exams").json()[0]["to_validate"] == 1
    assert physician.sign().status_code == 409
    signed = physician.sign(**{"pre-reader-decisions": "an obvious bubble"})
    content = signed.json()[0]["content"]
    assert content["undisplayed"] == 1
    assert "Pre-read by anna, validated by bert" in content["statement"]


def test_a_pre_reader_changes_nothing_that_the_validator_decided(open_app):
    nurse = open_app(reader="anna", workflow="validated").client()
    physician = open_app(reader="bert", role="validator").client()
    described = finding("e0-0", range(6))
    accept = decision(FIRST, "accept", finding="finding:e0-0")
    nurse.act(described | {"size": "small", "size_on": {"head": 0, "frame": 0}}, accept)
    physician.act(accept)
    answer = nurse.act(removed("finding", "finding:e0-0"), decision(FIRST, "reject"))
    assert answer.status_code == 403
    assert "bert" in answer.json()["detail"]
    found = reading(physician)
    assert decisions(physician) == {FIRST: "accept"}
    assert len(found["findings"]) == 1


def test_blind_decisions_are_visible_to_others_after_all_have_signed(open_app):
    anna = open_app(reader="anna", workflow="blind").client()
    bert = open_app(reader="bert").client()
    anna.act(decision(FIRST, "accept"))
    anna.act(decision(SECOND, "accept"))
    anna.sign()
    assert bert.get(f"{EXAM}/entries").json() == []
    assert reading(bert)["decisions"] == {}
    assert bert.get("/api/exams").json()[0]["decided_events"] == 0
    assert bert.get(f"{EXAM}/reading?reader=anna").status_code == 409
    assert bert.get(f"{EXAM}/agreement").status_code == 409
    assert FIRST not in bert.get(f"{EXAM}/export/decisions.csv").text
    assert bert.get(f"{EXAM}/export/labels.csv").text.count("\n") == 1
    bert.act(decision(FIRST, "accept"))
    bert.act(decision(SECOND, "reject"))
    bert.sign()
    other = bert.get(f"{EXAM}/reading?reader=anna").json()
    assert other["decisions"][FIRST]["reader"] == "anna"
    agreement = bert.get(f"{EXAM}/agreement").json()
    assert [each["subject"] for each in agreement["differences"]] == [SECOND]
    labels = bert.get(f"{EXAM}/export/labels.csv").text.splitlines()[1:]
    first, last = EVENTS_OF_SMALL[0]
    assert len(labels) == last + 1 - first
    assert all(",polyp," in line for line in labels)


def test_decisions_and_labels_are_exported_as_csv(client):
    client.act(decision(FIRST, "accept"))
    exported = client.get(f"{EXAM}/export/decisions.csv")
    assert exported.headers["content-type"].startswith("text/csv")
    assert "attachment" in exported.headers["content-disposition"]
    assert FIRST in exported.text
    labels = client.get(f"{EXAM}/export/labels.csv").text.splitlines()
    first, last = EVENTS_OF_SMALL[0]
    assert len(labels) == 1 + last + 1 - first


def test_the_report_is_exported_as_html(client):
    client.act(decision(FIRST, "accept"))
    answer = client.get(f"{EXAM}/export/report.html")
    assert "attachment" in answer.headers["content-disposition"]
    assert "small" in answer.text
    assert "DRAFT" in answer.text.upper()


def test_the_report_is_exported_as_pdf(client):
    try:
        import weasyprint  # noqa: F401
    except (ImportError, OSError) as error:  # it loads Pango
        pytest.skip(str(error))
    answer = client.get(f"{EXAM}/export/report.pdf")
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.content.startswith(b"%PDF-")


def test_a_report_does_not_contain_blind_decisions_of_others(open_app):
    anna = open_app(reader="anna", workflow="blind").client()
    anna.act(note("a secret of anna's"))
    anna.act(decision(FIRST, "accept"))
    anna.sign()
    bert = open_app(reader="bert").client()
    answer = bert.get(f"{EXAM}/export/report.html")
    assert answer.status_code == 409
    assert "anna" not in answer.text
    bert.act(decision(FIRST, "reject"))
    assert "anna" not in bert.get(f"{EXAM}/export/report.html").text
    bert.sign()
    assert "anna" in bert.get(f"{EXAM}/export/report.html").text


def test_the_workflow_cannot_be_changed_after_the_first_decision(open_app):
    open_app(workflow="blind").client().act(decision(FIRST, "accept"))
    with pytest.raises(capsieve.CapsieveError):
        open_app(workflow="single")
    assert open_app().workflow == "blind"


def test_an_unreadable_entry_is_reported_and_the_others_are_used(client, tmp_path):
    client.act(decision(FIRST, "accept"))
    client.act(decision(SECOND, "reject"))
    tamper(
        tmp_path / "decisions.sqlite",
        "UPDATE capsieve_entries SET kind = 'hologram', role = 'robot' WHERE number = 1",
    )
    found = reading(client)
    assert list(found["decisions"]) == [SECOND]
    assert "entry 1 " in found["problems"][0]
    first, second = client.get(f"{EXAM}/entries").json()
    assert (first["kind"], first["role"], first["content"]) == ("hologram", "robot", None)
    assert first["problem"]
    assert FIRST in first["stored"]
    assert not second["problem"]


def test_the_exam_list_reports_unreadable_entries(client, tmp_path):
    client.act(decision(FIRST, "accept"))
    tamper(
        tmp_path / "decisions.sqlite",
        "UPDATE capsieve_entries SET content = 'polyp!' WHERE number = 1",
    )
    (row,) = client.get("/api/exams").json()
    assert "entry 1 " in row["problems"][-1]
    assert row["readable"]
