"""The pure fold of a log."""

import itertools
import json
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.decisions.exam import Event
from capsieve.decisions.model import (
    Cleanliness,
    Decision,
    Entry,
    Finding,
    Landmark,
    Note,
    Removed,
    Reopen,
    Signature,
    Undo,
    Urgent,
    said,
)
from capsieve.decisions.reading import (
    Reading,
    displaced,
    elsewhere_words,
    fold,
    judge_cleanliness,
    undone_actions,
)
from decisions.hands import EVENT, EVENTS, OTHER, decision, made, undo
from support.readings import polyp

SUBJECTS = [EVENT, OTHER]
WORDS = ["accept", "reject", "unsure", None]


def said_of(subject: str, word: str | None) -> Any:
    return Removed(of="decision", subject=subject) if word is None else decision(subject, word)


def signature(number: int) -> Entry:
    content = Signature(
        statement="read",
        last=0,
        undisplayed=0,
        displayed_frames=0,
        viewed_frames=0,
        frames=0,
        viewed=(),
        entries=0,
        parts={"identity": "0" * 64, "entries": "0" * 64},  # pyright: ignore
        hash="0" * 64,
    )
    return made(number, content)


@st.composite
def logs(draw: st.DrawFn) -> list[Entry]:
    """Actions of one or two decisions, and undos of anything before, of two readers."""
    log: list[Entry] = []
    actions: list[int] = []
    for _ in range(draw(st.integers(0, 20))):
        reader = draw(st.sampled_from(["anna", "ben"]))
        number = len(log) + 1
        if actions and draw(st.booleans()):
            log.append(undo(number, draw(st.sampled_from(actions)), reader=reader))
        else:
            for place in range(draw(st.integers(1, 2))):
                content = said_of(draw(st.sampled_from(SUBJECTS)), draw(st.sampled_from(WORDS)))
                log.append(made(number + place, content, action=number, reader=reader))
        actions.append(number)
    return log


def words(reading: Reading) -> dict[str, str]:
    return {subject: said(each, Decision).decision for subject, each in reading.decisions.items()}


@given(logs())
def test_an_action_stands_unless_an_undo_of_it_stands(log: list[Entry]) -> None:
    def stands(action: int) -> bool:
        return not any(
            stands(each.action)
            for each in log
            if isinstance(each.content, Undo) and each.content.action == action
        )

    undone = undone_actions(log)
    assert {each.action not in undone for each in log if stands(each.action)} <= {True}
    assert {each.action in undone for each in log if not stands(each.action)} <= {True}


@given(logs(), st.randoms(use_true_random=False))
def test_order_and_repetition_of_delivery_change_nothing(log: list[Entry], random: Any) -> None:
    delivered = log + [entry for entry in log if random.random() < 0.5]
    random.shuffle(delivered)
    assert fold(delivered, reader="anna") == fold(log, reader="anna")


@given(logs())
def test_undoing_the_last_action_is_as_if_it_had_never_been(log: list[Entry]) -> None:
    if not log:
        return
    last, number = log[-1].action, log[-1].number
    undone = fold([*log, undo(number + 1, last)])
    assert words(undone) == words(fold(each for each in log if each.action != last))
    again = fold([*log, undo(number + 1, last), undo(number + 2, number + 1)])
    assert words(again) == words(fold(log))


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["anna", "ben"]),
            st.sampled_from(["say", "say", "undo", "redo"]),
            st.lists(st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(WORDS)), min_size=1,
                     max_size=2),
        ),
        max_size=30,
    )
)  # fmt: skip
def test_undoable_and_redoable_work_as_in_an_editor(steps: list[Any]) -> None:
    # The editor: what was done is on or off, and each reader has two stacks.
    log: list[Entry] = []
    done: list[list[Any]] = []
    undo_stack, redo_stack = defaultdict[str, Any](list), defaultdict[str, Any](list)
    for reader, step, pairs in steps:
        number = len(log) + 1
        reading = fold(log, reader=reader)
        if step == "say":
            log += [
                made(number + place, said_of(*pair), action=number, reader=reader)
                for place, pair in enumerate(pairs)
            ]
            done.append([True, pairs])
            undo_stack[reader].append(done[-1])
            redo_stack[reader].clear()
        elif step == "undo":
            assert (reading.undoable is None) == (not undo_stack[reader])
            if reading.undoable is not None:
                log.append(undo(number, reading.undoable, reader=reader))
                redo_stack[reader].append(undo_stack[reader].pop())
                redo_stack[reader][-1][0] = False
        else:
            assert (reading.redoable is None) == (not redo_stack[reader])
            if reading.redoable is not None:
                log.append(undo(number, reading.redoable, reader=reader))
                undo_stack[reader].append(redo_stack[reader].pop())
                undo_stack[reader][-1][0] = True
        expected: dict[str, Any] = {}
        for on, pairs_done in done:
            expected |= dict(pairs_done) if on else {}
        assert words(fold(log)) == {k: v for k, v in expected.items() if v is not None}


