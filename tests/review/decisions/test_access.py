import pytest

from capsieve.review.decisions.access import both_signed, own_reading, visible
from capsieve.review.decisions.database import Database
from capsieve.review.decisions.log import load_entries
from capsieve.review.decisions.refusals import ConflictError, EntryError, ForbiddenError
from capsieve.review.decisions.room import Room, change_room, read_room
from review.decisions.made_entries import EXAM, Hand

EVENT = "event:0:1-5"


@pytest.fixture
def blind(sqlite: Database) -> Database:
    change_room(sqlite, Room("blind"), reader="anna")
    return sqlite


def seen_by(database: Database, reader: str, role: str = "reader") -> set[str]:
    entries = load_entries(database, EXAM)
    way = read_room(database).way
    return {entry.reader for entry in visible(entries, way=way, reader=reader, role=role)}


def test_a_new_room_is_single_and_all_see_all(sqlite: Database) -> None:
    assert read_room(sqlite) == Room("single")
    for reader in ("anna", "ben"):
        Hand(sqlite, reader).say(EVENT, "accept")
    assert seen_by(sqlite, "anna") == {"anna", "ben"}


def test_the_way_is_kept_once_reading_has_begun(database: Database) -> None:
    change_room(database, Room("validated"), reader="anna")
    change_room(database, Room("blind"), reader="anna")
    assert read_room(database) == Room("blind")
    Hand(database).say(EVENT, "accept")
    change_room(database, Room("blind"), reader="anna")
    with pytest.raises(ConflictError, match="reading has begun"):
        change_room(database, Room("single"), reader="anna")
    with pytest.raises(EntryError, match="no way of working"):
        change_room(database, Room("alone"), reader="anna")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("role", ["pre-reader", "validator", "consensus", "admin"])
def test_a_role_belongs_to_its_way(sqlite: Database, role: str) -> None:
    with pytest.raises(ForbiddenError, match="its roles are reader"):
        Hand(sqlite, role=role).say(EVENT, "accept")


def test_nobody_confirms_where_nobody_pre_reads(sqlite: Database) -> None:
    with pytest.raises(ForbiddenError, match="only a validator confirms"):
        Hand(sqlite).write("confirm", EVENT, {"agrees": True})


def test_a_pre_reader_neither_confirms_nor_signs(sqlite: Database) -> None:
    change_room(sqlite, Room("validated"), reader="anna")
    pre, validator = Hand(sqlite, "anna", "pre-reader"), Hand(sqlite, "vera", "validator")
    pre.say(EVENT, "accept")
    with pytest.raises(ForbiddenError, match="anna works here as pre-reader"):
        pre.write("confirm", EVENT, {"agrees": True})
    with pytest.raises(ForbiddenError, match="only the validator signs"):
        pre.sign()
    validator.sign()
    with pytest.raises(ForbiddenError, match="only the validator opens"):
        pre.write("reopen", "exam", {"reason": "again"})
    assert seen_by(sqlite, "anna", "pre-reader") == {"anna"} | {"vera"}


def test_blind_readers_see_nothing_of_each_other_until_both_have_signed(blind: Database) -> None:
    anna, ben = Hand(blind), Hand(blind, "ben")
    anna.say(EVENT, "accept")
    ben.say(EVENT, "reject")
    assert seen_by(blind, "anna") == {"anna"}
    assert seen_by(blind, "carl", "consensus") == set()
    anna.sign()
    ben.say("event:0:7-9", "reject")  # the signature of the other does not freeze this one
    for reader in ("anna", "ben"):
        assert seen_by(blind, reader) == {reader}
    ben.sign()
    assert both_signed(load_entries(blind, EXAM))
    for reader, role in (("anna", "reader"), ("ben", "reader"), ("carl", "consensus")):
        assert seen_by(blind, reader, role) == {"anna", "ben"}


def test_a_blind_reading_may_be_opened_again_only_before_the_other_is_seen(blind: Database) -> None:
    anna, ben = Hand(blind), Hand(blind, "ben")
    anna.sign()
    assert seen_by(blind, "anna") == {"anna"}
    anna.write("reopen", "exam", {"reason": "again"})
    ben.sign()
    assert seen_by(blind, "ben") == {"ben"}
    assert anna.sign().version == 2
    with pytest.raises(ConflictError, match="belongs in the consensus"):
        anna.write("reopen", "exam", {"reason": "I saw what ben said"})


def test_one_alone_does_not_open_a_blind_reading(blind: Database) -> None:
    Hand(blind).sign()
    assert not both_signed(load_entries(blind, EXAM))


def test_the_consensus_begins_when_both_have_signed(blind: Database) -> None:
    anna, ben, carl = Hand(blind), Hand(blind, "ben"), Hand(blind, "carl", "consensus")
    anna.say(EVENT, "accept")
    anna.sign()
    with pytest.raises(ConflictError, match="when both readers have signed"):
        carl.say(EVENT, "accept")
    ben.sign()
    carl.say(EVENT, "reject")
    entries = load_entries(blind, EXAM)
    own = own_reading(entries, way="blind", reader="dora", role="consensus")
    assert [entry.reader for entry in own] == ["carl"]
    with pytest.raises(ConflictError, match="was signed by anna"):
        anna.say(EVENT, "reject")


def test_two_read_an_exam_blind_and_no_third(blind: Database) -> None:
    Hand(blind).say(EVENT, "accept")
    Hand(blind, "ben").say(EVENT, "accept")
    with pytest.raises(ForbiddenError, match="two others"):
        Hand(blind, "carl").say(EVENT, "accept")
    Hand(blind, "carl", exam="exam-2").say(EVENT, "accept")


def test_a_blind_reader_cannot_undo_what_the_other_did(blind: Database) -> None:
    Hand(blind).say(EVENT, "accept")
    with pytest.raises(ConflictError, match="no entry 1"):  # and does not learn that it is there
        Hand(blind, "ben").undo(1)
