"""Who sees what, and who may write what."""

from typing import Any

import pytest

from capsieve.decisions.database import Database, change_workflow
from capsieve.decisions.log import load_entries
from capsieve.decisions.model import ConflictError, EntryError, Finding, ForbiddenError, Removed
from capsieve.decisions.reading import AGREED, fold
from capsieve.decisions.workflow import both_signed, own_reading, pre_read, visible
from decisions.hands import EVENT, EXAM, OTHER, Hand, decision
from support.readings import polyp


@pytest.fixture
def blind(sqlite: Database) -> Database:
    change_workflow(sqlite, "blind")
    return sqlite


@pytest.fixture
def nurse(sqlite: Database) -> Hand:
    change_workflow(sqlite, "validated")
    return Hand(sqlite, "nora", "pre-reader")


@pytest.fixture
def physician(nurse: Hand) -> Hand:
    return Hand(nurse.database, "paul", "validator")


def seen_by(database: Database, reader: str, role: str = "reader") -> set[str]:
    entries = load_entries(database, EXAM)
    shown = visible(entries, workflow="blind", reader=reader, role=role)
    return {entry.reader for entry in shown}


@pytest.mark.parametrize("role", ["pre-reader", "validator", "consensus", "admin"])
def test_a_role_belongs_to_its_workflow(sqlite: Database, role: str) -> None:
    with pytest.raises(ForbiddenError, match="its roles are reader"):
        Hand(sqlite, role=role).decide(EVENT, "accept")


@pytest.mark.parametrize(
    "contents",
    [
        (),
        ("note", "undo"),
        ("reopen", "note"),
    ],
)
def test_an_undo_or_a_reopening_is_an_action_of_its_own(sqlite: Database, contents: Any) -> None:
    from capsieve.decisions.model import Note, Reopen, Undo

    made = {
        "note": Note(subject="exam", text="x"),
        "undo": Undo(action=1),
        "reopen": Reopen(reason="x"),
    }
    with pytest.raises(EntryError):
        Hand(sqlite).act(*(made[kind] for kind in contents))


# Validated: a pre-reader and a validator.


def test_a_pre_reader_neither_signs_nor_reopens(nurse: Hand, physician: Hand) -> None:
    nurse.decide(EVENT, "accept")
    with pytest.raises(ForbiddenError, match="only the validator signs"):
        nurse.sign()
    physician.see(2)
    physician.sign()
    with pytest.raises(ForbiddenError, match="only the validator reopens"):
        nurse.reopen()


def test_a_pre_readers_action_on_what_the_validator_decided_is_refused_as_a_whole(
    nurse: Hand, physician: Hand
) -> None:
    accept = decision(EVENT, "accept", finding="finding:e0-2")
    nurse.act(polyp("e0-2", 2, size="small"), accept)
    physician.act(accept)
    with pytest.raises(ForbiddenError, match="paul has decided"):
        nurse.act(Removed(of="finding", subject="finding:e0-2"), decision(EVENT, "reject"))
    with pytest.raises(ForbiddenError, match="paul has decided"):
        nurse.act(polyp("e0-2", 2, size="large"))
    reading = fold(load_entries(nurse.database, EXAM))
    assert list(reading.decisions) == [EVENT]
    assert [each.role for each in reading.findings] == ["pre-reader"]


def test_neither_undo_nor_undo_of_an_undo_gets_past_the_validator(
    nurse: Hand, physician: Hand
) -> None:
    first = nurse.decide(EVENT, "accept")
    second = nurse.decide(EVENT, "reject")
    undone = nurse.undo(second.action)
    own = physician.decide(EVENT, "unsure")
    nurse.undo(first.action)  # it does not count any more
    nurse.undo(undone.action)
    reading = fold(load_entries(nurse.database, EXAM))
    assert reading.decisions[EVENT] == own
    removed = physician.act(Removed(of="decision", subject=EVENT))[0]
    with pytest.raises(ForbiddenError, match="paul has decided"):
        nurse.decide(EVENT, "accept")
    physician.undo(removed.action)
    physician.undo(own.action)
    nurse.decide(EVENT, "accept")


def test_the_validators_decision_replaces_that_of_the_pre_reader(
    nurse: Hand, physician: Hand
) -> None:
    nurse.decide(EVENT, "accept")
    nurse.decide(OTHER, "reject")
    physician.decide(EVENT, "accept")
    reading = fold(load_entries(nurse.database, EXAM))
    assert [each.subject for each in pre_read(reading)] == [OTHER]


def test_the_statement_says_who_did_what(nurse: Hand, physician: Hand) -> None:
    assert physician.statement() == "Read and decided by paul, without a pre-reader."
    nurse.decide(EVENT, "accept")
    assert physician.statement() == "Pre-read by nora, validated by paul."
    Hand(nurse.database, "pia", "validator").decide(OTHER, "reject")
    assert physician.statement() == "Pre-read by nora, validated by pia and paul, signed by paul."
    assert "2 of 1" not in physician.statement(1)
    assert "1 of 1 pre-reader decisions" in physician.statement(1)


def test_the_statement_names_everybody_whose_decisions_count(sqlite: Database) -> None:
    anna, ben = Hand(sqlite), Hand(sqlite, "ben")
    anna.decide(EVENT, "accept")
    assert anna.statement() == "Read and decided by anna."
    taken_back = ben.decide(OTHER, "accept")
    assert anna.statement() == "Read and decided by anna and ben, signed by anna."
    ben.undo(taken_back.action)
    assert anna.statement() == "Read and decided by anna."
    anna.sign()
    anna.reopen()
    assert anna.statement() == "Read and decided by anna. Revision 2."