def test_an_undo_takes_the_finding_of_an_accepted_event_along() -> None:
    log = [
        made(1, polyp("a", 2)),
        made(2, decision(EVENT, "accept", finding="finding:a"), action=1),
    ]
    assert fold(log, reader="anna").undoable == 1
    undone = fold([*log, undo(3, 1)], reader="anna")
    assert (undone.decisions, undone.findings, undone.redoable) == ({}, (), 3)


def test_no_entries_are_an_unread_exam() -> None:
    assert (fold([]).state, fold([]).revision) == ("unread", 1)


def test_a_finding_is_replaced_removed_and_brought_back() -> None:
    log = [
        made(1, polyp("b", 11)),
        made(2, polyp("a", 11)),
        made(3, polyp("b", 11, note="flat")),
    ]
    reading = fold(log)
    assert [each.subject for each in reading.findings] == ["finding:b", "finding:a"]
    assert said(reading.findings[0], Finding).note == "flat"
    log.append(made(4, Removed(of="finding", subject="finding:b")))
    assert [each.subject for each in fold(log).findings] == ["finding:a"]
    log.append(undo(5, 4))
    assert [each.subject for each in fold(log).findings] == ["finding:b", "finding:a"]


def test_an_urgent_finding_makes_the_exam_urgent() -> None:
    log = [made(1, polyp("a", 11, urgent=True))]
    assert fold(log).urgent
    log.append(made(2, Removed(of="finding", subject="finding:a")))
    assert not fold(log).urgent
    log.append(made(3, Urgent(text="call the ward")))
    assert (fold(log).urgent, fold(log).urgent_text) == (True, "call the ward")
    log.append(made(4, Removed(of="urgent", subject="exam")))
    assert not fold(log).urgent


def test_landmarks_cleanliness_and_notes() -> None:
    log = [
        made(1, Landmark(subject="landmark:rectum", head=1, frame=90)),
        made(2, Landmark(subject="landmark:caecum", head=0, frame=5)),
        made(3, Landmark(subject="landmark:splenic-flexure", head=0, frame=50)),
        made(4, Removed(of="landmark", subject="landmark:splenic-flexure")),
        *(
            made(5 + k, Cleanliness(subject=f"segment:{name}", grade=2))
            for k, name in enumerate(("right", "transverse", "left"))
        ),
        made(8, Note(subject="exam", text="one")),
        made(9, Note(subject="exam", text="two")),
        undo(10, 8),
    ]
    reading = fold(log)
    assert list(reading.landmarks) == ["caecum", "rectum"]
    assert said(reading.landmarks["rectum"], Landmark).frame == 90
    assert reading.cleanliness.words == "good"
    assert [said(each, Note).text for each in reading.notes] == ["two"]
    log.append(made(11, Removed(of="cleanliness", subject="segment:left")))
    assert fold(log).cleanliness.sum is None


