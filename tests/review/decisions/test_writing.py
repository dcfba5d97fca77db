from typing import Any

import pytest

from capsieve.review.decisions.database import Database
from capsieve.review.decisions.entries import NewEntry
from capsieve.review.decisions.log import (
    changes_after,
    exams_with_entries,
    last_number,
    load_entries,
    missing_entries,
)
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.refusals import ConflictError, EntryError, ForbiddenError
from capsieve.review.decisions.room import Room, change_room
from capsieve.review.decisions.writing import append
from review.decisions.made_entries import EXAM, FINDING, Hand

EVENT = "event:0:1-5"


@pytest.fixture
def anna(database: Database) -> Hand:
    return Hand(database)


def test_what_was_written_is_what_is_read(database: Database, anna: Hand) -> None:
    written = [
        anna.say(EVENT, "accept"),
        anna.write("finding", "finding:f1", FINDING | {"note": "Größe — 大 'quoted' \"\\ 😀"}),
        anna.write("note", "exam", {"text": "line\nbreak"}),
        anna.undo(1),
    ]
    assert load_entries(database, EXAM) == written
    assert [entry.number for entry in written] == [1, 2, 3, 4]
    assert written[3].subject == EVENT


def test_the_server_tells_the_time(database: Database) -> None:
    new = NewEntry("key-0001", "note", "exam", {"text": "hello"})
    who = {"exam": EXAM, "reader": "anna", "role": "reader", "screening": "screening-1"}
    entry = append(database, new, **who, now=lambda: "2026-03-01T12:00:00.000Z")
    assert entry.time == "2026-03-01T12:00:00.000Z"


def test_the_same_action_sent_twice_is_one_entry(database: Database, anna: Hand) -> None:
    first = anna.write("verdict", EVENT, {"verdict": "accept"}, key="the-key-1")
    anna.say(EVENT, "reject")
    again = anna.write("verdict", EVENT, {"verdict": "accept", "event": None}, key="the-key-1")
    assert again == first
    assert last_number(database) == 2


def test_an_action_sent_again_after_the_signature_is_still_known(anna: Hand) -> None:
    first = anna.write("verdict", EVENT, {"verdict": "accept"}, key="the-key-1")
    taken = anna.write("undo", "", undoes=1, key="the-key-2")
    signed = anna.sign(key="the-key-3")
    assert anna.write("verdict", EVENT, {"verdict": "accept"}, key="the-key-1") == first
    assert anna.write("undo", "", undoes=1, key="the-key-2") == taken
    assert anna.sign(key="the-key-3") == signed


@pytest.mark.parametrize(
    ("kind", "subject", "content"),
    [
        ("verdict", EVENT, {"verdict": "reject"}),
        ("verdict", "event:0:1-6", {"verdict": "accept"}),
        ("note", "exam", {"text": "hello"}),
    ],
)
def test_a_key_belongs_to_one_action(
    anna: Hand, kind: str, subject: str, content: dict[str, Any]
) -> None:
    anna.write("verdict", EVENT, {"verdict": "accept"}, key="the-key-1")
    with pytest.raises(ConflictError, match="another action"):
        anna.write(kind, subject, content, key="the-key-1")


def test_a_key_belongs_to_one_reader_and_one_exam(database: Database, anna: Hand) -> None:
    anna.write("verdict", EVENT, {"verdict": "accept"}, key="the-key-1")
    for other in (Hand(database, "ben"), Hand(database, exam="exam-2")):
        with pytest.raises(ConflictError, match="another action"):
            other.write("verdict", EVENT, {"verdict": "accept"}, key="the-key-1")


def test_asking_for_what_came_after_misses_nothing(database: Database, anna: Hand) -> None:
    other = Hand(database, exam="exam-2")
    written = [hand.say(EVENT, "accept") for hand in (anna, other, anna)]
    assert load_entries(database, EXAM, after=1) == [written[2]]
    assert changes_after(database, 0) == [(1, EXAM), (2, "exam-2"), (3, EXAM)]
    assert changes_after(database, 2) == [(3, EXAM)]
    assert exams_with_entries(database) == [EXAM, "exam-2"]
    assert missing_entries(database) == 0


def test_one_takes_back_only_what_is_ones_own(database: Database, anna: Hand) -> None:
    anna.say(EVENT, "accept")
    with pytest.raises(ForbiddenError, match="anna's"):
        Hand(database, "ben").undo(1)


