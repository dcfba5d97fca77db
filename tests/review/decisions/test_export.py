import csv
import io
from pathlib import Path
from typing import Any

import pytest

from capsieve.errors import ParameterError
from capsieve.labels import read_labels
from capsieve.review.decisions.export import decisions_csv, findings_csv
from capsieve.review.decisions.export_labels import (
    Labels,
    agreed_labels,
    labels_csv,
    reading_labels,
)
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.subjects import FlaggedEvent
from review.decisions.made_entries import EXAM, FINDING, made, undo, verdict

EVENTS = [FlaggedEvent(0, (1, 2, 5)), FlaggedEvent(0, (7, 9)), FlaggedEvent(1, (1, 2))]
SIGNED = made(99, "sign", "exam", {"hash": "0", "statement": "read", "seen_frames": 1, "frames": 2})


def accept(number: int, subject: str, finding: str | None = None) -> Any:
    return made(number, "verdict", subject, {"verdict": "accept", "finding": finding})


def labels(*log: Any, **others: Any) -> Labels:
    return reading_labels(fold(log), exam=EXAM, events=EVENTS, **others)


def words(found: Labels) -> dict[tuple[int, int], str]:
    return {place: label.label for place, label in found.frames.items()}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_every_entry_is_told_and_whether_it_stands() -> None:
    told = rows(decisions_csv([verdict(1, "event:0:1-5", "accept"), undo(2, 1)]))
    assert [(row["number"], row["kind"], row["stands"], row["undoes"]) for row in told] == [
        ("1", "verdict", "no", ""),
        ("2", "undo", "yes", "1"),
    ]
    assert '"verdict":"accept"' in told[0]["content"]


def test_findings_are_told_and_never_run_as_formulas() -> None:
    note = '=HYPERLINK("http://x")'
    place = {"row": 3.5, "col": 4}
    reading = fold([made(1, "finding", "finding:f1", FINDING | {"note": note, "place": place})])
    [row] = rows(findings_csv([reading]))
    assert row["note"] == f"'{note}"
    assert (row["finding"], row["frames"], row["row"], row["urgent"]) == ("f1", "2", "3.5", "no")


def test_accepted_events_are_polyps_and_rejected_ones_normal() -> None:
    found = labels(accept(1, "event:0:1-5"), verdict(2, "event:0:7-9", "reject"))
    assert words(found) == {
        (0, 1): "polyp",
        (0, 2): "polyp",
        (0, 5): "polyp",
        (0, 7): "normal",
        (0, 9): "normal",
    }


def test_unsure_and_undecided_have_no_label() -> None:
    assert words(labels(verdict(1, "event:0:1-5", "unsure"))) == {}


def test_a_frame_s_own_verdict_beats_its_event_s() -> None:
    found = labels(
        made(1, "finding", "finding:f1", FINDING),
        accept(2, "event:0:1-5", "f1"),
        verdict(3, "frame:0:2", "reject"),
        verdict(4, "frame:0:5", "unsure"),
        verdict(5, "frame:0:1", "accept"),
    )
    assert words(found) == {(0, 1): "polyp", (0, 2): "normal", (0, 11): "polyp", (0, 12): "polyp"}
    assert found.frames[0, 1].polyps == ("f1",)


def test_a_finding_labels_its_frames_in_its_own_head_only() -> None:
    found = labels(
        made(1, "finding", "finding:f1", FINDING | {"frames": [1, 2], "best_frame": 2}),
        verdict(2, "event:1:1-2", "reject"),
    )
    assert words(found) == {(0, 1): "polyp", (0, 2): "polyp", (1, 1): "normal", (1, 2): "normal"}


def test_a_finding_that_its_frame_contradicts_gives_no_label_there() -> None:
    found = labels(made(1, "finding", "finding:f1", FINDING), verdict(2, "frame:0:11", "reject"))
    assert words(found) == {(0, 12): "polyp"}
    assert len(found.problems) == 1


def test_what_the_validator_refused_gives_no_label() -> None:
    refused = {"agrees": False, "text": "", "of": 1}
    confirm = made(2, "confirm", "event:0:1-5", refused, reader="vera", role="validator")
    assert words(labels(accept(1, "event:0:1-5"), confirm)) == {}


def test_events_of_another_screening_are_told() -> None:
    found = labels(accept(1, "event:0:1-6"))
    assert words(found) == {}
    assert "event:0:1-6 is no event of this screening" in found.problems[0]


def test_frames_that_were_seen_long_enough_are_normal_in_a_signed_exam() -> None:
    log = (
        made(1, "finding", "finding:f1", FINDING | {"frames": [20, 24], "best_frame": 20}),
        accept(2, "event:0:1-5"),
        verdict(3, "event:0:7-9", "reject"),
        verdict(4, "frame:0:40", "unsure"),
    )
    seen = {
        # 3: between frames of an accepted event; 8: of a rejected one; 22: of a finding.
        0: {0: 100.0, 3: 100.0, 8: 100.0, 10: 99.0, 22: 100.0, 25: 100.0, 40: 500.0},
        1: {1: 100.0, 3: 100.0, 22: 100.0},
    }
    plain = words(labels(*log))
    found = words(labels(*log, SIGNED, seen=seen, least_ms=100))
    assert {place for place in found if place not in plain} == {
        (0, 0),
        (0, 8),
        (0, 25),
        (1, 3),  # not (1, 1): its event is undecided
        (1, 22),
    }
    assert {found[place] for place in found if place not in plain} == {"normal"}
    unsigned = labels(*log, seen=seen, least_ms=100)
    assert words(unsigned) == plain
    assert "not signed" in unsigned.problems[0]


@pytest.mark.parametrize("least_ms", [0, -1, float("nan")])
def test_seen_needs_a_time(least_ms: float) -> None:
    with pytest.raises(ParameterError, match="least_ms"):
        labels(SIGNED, seen={}, least_ms=least_ms)


def test_two_blind_readings_give_the_labels_on_which_they_agree() -> None:
    a = labels(accept(1, "event:0:1-5"), verdict(2, "event:0:7-9", "reject"))
    b = labels(accept(1, "event:0:1-5"), accept(2, "event:0:7-9"))
    assert words(agreed_labels(a, b)) == {(0, 1): "polyp", (0, 2): "polyp", (0, 5): "polyp"}


def test_capsieve_reads_the_labels_back(tmp_path: Path) -> None:
    found = labels(
        made(1, "finding", "finding:f1", FINDING),
        accept(2, "event:0:1-5", "f1"),
        accept(3, "event:1:1-2"),
        verdict(4, "event:0:7-9", "reject"),
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
