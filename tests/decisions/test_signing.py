"""Signatures: what they freeze, and what breaks them."""

from pathlib import Path
from typing import Any

import pytest

from capsieve.decisions.agreement import BLOCK
from capsieve.decisions.database import Database, change_workflow
from capsieve.decisions.exam import Event
from capsieve.decisions.log import last_number, load_entries, missing_entries
from capsieve.decisions.model import (
    ConflictError,
    Decision,
    Landmark,
    Note,
    Sign,
    Signature,
    Spot,
    said,
)
from capsieve.decisions.reading import fold
from capsieve.decisions.signing import check_signatures, sign, to_validate
from capsieve.decisions.viewed import Bitmaps, load_viewed
from decisions.hands import EVENT, EXAM, FRAMES, IDENTITY, OTHER, Hand, decision
from support.readings import polyp, tamper, unique_key


@pytest.fixture
def signed(sqlite: Database) -> Database:
    hand = Hand(sqlite)
    hand.act(polyp("f1", 2), decision(EVENT, "accept", finding="finding:f1"))
    hand.see(1, 2, viewed=(2,))
    hand.sign()
    return sqlite


def check(database: Database, identity: Any = IDENTITY) -> list[tuple[str, ...]]:
    return list(check_signatures(database, EXAM, identity=identity).values())


def problems(database: Database) -> list[str]:
    [found] = check(database)
    return list(found)


def change(database: Database, *statements: Any) -> None:
    tamper(Path(database.where), *statements)


def test_a_signature_holds_and_has_its_own_copy_of_what_was_displayed(database: Database) -> None:
    hand = Hand(database)
    hand.decide(EVENT, "accept")
    hand.see(1, 2, 3, viewed=(2,))
    hand.see(5, head=1)
    entry = hand.sign()
    content = said(entry, Signature)
    assert (content.displayed_frames, content.viewed_frames, content.frames) == (4, 1, 200)
    copies = [Bitmaps.of(each) for each in content.viewed]
    assert [(each.head, int(each.displayed.sum())) for each in copies] == [(0, 3), (1, 1)]
    hand.see(7, 8)
    assert check(database) == [()]
    assert said(load_entries(database, EXAM)[-1], Signature).displayed_frames == 4


def test_looking_and_reading_on_do_not_break_it(signed: Database) -> None:
    hand = Hand(signed)
    hand.see(4)
    Hand(signed, exam="exam-2").decide(EVENT, "reject")
    hand.reopen()
    hand.decide(EVENT, "reject")
    hand.sign()
    assert check(signed) == [(), ()]


def test_frames_of_another_screening_are_not_signed(sqlite: Database) -> None:
    hand = Hand(sqlite)
    hand.see(*range(10))
    hand.screening = "screening-2"
    hand.see(3)
    assert said(hand.sign(), Signature).displayed_frames == 1


@pytest.mark.parametrize(
    "what",
    [
        "key = 'other-key'",
        "action = 2",
        "revision = 2",
        "reader = 'Anna'",
        "role = 'validator'",
        "screening = 'screening-2'",
        "time = '2026-03-01T12:00:00.000Z'",
        "kind = 'note'",
        "content = replace(content, 'finding:f1', 'finding:f2')",
        "content = content || ' '",
    ],
)
def test_any_change_of_an_entry_breaks_it(signed: Database, what: str) -> None:
    assert problems(signed) == []
    change(signed, f"UPDATE capsieve_entries SET {what} WHERE number = 1")
    assert problems(signed) == ["entries were changed after signing"]


def test_a_removed_entry_breaks_it(signed: Database) -> None:
    change(signed, "DELETE FROM capsieve_entries WHERE number = 2")
    assert problems(signed) == ["2 entries were signed, and 1 exist"]
    assert missing_entries(signed) == 1


@pytest.mark.parametrize(
    "what",
    [
        "reader = 'eve'",
        "time = '2026-03-01T12:00:00.000Z'",
        "revision = 2",
        "screening = 'screening-2'",
        "content = replace(content, '\"displayed_frames\":2', '\"displayed_frames\":99')",
        'content = replace(content, \'"displayed":"Bg\', \'"displayed":"Bw\')',
        "content = replace(content, 'Read and', 'Not read and')",
        "content = content || ' '",
        "content = '{'",
        "content = '[]'",
    ],
)
def test_any_change_of_the_signature_breaks_it(signed: Database, what: str) -> None:
    change(signed, f"UPDATE capsieve_entries SET {what} WHERE number = 3")
    assert "the signature" in problems(signed)[0]