def test_taking_back_twice_is_refused_and_an_undo_can_be_undone(anna: Hand) -> None:
    anna.say(EVENT, "accept")
    anna.undo(1)
    with pytest.raises(ConflictError, match="taken back already"):
        anna.undo(1)
    anna.undo(2)
    assert EVENT in fold(load_entries(anna.database, EXAM)).verdicts
    anna.undo(1)
    assert EVENT not in fold(load_entries(anna.database, EXAM)).verdicts


def test_an_undo_reaches_neither_other_exams_nor_nothing(database: Database, anna: Hand) -> None:
    anna.say(EVENT, "accept")
    with pytest.raises(ConflictError, match="no entry 1"):
        Hand(database, exam="exam-2").undo(1)
    with pytest.raises(ConflictError, match="no entry 7"):
        anna.undo(7)


def test_a_signed_exam_takes_nothing_but_reopen(anna: Hand) -> None:
    anna.say(EVENT, "accept")
    signed = anna.sign()
    for refused in (
        lambda: anna.say(EVENT, "reject"),
        lambda: anna.undo(1),
        lambda: anna.write("note", "exam", {"text": "late"}),
        anna.sign,
    ):
        with pytest.raises(ConflictError, match=r"was signed by anna .* open it again"):
            refused()
    opened = anna.write("reopen", "exam", {"reason": "a second look"})
    later = anna.say(EVENT, "reject")
    assert [entry.version for entry in (signed, opened, later)] == [1, 2, 2]
    with pytest.raises(ConflictError, match="cannot be taken back"):
        anna.undo(signed.number)
    assert anna.sign().version == 2


def test_only_a_signed_exam_is_opened_again(anna: Hand) -> None:
    with pytest.raises(ConflictError, match="is open"):
        anna.write("reopen", "exam", {"reason": "why not"})


def test_a_signature_is_not_just_an_entry(anna: Hand) -> None:
    with pytest.raises(EntryError, match="use sign"):
        anna.write("sign", "exam", {"statement": "read"})


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 256])
def test_names_fit_on_a_line(database: Database, name: str) -> None:
    with pytest.raises(EntryError, match="reader"):
        Hand(database, name).say(EVENT, "accept")


def test_a_confirmation_names_the_entry_that_it_is_about(database: Database) -> None:
    change_room(database, Room("validated"), reader="anna")
    pre, validator = Hand(database, "anna", "pre-reader"), Hand(database, "vera", "validator")
    with pytest.raises(ConflictError, match="no pre-reader's decision"):
        validator.write("confirm", EVENT, {"agrees": True})
    said = pre.say(EVENT, "accept")
    confirmed = validator.write("confirm", EVENT, {"agrees": True}, key="confirm-1")
    assert confirmed.content["of"] == said.number
    assert validator.write("confirm", EVENT, {"agrees": True}, key="confirm-1") == confirmed
    validator.undo(confirmed.number)
    pre.say(EVENT, "reject")
    with pytest.raises(ConflictError, match="changed meanwhile"):
        validator.write("confirm", EVENT, {"agrees": True, "of": said.number})


def test_the_validator_has_the_last_word(database: Database) -> None:
    change_room(database, Room("validated"), reader="anna")
    pre, validator = Hand(database, "anna", "pre-reader"), Hand(database, "vera", "validator")
    pre.say(EVENT, "accept")
    own = validator.say(EVENT, "reject")
    with pytest.raises(ForbiddenError, match="vera has decided"):
        pre.say(EVENT, "accept")
    validator.undo(own.number)
    pre.say(EVENT, "unsure")


def test_a_validator_signs_when_all_findings_are_answered(database: Database) -> None:
    change_room(database, Room("validated"), reader="anna")
    pre, validator = Hand(database, "anna", "pre-reader"), Hand(database, "vera", "validator")
    for name in ("f1", "f2", "f3"):
        pre.write("finding", f"finding:{name}", FINDING)
    validator.write("confirm", "finding:f1", {"agrees": True})
    validator.write("finding", "finding:f2", FINDING | {"note": "my own words"})
    with pytest.raises(ConflictError, match=r"before signing: f3$"):
        validator.sign()
    validator.write("confirm", "finding:f3", {"agrees": False})
    with pytest.raises(ForbiddenError, match="only the validator signs"):
        pre.sign()
    assert validator.sign().version == 1
