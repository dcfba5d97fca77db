"""A validator has the last word: no pre-reader cancels it, in whatever way."""

import pytest

from capsieve.review.decisions.database import Database
from capsieve.review.decisions.log import load_entries
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.refusals import ForbiddenError
from capsieve.review.decisions.room import Room, change_room
from review.decisions.made_entries import EXAM, FINDING, Hand

EVENT = "event:0:1-5"


@pytest.fixture
def pre(sqlite: Database) -> Hand:
    change_room(sqlite, Room("validated"), reader="anna")
    return Hand(sqlite, "anna", "pre-reader")


@pytest.fixture
def vera(pre: Hand) -> Hand:
    return Hand(pre.database, "vera", "validator")


def confirmed(database: Database) -> bool | None:
    return fold(load_entries(database, EXAM)).verdicts[EVENT].confirmed


@pytest.mark.parametrize(("agrees", "word"), [(True, "confirmed"), (False, "refused")])
@pytest.mark.parametrize("change", [{"removed": True}, FINDING | {"note": "larger"}, FINDING])
def test_an_answered_finding_stays(
    pre: Hand, vera: Hand, agrees: bool, word: str, change: dict
) -> None:
    pre.write("finding", "finding:f1", FINDING)
    vera.write("confirm", "finding:f1", {"agrees": agrees})
    with pytest.raises(ForbiddenError, match=f"vera has {word} finding:f1 as validator"):
        pre.write("finding", "finding:f1", change)


@pytest.mark.parametrize("agrees", [True, False])
@pytest.mark.parametrize("word", ["accept", "reject", None])
def test_an_answered_verdict_stays(pre: Hand, vera: Hand, agrees: bool, word: str | None) -> None:
    pre.say(EVENT, "accept")
    vera.write("confirm", EVENT, {"agrees": agrees})
    with pytest.raises(ForbiddenError, match="as validator"):
        pre.say(EVENT, word)
    assert confirmed(pre.database) is agrees


def test_an_answered_verdict_is_not_taken_back(pre: Hand, vera: Hand) -> None:
    said = pre.say(EVENT, "accept")
    vera.write("confirm", EVENT, {"agrees": False})
    with pytest.raises(ForbiddenError, match="vera has refused"):
        pre.undo(said.number)
    assert confirmed(pre.database) is False


def test_an_undo_of_an_undo_brings_nothing_back_over_an_answer(pre: Hand, vera: Hand) -> None:
    pre.say(EVENT, "accept")
    second = pre.say(EVENT, "reject")
    taken = pre.undo(second.number)
    vera.write("confirm", EVENT, {"agrees": True})
    with pytest.raises(ForbiddenError, match="vera has confirmed"):
        pre.undo(taken.number)
    assert confirmed(pre.database) is True


def test_somebody_with_two_roles_takes_no_answer_back_as_pre_reader(pre: Hand) -> None:
    pre.say(EVENT, "accept")
    answer = Hand(pre.database, "anna", "validator").write("confirm", EVENT, {"agrees": False})
    with pytest.raises(ForbiddenError, match="anna has refused"):
        pre.undo(answer.number)


def test_what_is_not_answered_and_old_decisions_stay_the_pre_readers(pre: Hand, vera: Hand) -> None:
    first = pre.say(EVENT, "accept")
    pre.say(EVENT, "reject")
    other = pre.say("event:0:7-9", "accept")
    vera.write("confirm", EVENT, {"agrees": True})
    pre.undo(first.number)  # it counts no more
    pre.undo(other.number)
    pre.write("note", "exam", {"text": "look again"})
    assert confirmed(pre.database) is True


def test_an_answer_that_was_taken_back_leaves_the_way_free(pre: Hand, vera: Hand) -> None:
    pre.say(EVENT, "accept")
    answer = vera.write("confirm", EVENT, {"agrees": False})
    vera.undo(answer.number)
    pre.say(EVENT, "unsure")


def test_the_validator_changes_what_was_answered(pre: Hand, vera: Hand) -> None:
    pre.say(EVENT, "accept")
    vera.write("confirm", EVENT, {"agrees": True})
    vera.write("confirm", EVENT, {"agrees": False})
    assert confirmed(pre.database) is False
    vera.say(EVENT, "unsure")
    with pytest.raises(ForbiddenError, match="vera has decided"):
        pre.say(EVENT, "accept")