# Blind: two readers and a consensus.


def test_blind_readers_see_nothing_of_each_other_until_both_have_signed(blind: Database) -> None:
    anna, ben = Hand(blind), Hand(blind, "ben")
    anna.decide(EVENT, "accept")
    ben.decide(EVENT, "reject")
    assert seen_by(blind, "anna") == {"anna"}
    assert seen_by(blind, "carl", "consensus") == set()
    anna.sign()
    ben.decide(OTHER, "reject")  # the signature of the other does not freeze this reading
    for reader in ("anna", "ben"):
        assert seen_by(blind, reader) == {reader}
    ben.sign()
    assert both_signed(load_entries(blind, EXAM))
    for reader, role in (("anna", "reader"), ("ben", "reader"), ("carl", "consensus")):
        assert seen_by(blind, reader, role) == {"anna", "ben"}


def test_a_blind_reading_is_reopened_only_before_the_other_is_visible(blind: Database) -> None:
    anna, ben = Hand(blind), Hand(blind, "ben")
    anna.note()
    ben.note()
    anna.sign()
    assert seen_by(blind, "anna") == {"anna"}
    anna.reopen()
    ben.sign()
    assert seen_by(blind, "ben") == {"ben"}
    assert anna.sign().revision == 2
    with pytest.raises(ConflictError, match="belong in the consensus"):
        anna.reopen("I saw what ben decided")


def test_one_alone_does_not_open_a_blind_reading(blind: Database) -> None:
    anna = Hand(blind)
    anna.note()
    anna.sign()
    assert not both_signed(load_entries(blind, EXAM))


def test_the_consensus_begins_when_both_have_signed(blind: Database) -> None:
    anna, ben, carl = Hand(blind), Hand(blind, "ben"), Hand(blind, "carl", "consensus")
    anna.decide(EVENT, "accept")
    anna.sign()
    with pytest.raises(ConflictError, match="both readers"):
        carl.decide(EVENT, "accept")
    ben.note()
    ben.sign()
    carl.decide(EVENT, "reject")
    entries = load_entries(blind, EXAM)
    own = own_reading(entries, workflow="blind", reader="dora", role="consensus")
    assert [entry.reader for entry in own] == ["carl"]  # shared by the consensus readers
    with pytest.raises(ConflictError, match="was signed by anna"):
        anna.decide(EVENT, "reject")


def test_the_consensus_starts_from_what_both_agree_on(blind: Database) -> None:
    anna, ben, carl = Hand(blind), Hand(blind, "ben"), Hand(blind, "carl", "consensus")
    for hand, name, frames in ((anna, "a", (2, 5)), (ben, "b", (5, 6))):
        hand.act(polyp(name, *frames), decision(EVENT, "accept", finding=f"finding:{name}"))
    anna.act(polyp("c", 50))
    anna.decide(OTHER, "accept")
    ben.decide(OTHER, "reject")
    anna.sign()
    ben.sign()

    def reading() -> Any:
        entries = load_entries(blind, EXAM)
        own = own_reading(entries, workflow="blind", reader="carl", role="consensus")
        return fold(own, reader="carl")

    agreed = reading()
    assert (agreed.state, agreed.undoable) == ("unread", None)
    assert list(agreed.decisions) == [EVENT]
    assert [(each.subject, each.role) for each in agreed.findings] == [("finding:a", AGREED)]
    carl.decide(OTHER, "reject")
    assert len(reading().decisions) == 2
    statement = carl.statement()
    assert statement == "Consensus on the readings of anna and ben, decided by carl."


def test_the_consensus_takes_no_decision_on_what_both_agree_on(blind: Database) -> None:
    anna, ben, carl = Hand(blind), Hand(blind, "ben"), Hand(blind, "carl", "consensus")
    for hand in (anna, ben):
        hand.decide(EVENT, "accept")
        hand.sign()
    with pytest.raises(ConflictError, match="both readers decided 'accept'"):
        carl.decide(EVENT, "unsure")
    carl.decide(OTHER, "accept")  # that neither decided


@pytest.mark.parametrize("word", ["unsure", "reject"])
def test_a_consensus_against_an_event_is_against_its_agreed_finding(
    blind: Database, word: Any
) -> None:
    anna, ben, carl = Hand(blind), Hand(blind, "ben"), Hand(blind, "carl", "consensus")
    anna.act(polyp("a", 2), decision(EVENT, "accept", finding="finding:a"))
    ben.act(polyp("b", 2), decision(EVENT, "unsure"))
    anna.sign()
    ben.sign()
    carl.decide(EVENT, word)
    entries = load_entries(blind, EXAM)
    own = own_reading(entries, workflow="blind", reader="carl", role="consensus")
    assert not any(isinstance(entry.content, Finding) for entry in own)


def test_two_read_an_exam_blind_and_no_third(blind: Database) -> None:
    anna, ben, carl = Hand(blind), Hand(blind, "ben"), Hand(blind, "carl")
    undone = anna.decide(EVENT, "accept")
    ben.decide(EVENT, "accept")
    with pytest.raises(ForbiddenError, match="two others"):
        carl.decide(EVENT, "accept")
    Hand(blind, "carl", exam="exam-2").decide(EVENT, "accept")
    anna.undo(undone.action)  # and leaves her place
    carl.decide(EVENT, "accept")
    with pytest.raises(ForbiddenError, match="two others"):
        anna.decide(EVENT, "accept")


def test_a_blind_reader_cannot_undo_what_the_other_did(blind: Database) -> None:
    Hand(blind).decide(EVENT, "accept")
    with pytest.raises(ConflictError, match="no action 1"):  # and does not learn that it exists
        Hand(blind, "ben").undo(1)
