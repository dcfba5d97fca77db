from collections import defaultdict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.reading import Reading, fold
from capsieve.review.decisions.standing import stand
from review.decisions.made_entries import EXAM, FINDING, made, undo, verdict

SUBJECTS = ["event:0:1-5", "event:0:7-9", "frame:1:3"]
WORDS = ["accept", "reject", "unsure", None]


@st.composite
def logs(draw: st.DrawFn) -> list[Entry]:
    """Verdicts and undos of anything before, of two readers."""
    log: list[Entry] = []
    for number in range(1, draw(st.integers(0, 25)) + 1):
        reader = draw(st.sampled_from(["anna", "ben"]))
        if log and draw(st.booleans()):
            log.append(undo(number, draw(st.integers(1, number - 1)), reader=reader))
        else:
            subject, word = draw(st.sampled_from(SUBJECTS)), draw(st.sampled_from(WORDS))
            log.append(verdict(number, subject, word, reader=reader))
    return log


def words(reading: Reading) -> dict[str, str]:
    return {subject: one.verdict for subject, one in reading.verdicts.items()}


@given(logs())
def test_an_entry_stands_unless_an_undo_of_it_stands(log: list[Entry]) -> None:
    def stands(number: int) -> bool:
        return not any(stands(entry.number) for entry in log if entry.undoes == number)

    assert stand(log).numbers == {entry.number for entry in log if stands(entry.number)}


@given(logs(), st.randoms(use_true_random=False))
def test_order_and_repetition_of_delivery_change_nothing(log: list[Entry], random: Any) -> None:
    delivered = log + [entry for entry in log if random.random() < 0.5]
    random.shuffle(delivered)
    assert fold(delivered, reader="anna") == fold(log, reader="anna")


@given(logs())
def test_undoing_the_last_entry_is_as_if_it_had_never_been(log: list[Entry]) -> None:
    if not log:
        return
    number = log[-1].number
    undone = fold([*log, undo(number + 1, number)])
    assert undone.verdicts == fold(log[:-1]).verdicts
    again = fold([*log, undo(number + 1, number), undo(number + 2, number + 1)])
    assert again.verdicts == fold(log).verdicts


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["anna", "ben"]),
            st.sampled_from(["say", "say", "undo", "redo"]),
            st.sampled_from(SUBJECTS),
            st.sampled_from(WORDS),
        ),
        max_size=30,
    )
)
def test_undoable_and_redoable_work_as_in_an_editor(steps: list[Any]) -> None:
    # The editor: what was done is on or off, and each reader has two stacks.
    log: list[Entry] = []
    done: list[list[Any]] = []
    undo_stack, redo_stack = defaultdict[str, Any](list), defaultdict[str, Any](list)
    for reader, step, subject, word in steps:
        number = len(log) + 1
        reading = fold(log, reader=reader)
        if step == "say":
            log.append(verdict(number, subject, word, reader=reader))
            done.append([True, subject, word])
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
        expected = {subject: word for on, subject, word in done if on}
        assert words(fold(log)) == {k: v for k, v in expected.items() if v is not None}


def test_the_last_verdict_counts_and_null_takes_it_back() -> None:
    log = [verdict(1, SUBJECTS[0], "accept"), verdict(2, SUBJECTS[0], "reject")]
    assert words(fold(log)) == {SUBJECTS[0]: "reject"}
    assert words(fold([*log, verdict(3, SUBJECTS[0], None)])) == {}


def test_no_entries_are_an_unread_exam() -> None:
    assert fold([]).state == "unread"
    assert fold([]).version == 1


def test_a_finding_is_replaced_removed_and_brought_back() -> None:
    log = [
        made(1, "finding", "finding:b", FINDING),
        made(2, "finding", "finding:a", FINDING),
        made(3, "finding", "finding:b", FINDING | {"note": "flat"}),
    ]
    reading = fold(log)
    assert [one.id for one in reading.findings] == ["b", "a"]
    assert reading.findings[0].content["note"] == "flat"
    log.append(made(4, "finding", "finding:b", {"removed": True}))
    assert [one.id for one in fold(log).findings] == ["a"]
    log.append(undo(5, 4))
    assert [one.id for one in fold(log).findings] == ["b", "a"]