def test_another_exam_under_the_same_name_breaks_it(signed: Database) -> None:
    for identity, word in (({**IDENTITY, "threshold": 38}, "differs"), (None, "cannot be read")):
        [found] = check(signed, identity)
        assert len(found) == 1
        assert word in found[0]


def test_an_entry_slipped_in_after_the_signature_is_reported(signed: Database) -> None:
    change(
        signed,
        "INSERT INTO capsieve_entries SELECT 4, 4, 'slipped-in', exam, revision, reader, role, "
        "screening, time, kind, content FROM capsieve_entries WHERE number = 1",
    )
    assert problems(signed) == ["entry 4 was added after signing without reopening the exam"]


def test_nothing_is_signed_that_the_signer_was_not_shown(sqlite: Database) -> None:
    anna, ben = Hand(sqlite), Hand(sqlite, "ben")
    last = anna.decide(EVENT, "accept").number
    ben.decide(EVENT, "reject")
    with pytest.raises(ConflictError, match="changed meanwhile"):
        anna.sign(last=last)
    with pytest.raises(ConflictError, match="the statement is now"):
        anna.sign(statement="Read and decided by anna.")
    anna.sign(last=last + 1)


def test_a_statement_is_needed() -> None:
    with pytest.raises(ValueError, match="is empty"):
        Sign(statement=" ", last=0)


def test_a_reading_of_one_screening_is_not_signed_as_one_of_another(database: Database) -> None:
    anna = Hand(database)
    anna.decide(EVENT, "accept")
    anna.decide(OTHER, "reject")
    anna.screening = "screening-2"
    with pytest.raises(ConflictError, match=r"2 decisions .* another screening .* by anna; take"):
        anna.sign()
    anna.undo(2)
    with pytest.raises(ConflictError, match="one decision was made on another screening"):
        anna.sign()
    anna.decide(EVENT, "accept")
    anna.sign()


def test_decisions_of_an_earlier_revision_can_be_undone_one_by_one(sqlite: Database) -> None:
    anna = Hand(sqlite)
    anna.decide(EVENT, "accept")
    anna.decide(OTHER, "accept")
    anna.sign()
    anna.screening = "screening-2"
    anna.reopen("screened again")
    with pytest.raises(ConflictError, match="2 decisions"):
        anna.sign()
    for number in (2, 1):
        reading = fold(load_entries(sqlite, EXAM), reader="anna", screening="screening-2")
        assert reading.undoable == number
        anna.undo(number)
    anna.sign()


def test_a_decision_on_an_event_that_is_inside_another_now_blocks_signing(sqlite: Database) -> None:
    anna = Hand(sqlite)
    anna.decide(EVENT, "accept")
    joined = (Event(0, 7, (1, 2, 5, 6, 7, 9)),)
    with pytest.raises(ConflictError, match=r"best frame 2 .* inside the event with best frame 7"):
        anna.sign(events=joined)
    longer = (Event(0, 2, (1, 2, 3, 4, 5)),)
    anna.sign(events=longer)


def test_a_longer_list_keeps_the_names_of_events(sqlite: Database) -> None:
    anna = Hand(sqlite)
    anna.decide(EVENT, "accept")
    longer = (Event(0, 2, tuple(range(12))), Event(0, 40, (40,)))
    anna.sign(events=longer)


def test_a_validator_gives_a_reason_for_what_was_not_displayed(sqlite: Database) -> None:
    change_workflow(sqlite, "validated")
    nurse, physician = Hand(sqlite, "nora", "pre-reader"), Hand(sqlite, "paul", "validator")
    nurse.act(polyp("f1", 2), decision(EVENT, "accept", finding="finding:f1"))
    nurse.decide(OTHER, "reject", frame=9)
    nurse.act(Landmark(subject="landmark:caecum", head=1, frame=50))
    nurse.act(Note(subject="frame:0:70", text="blood"))
    nurse.act(Note(subject="exam", text="short"))
    nurse.see(*range(100))

    def waiting() -> list[Spot]:
        own = [each for each in load_viewed(sqlite, EXAM, "screening-1") if each.reader == "paul"]
        return [spot for _, spot in to_validate(fold(load_entries(sqlite, EXAM)), own)]

    assert [(spot.head, spot.frame) for spot in waiting()] == [(0, 2), (0, 9), (1, 50), (0, 70)]
    physician.see(2, 70)
    physician.see(50, head=1)
    assert [(spot.head, spot.frame) for spot in waiting()] == [(0, 9)]
    with pytest.raises(ConflictError, match="1 pre-reader decisions were not displayed to paul"):
        physician.sign(undisplayed=1)
    content = said(
        physician.sign(undisplayed=1, pre_reader_decisions="a bubble, as nora wrote"), Signature
    )
    assert content.undisplayed == 1
    assert content.reasons["pre-reader-decisions"] == "a bubble, as nora wrote"
    assert "1 of 4 pre-reader decisions were not displayed to paul" in content.statement