@pytest.mark.parametrize("grades", list(itertools.product(range(4), repeat=3)))
def test_every_sum_of_grades_has_its_published_class(grades: tuple[int, ...]) -> None:
    judged = judge_cleanliness(dict(zip(("right", "transverse", "left"), grades, strict=True)))
    inadequate = sum(grades) <= 5 or min(grades) <= 1
    expected = "inadequate" if inadequate else "excellent" if sum(grades) >= 8 else "good"
    assert (judged.sum, judged.words) == (sum(grades), expected)


@pytest.mark.parametrize("missing", ["right", "transverse", "left"])
def test_a_missing_segment_gives_no_class(missing: str) -> None:
    grades: dict[str, int | None] = {"right": 0, "transverse": 0, "left": 0}
    for none in ({**grades, missing: None}, {k: v for k, v in grades.items() if k != missing}):
        judged = judge_cleanliness(none)
        assert (judged.sum, judged.words) == (None, None)


def test_a_revision_is_as_it_was_signed() -> None:
    log = [
        made(1, decision(EVENT, "accept")),
        signature(2),
        made(3, Reopen(reason="again"), revision=2),
        made(4, decision(EVENT, "reject"), revision=2),
    ]
    signed = fold(log[:2], reader="anna")
    assert (signed.state, signed.undoable, signed.redoable) == ("signed", None, None)
    now = fold(log, reader="anna")
    assert (now.revision, now.state, now.signature) == (2, "in reading", None)
    assert now.signatures == (signed.signature,)
    assert words(now) == {EVENT: "reject"}
    assert fold(log, reader="anna", revision=1) == signed


def test_undo_offers_nothing_from_before_the_signature_but_decisions_of_another_screening() -> None:
    log = [
        made(1, decision(EVENT, "accept")),
        signature(2),
        made(3, Reopen(reason="again"), revision=2),
    ]
    assert fold(log, reader="anna", screening="screening-1").undoable is None
    assert fold(log, reader="anna", screening="screening-2").undoable == 1


@pytest.mark.parametrize(
    ("content", "removal"),
    [
        (decision(EVENT, "accept"), Removed(of="decision", subject=EVENT)),
        (polyp("f1", 3), Removed(of="finding", subject="finding:f1")),
        (
            Landmark(subject="landmark:caecum", head=0, frame=3),
            Removed(of="landmark", subject="landmark:caecum"),
        ),
        (
            Cleanliness(subject="segment:left", grade=2),
            Removed(of="cleanliness", subject="segment:left"),
        ),
        (Urgent(), Removed(of="urgent", subject="exam")),
        (Note(subject="exam", text="x"), Undo(action=1)),
    ],
)
def test_what_was_decided_on_another_screening_is_found_until_it_is_taken_back(
    content: Any, removal: Any
) -> None:
    log = [made(1, content)]
    for screening, count in (("", 0), ("screening-1", 0), ("screening-2", 1)):
        assert len(fold(log, screening=screening).elsewhere) == count
    (problem,) = elsewhere_words(fold(log, screening="screening-2"))
    assert "another screening" in problem
    assert "anna" in problem
    log.append(made(2, removal, screening="screening-2"))
    assert fold(log, screening="screening-2").elsewhere == ()


def test_a_decision_whose_best_frame_is_inside_another_event_is_found() -> None:
    reading = fold([made(1, decision(EVENT, "accept")), made(2, decision(OTHER, "reject"))])
    joined = [Event(0, 7, (1, 2, 5, 6, 7, 9))]
    assert displaced(reading, EVENTS) == []
    assert [each.subject for each in displaced(reading, joined)] == [EVENT]
    (problem,) = elsewhere_words(reading, joined)
    assert "best frame 2 " in problem
    assert "best frame 7" in problem


def test_a_reading_is_json() -> None:
    log = [
        made(1, decision(EVENT, "accept")),
        made(2, polyp("a", 11, 12)),
        made(3, Landmark(subject="landmark:rectum", head=1, frame=90)),
    ]
    told = json.loads(fold(log, reader="anna").model_dump_json())
    assert told["decisions"][EVENT]["content"]["decision"] == "accept"
    assert told["findings"][0]["content"]["spans"] == [{"head": 0, "first": 11, "last": 12}]
    assert told["undoable"] == 3