def test_an_urgent_finding_makes_the_exam_urgent() -> None:
    log = [made(1, "finding", "finding:a", FINDING | {"urgent": True})]
    assert fold(log).urgent
    log.append(made(2, "finding", "finding:a", {"removed": True}))
    assert not fold(log).urgent
    log.append(made(3, "urgent", "exam", {"urgent": True, "text": "call the ward"}))
    assert fold(log).urgent
    assert fold(log).urgent_text == "call the ward"


def test_landmarks_cleanliness_and_notes() -> None:
    log = [
        made(1, "landmark", "landmark:rectum", {"head": 1, "frame": 90}),
        made(2, "landmark", "landmark:caecum", {"head": 0, "frame": 5}),
        made(3, "landmark", "landmark:splenic-flexure", {"head": 0, "frame": 50}),
        made(4, "landmark", "landmark:splenic-flexure", {"removed": True}),
        *(
            made(5 + k, "cleanliness", f"segment:{name}", {"grade": 2})
            for k, name in enumerate(("right", "transverse", "left"))
        ),
        made(8, "note", "exam", {"text": "one"}),
        made(9, "note", "exam", {"text": "two"}),
        undo(10, 8),
    ]
    reading = fold(log)
    assert list(reading.landmarks) == ["caecum", "rectum"]
    assert (reading.landmarks["rectum"].head, reading.landmarks["rectum"].frame) == (1, 90)
    assert reading.cleanliness.words == "good"
    assert [note.text for note in reading.notes] == ["two"]


def test_a_confirmation_is_about_the_entry_that_was_confirmed() -> None:
    said = made(1, "finding", "finding:a", FINDING, role="pre-reader")
    agrees = {"agrees": True, "text": "", "of": 1}
    confirm = made(2, "confirm", "finding:a", agrees, reader="vera", role="validator")
    assert fold([said, confirm]).findings[0].confirmed is True
    assert fold([said, confirm, undo(3, 2)]).findings[0].confirmed is None
    changed = made(3, "finding", "finding:a", FINDING | {"note": "x"}, role="pre-reader")
    assert fold([said, confirm, changed]).findings[0].confirmed is None
    # Once the change is taken back, the confirmed entry counts again.
    assert fold([said, confirm, changed, undo(4, 3)]).findings[0].confirmed is True


def test_a_version_is_as_it_was_signed() -> None:
    content = {"hash": "00", "statement": "read", "seen_frames": 1, "frames": 2}
    log = [
        verdict(1, SUBJECTS[0], "accept"),
        made(2, "sign", "exam", content),
        made(3, "reopen", "exam", {"reason": "again"}, version=2),
        verdict(4, SUBJECTS[0], "reject", version=2),
        undo(5, 1, version=2),
    ]
    signed = fold(log[:2], reader="anna")
    assert (signed.state, signed.undoable, signed.redoable) == ("signed", None, None)
    assert signed.signature is not None
    now = fold(log, reader="anna")
    assert (now.version, now.state, now.signature) == (2, "in reading", None)
    assert now.signatures == (signed.signature,)
    assert words(now) == {SUBJECTS[0]: "reject"}
    assert fold(log, reader="anna", version=1) == signed


def test_undo_offers_nothing_from_before_the_signature() -> None:
    content = {"hash": "00", "statement": "read", "seen_frames": 1, "frames": 2}
    log = [
        verdict(1, SUBJECTS[0], "accept"),
        made(2, "sign", "exam", content),
        made(3, "reopen", "exam", {"reason": "again"}, version=2),
    ]
    assert fold(log, reader="anna").undoable is None


def test_a_reading_is_json() -> None:
    import json

    log = [
        verdict(1, SUBJECTS[0], "accept"),
        made(2, "finding", "finding:a", FINDING),
        made(3, "landmark", "landmark:rectum", {"head": 1, "frame": 90}),
    ]
    told = json.loads(json.dumps(fold(log, reader="anna").to_json()))
    assert told["exam"] == EXAM
    assert told["verdicts"][SUBJECTS[0]]["verdict"] == "accept"
    assert told["findings"][0]["frames"] == [11, 12]
    assert told["undoable"] == 3