def test_the_validators_own_decision_needs_no_validation(sqlite: Database) -> None:
    change_workflow(sqlite, "validated")
    nurse, physician = Hand(sqlite, "nora", "pre-reader"), Hand(sqlite, "paul", "validator")
    nurse.decide(EVENT, "accept")
    physician.decide(EVENT, "reject")
    assert to_validate(fold(load_entries(sqlite, EXAM)), []) == []
    assert said(physician.sign(), Signature).undisplayed == 0


def test_blind_signatures_are_over_ones_own_reading(sqlite: Database) -> None:
    change_workflow(sqlite, "blind")
    anna, ben = Hand(sqlite), Hand(sqlite, "ben")
    anna.decide(EVENT, "accept")
    ben.decide(EVENT, "reject")
    anna.see(1, 2)
    anna.sign()
    ben.decide(OTHER, "reject")
    ben.sign()
    carl = Hand(sqlite, "carl", "consensus")
    carl.see(4)
    carl.decide(EVENT, "accept")
    signature = said(carl.sign(), Signature)
    assert (signature.displayed_frames, signature.entries) == (1, 6)
    assert [each.reader for each in signature.viewed] == ["carl"]
    assert check(sqlite) == [(), (), ()]
    change(
        sqlite,
        "UPDATE capsieve_entries SET content = replace(content, 'reject', 'unsure') "
        f"WHERE reader = 'ben' AND kind = 'decision' AND content LIKE '%{OTHER}%'",
    )
    assert [bool(found) for found in check(sqlite)] == [False, True, True]


def test_a_reader_reads_what_was_decided(signed: Database) -> None:
    [_, entry, _] = load_entries(signed, EXAM)
    assert said(entry, Decision).decision == "accept"


MANY = tuple(Event(0, frame, (frame,)) for frame in range(BLOCK + 5))


def sign_many(hand: Hand, offered: int, *, undecided: str = "", **more: Any) -> Signature:
    """Sign with the best events offered; a reason is given for all but one undecided event."""
    names = [event.subject for event in MANY[:offered]]
    request = Sign(
        statement=hand.statement(),
        last=last_number(hand.database),
        offered=tuple(names),
        reasons={name: "left open" for name in names if name != undecided},
        **more,
    )
    options: Any = {"identity": IDENTITY, "events": MANY, "frames_by_head": FRAMES}
    return said(sign(hand.database, hand.writer, unique_key(), request, **options), Signature)


def test_the_first_block_of_events_and_every_decided_one_are_offered(sqlite: Database) -> None:
    hand = Hand(sqlite)
    with pytest.raises(ConflictError, match="event 50 was not offered"):
        sign_many(hand, BLOCK - 1)
    hand.decide(MANY[BLOCK + 2].subject, "reject", frame=BLOCK + 2)
    with pytest.raises(ConflictError, match="event 53 was not offered"):
        sign_many(hand, BLOCK)
    assert len(sign_many(hand, BLOCK + 5).offered) == BLOCK + 5


def test_an_offered_event_is_decided_or_left_open_with_a_reason(sqlite: Database) -> None:
    hand = Hand(sqlite)
    event = MANY[3].subject
    with pytest.raises(ConflictError, match="event 4 is undecided"):
        sign_many(hand, BLOCK, undecided=event)
    hand.decide(event, "reject", frame=3)
    assert event not in sign_many(hand, BLOCK, undecided=event).reasons


def test_a_signature_says_which_best_frames_were_displayed(sqlite: Database) -> None:
    hand = Hand(sqlite)
    with pytest.raises(ConflictError, match="not stored yet"):
        sign_many(hand, BLOCK, opened=(MANY[7].subject,))
    hand.see(7, 9)
    content = sign_many(hand, BLOCK, opened=(MANY[7].subject,))
    assert content.opened == (MANY[7].subject, MANY[9].subject)


def test_frames_without_a_picture_need_a_reason(sqlite: Database) -> None:
    hand = Hand(sqlite)
    with pytest.raises(ConflictError, match="2 frames of exam-1 have no picture"):
        hand.sign(without_picture=2)
    content = said(hand.sign(without_picture=2, frames_without_picture="damaged file"), Signature)
    assert content.reasons["frames-without-picture"] == "damaged file"
