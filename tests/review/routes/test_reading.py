"""Decisions, signatures and exports over HTTP."""

import base64
import itertools

import numpy as np
import pytest

import capsieve
from support.readings import tamper
from support.small_exam import EVENTS_OF_SMALL, FRAMES

EXAM = "/api/exams/small"
FIRST, SECOND = ("event:0:{}-{}".format(*event) for event in EVENTS_OF_SMALL)
_KEYS = itertools.count(10_000_000)


def act(client, kind, subject, content, **more):
    body = {"key": f"{next(_KEYS)}", "kind": kind, "subject": subject, "content": content}
    return client.post(f"{EXAM}/entries", json=body | more)


def verdict(client, subject, word):
    return act(client, "verdict", subject, {"verdict": word})


def sign(client):
    last = client.get(f"{EXAM}/reading").json()["last"]
    return act(client, "sign", "exam", {"statement": "I have read it.", "last": last})


def test_an_entry_has_its_number_reader_and_time(client):
    entry = verdict(client, FIRST, "accept").json()
    assert (entry["number"], entry["reader"], entry["role"]) == (1, "anna", "reader")
    assert entry["time"].endswith("Z")
    reading = client.get(f"{EXAM}/reading").json()
    assert reading["verdicts"][FIRST]["verdict"] == "accept"
    assert (reading["state"], reading["undoable"]) == ("in reading", 1)
    assert client.get(f"{EXAM}/entries").json() == [entry]
    assert client.get(f"{EXAM}/entries?after=1").json() == []


