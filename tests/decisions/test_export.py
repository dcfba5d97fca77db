"""Decisions and labels as files."""

import csv
import io
from pathlib import Path
from typing import Any

from capsieve.decisions.export import (
    Labels,
    agreed_labels,
    decisions_csv,
    labels_csv,
    reading_labels,
)
from capsieve.decisions.model import Finding, Note, Span, Spot
from capsieve.decisions.reading import fold
from capsieve.labels import read_labels
from decisions.hands import EVENT, EVENTS, EXAM, OTHER, THIRD, decision, made, undo
from support.readings import polyp


def accept(subject: str, finding: str | None = None) -> Any:
    return decision(subject, "accept", finding=finding)


def labels(*contents: Any) -> Labels:
    log = [made(number, content) for number, content in enumerate(contents, start=1)]
    return reading_labels(fold(log), exam=EXAM, events=EVENTS)


def words(found: Labels) -> dict[tuple[int, int], str]:
    return {place: label.label for place, label in found.frames.items()}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_entry_is_exported_and_whether_it_stands() -> None:
    log = [made(1, decision(EVENT, "accept")), undo(2, 1)]
    exported = rows(decisions_csv(log))
    assert [(row["number"], row["kind"], row["subject"], row["stands"]) for row in exported] == [
        ("1", "decision", EVENT, "no"),
        ("2", "undo", "", "yes"),
    ]
    assert '"decision":"accept"' in exported[0]["content"]
    assert exported[0]["screening"] == "screening-1"


def test_nothing_runs_as_a_formula() -> None:
    log = [made(1, Note(subject="exam", text="x"), reader='=HYPERLINK("http://x")')]
    assert rows(decisions_csv(log))[0]["reader"] == '\'=HYPERLINK("http://x")'


def test_accepted_events_are_polyps_and_rejected_ones_normal() -> None:
    found = labels(accept(EVENT), decision(OTHER, "reject"))
    polyps = dict.fromkeys([(0, 1), (0, 2), (0, 5)], "polyp")
    assert words(found) == polyps | dict.fromkeys([(0, 7), (0, 9)], "normal")


def test_unsure_and_undecided_have_no_label() -> None:
    assert words(labels(decision(EVENT, "unsure"))) == {}


def test_a_frame_s_own_decision_beats_that_of_its_event() -> None:
    found = labels(
        polyp("f1", 11, 12),
        accept(EVENT, "finding:f1"),
        decision("frame:0:2", "reject"),
        decision("frame:0:5", "unsure"),
    )
    assert words(found) == {(0, 1): "polyp", (0, 2): "normal", (0, 11): "polyp", (0, 12): "polyp"}
    assert found.frames[0, 1].polyps == ("f1",)


def test_a_finding_labels_its_frames_in_its_own_head_only() -> None:
    found = labels(polyp("f1", 1, 2), decision(THIRD, "reject"))
    assert words(found) == {(0, 1): "polyp", (0, 2): "polyp", (1, 1): "normal", (1, 2): "normal"}


def test_a_finding_of_both_heads_is_one_polyp() -> None:
    spans = (Span(head=0, first=1, last=1), Span(head=1, first=4, last=5))
    both = Finding(subject="finding:f1", spans=spans, best=Spot(head=1, frame=4))
    found = labels(both)
    assert words(found) == {(0, 1): "polyp", (1, 4): "polyp", (1, 5): "polyp"}
    assert {label.polyps for label in found.frames.values()} == {("f1",)}


def test_a_finding_that_its_frame_contradicts_gives_no_label_there() -> None:
    found = labels(polyp("f1", 11, 12), decision("frame:0:11", "reject"))
    assert words(found) == {(0, 12): "polyp"}
    assert len(found.problems) == 1


def test_decisions_on_unknown_events_are_a_problem() -> None:
    found = labels(accept("event:0:6"))
    assert words(found) == {}
    assert "event:0:6" in found.problems[0]


def test_two_blind_readings_give_the_labels_on_which_they_agree() -> None:
    a = labels(accept(EVENT), decision(OTHER, "reject"))
    b = labels(accept(EVENT), accept(OTHER))
    assert words(agreed_labels(a, b)) == {(0, 1): "polyp", (0, 2): "polyp", (0, 5): "polyp"}


def test_capsieve_reads_the_labels_back(tmp_path: Path) -> None:
    found = labels(
        polyp("f1", 11, 12),
        accept(EVENT, "finding:f1"),
        accept(THIRD),
        decision(OTHER, "reject"),
    )
    path = tmp_path / "labels.csv"
    path.write_text(labels_csv([found]), encoding="utf-8")
    read = read_labels(path)
    assert read.problems == ()
    assert read.warnings == ()
    columns = zip(
        *(read.table[name].to_pylist() for name in ("head", "frame", "label")), strict=True
    )
    assert {(head, frame): label for head, frame, label in columns} == words(found)
    assert set(read.table["exam"].to_pylist()) == {EXAM}
    polyps = dict(
        zip(read.table["frame"].to_pylist(), read.table["polyp"].to_pylist(), strict=True)
    )
    assert polyps[11] is not None
    assert polyps[5] == polyps[11]
    assert polyps[7] is None