def test_a_repeated_key_stores_one_entry(client):
    body = {
        "key": "12345678",
        "kind": "verdict",
        "subject": FIRST,
        "content": {"verdict": "unsure"},
    }
    first, second = (client.post(f"{EXAM}/entries", json=body) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()
    other = client.post(f"{EXAM}/entries", json=body | {"subject": SECOND})
    assert other.status_code == 409


def test_undo_and_redo_are_entries(client):
    number = verdict(client, FIRST, "accept").json()["number"]
    undo = act(client, "undo", "", {}, undoes=number).json()["number"]
    assert client.get(f"{EXAM}/reading").json()["verdicts"] == {}
    act(client, "undo", "", {}, undoes=undo)
    assert FIRST in client.get(f"{EXAM}/reading").json()["verdicts"]
    assert len(client.get(f"{EXAM}/entries").json()) == 3


@pytest.mark.parametrize(
    ("kind", "subject", "content"),
    [
        ("verdict", "event:0:5-1", {"verdict": "accept"}),
        ("verdict", f"frame:0:{FRAMES}", {"verdict": "accept"}),
        ("verdict", "frame:1:0", {"verdict": "accept"}),
        ("verdict", "event:0:1-5", {"verdict": "accept"}),
        ("verdict", FIRST, {"verdict": "perhaps"}),
        ("verdict", FIRST, {"verdict": "accept", "more": 1}),
        ("verdict", FIRST, {"verdict": "accept", "frame": EVENTS_OF_SMALL[1][0]}),
        ("verdict", FIRST, {"verdict": "accept", "frame": EVENTS_OF_SMALL[0][1] + 1}),
        ("verdict", FIRST, {"verdict": "accept", "frame": "0"}),
        ("landmark", "landmark:caecum", {"head": 0, "frame": FRAMES}),
        ("finding", "finding:a", {"head": 0, "frames": [1, FRAMES], "best_frame": 1}),
        ("finding", "finding:a", {"head": 0, "frames": 5, "best_frame": 1}),
        ("unknown", "exam", {}),
        ("note", "exam", {"text": 5}),
        ("sign", "exam", {"last": 0}),
        ("sign", "exam", {"statement": "x"}),
        ("sign", "exam", {"statement": "x", "last": None}),
        ("sign", "exam", {"statement": "x", "last": -1}),
        ("sign", "exam", {"statement": "x", "last": 0, "hash": "mine"}),
        ("sign", "exam", {"statement": "x", "last": True}),
    ],
)
def test_an_invalid_entry_is_rejected_and_not_stored(client, kind, subject, content):
    answer = act(client, kind, subject, content)
    assert answer.status_code == 422
    assert answer.json()["detail"]
    assert client.get(f"{EXAM}/entries").json() == []


@pytest.mark.parametrize("frame", EVENTS_OF_SMALL[0])
def test_a_verdict_is_stored_with_the_displayed_frame(client, frame):
    entry = act(client, "verdict", FIRST, {"verdict": "accept", "frame": frame}).json()
    assert entry["content"]["frame"] == frame


def test_a_signed_exam_accepts_no_decision_until_it_is_reopened(client):
    verdict(client, FIRST, "accept")
    signature = sign(client)
    assert signature.status_code == 200
    reading = client.get(f"{EXAM}/reading").json()
    assert reading["state"] == "signed"
    assert reading["signature"]["hash"] == signature.json()["content"]["hash"]
    assert verdict(client, FIRST, "reject").status_code == 409
    assert act(client, "reopen", "exam", {"reason": "second thoughts"}).json()["version"] == 2
    assert verdict(client, FIRST, "reject").status_code == 200
    assert client.get("/api/exams").json()[0]["version"] == 2


def test_a_signature_that_does_not_cover_the_last_entry_is_rejected(client):
    seen = verdict(client, FIRST, "accept").json()["number"]
    verdict(client, SECOND, "accept")
    answer = act(client, "sign", "exam", {"statement": "read", "last": seen})
    assert answer.status_code == 409


def test_display_times_add_up_and_a_repeated_batch_counts_once(client):
    batch = {"key": "batch-01", "head": 0, "frames": [[0, 100], [3, 33.5]]}
    for _ in range(2):
        assert client.post(f"{EXAM}/seen", json=batch).json() == {}
    client.post(f"{EXAM}/seen", json={"key": "batch-02", "head": 0, "frames": [[3, 10]]})
    seen = client.get(f"{EXAM}/seen").json()["0"]["milliseconds"]
    expected = np.zeros(FRAMES, "<f4")
    expected[[0, 3]] = 100, 43.5
    assert np.array_equal(np.frombuffer(base64.b64decode(seen), "<f4"), expected)
    assert client.get(f"{EXAM}/reading").json()["seen"] == {"frames": 2, "of": FRAMES}


@pytest.mark.parametrize("frames", [[[FRAMES, 1]], [[0]], [[0, -1]], [["0", 1]], [], [[0.5, 1]]])
def test_an_invalid_batch_of_seen_frames_is_rejected(client, frames):
    body = {"key": "batch-01", "head": 0, "frames": frames}
    assert client.post(f"{EXAM}/seen", json=body).status_code == 422


def test_only_a_validator_confirms_and_signs_the_decisions_of_a_pre_reader(open_app):
    first = open_app(reader="anna", workflow="validated").client()
    second = open_app(reader="bert", role="validator").client()
    verdict(first, FIRST, "accept")
    assert sign(first).status_code == 403
    assert act(first, "confirm", FIRST, {"agrees": True}).status_code == 403
    assert act(second, "confirm", FIRST, {"agrees": True}).status_code == 200
    assert second.get(f"{EXAM}/reading").json()["verdicts"][FIRST]["confirmed"] is True
    assert sign(second).status_code == 200


def test_blind_decisions_are_visible_to_others_after_all_have_signed(open_app):
    anna = open_app(reader="anna", workflow="blind").client()
    bert = open_app(reader="bert").client()
    verdict(anna, FIRST, "accept")
    verdict(anna, SECOND, "accept")
    sign(anna)
    assert bert.get(f"{EXAM}/entries").json() == []
    assert bert.get(f"{EXAM}/reading").json()["verdicts"] == {}
    assert bert.get("/api/exams").json()[0]["decided_events"] == 0
    assert bert.get(f"{EXAM}/reading?reader=anna").status_code == 409
    assert bert.get(f"{EXAM}/agreement").status_code == 409
    assert FIRST not in bert.get(f"{EXAM}/export/decisions.csv").text
    assert bert.get(f"{EXAM}/export/labels.csv").text.count("\n") == 1
    verdict(bert, FIRST, "accept")
    verdict(bert, SECOND, "reject")
    sign(bert)
    assert bert.get(f"{EXAM}/reading?reader=anna").json()["verdicts"][FIRST]["reader"] == "anna"
    agreement = bert.get(f"{EXAM}/agreement").json()
    assert [each["subject"] for each in agreement["differences"]] == [SECOND]
    labels = bert.get(f"{EXAM}/export/labels.csv").text.splitlines()[1:]
    first, last = EVENTS_OF_SMALL[0]
    assert len(labels) == last + 1 - first
    assert all(",polyp," in line for line in labels)


def test_decisions_and_labels_are_exported_as_csv(client):
    verdict(client, FIRST, "accept")
    decisions = client.get(f"{EXAM}/export/decisions.csv")
    assert decisions.headers["content-type"].startswith("text/csv")
    assert "attachment" in decisions.headers["content-disposition"]
    assert FIRST in decisions.text
    labels = client.get(f"{EXAM}/export/labels.csv").text.splitlines()
    first, last = EVENTS_OF_SMALL[0]
    assert len(labels) == 1 + last + 1 - first


def test_the_report_is_exported_as_html(client):
    verdict(client, FIRST, "accept")
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
    act(anna, "note", "exam", {"text": "a secret of anna's"})
    verdict(anna, FIRST, "accept")
    sign(anna)
    bert = open_app(reader="bert").client()
    answer = bert.get(f"{EXAM}/export/report.html")
    assert answer.status_code == 409
    assert "anna" not in answer.text
    verdict(bert, FIRST, "reject")
    assert "anna" not in bert.get(f"{EXAM}/export/report.html").text
    sign(bert)
    assert "anna" in bert.get(f"{EXAM}/export/report.html").text


def test_the_workflow_cannot_be_changed_after_the_first_decision(open_app):
    verdict(open_app(workflow="blind").client(), FIRST, "accept")
    with pytest.raises(capsieve.CapsieveError):
        open_app(workflow="single")
    assert open_app().workflow == "blind"


def test_an_unreadable_entry_is_reported_and_the_others_are_used(client, tmp_path):
    verdict(client, FIRST, "accept")
    verdict(client, SECOND, "reject")
    tamper(
        tmp_path / "decisions.sqlite",
        "UPDATE capsieve_entries SET kind = 'hologram', role = 'robot' WHERE number = 1",
    )
    reading = client.get(f"{EXAM}/reading").json()
    assert list(reading["verdicts"]) == [SECOND]
    assert "entry 1 " in reading["problems"][0]
    first, second = client.get(f"{EXAM}/entries").json()
    assert (first["kind"], first["role"]) == ("hologram", "robot")
    assert first["problem"]
    assert not second["problem"]


def test_the_exam_list_reports_unreadable_entries(client, tmp_path):
    verdict(client, FIRST, "accept")
    tamper(
        tmp_path / "decisions.sqlite",
        "UPDATE capsieve_entries SET content = 'polyp!' WHERE number = 1",
    )
    (row,) = client.get("/api/exams").json()
    assert "entry 1 " in row["problems"][-1]
    assert row["readable"]
