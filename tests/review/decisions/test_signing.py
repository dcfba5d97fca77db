import pytest

from capsieve.review.decisions.database import Database
from capsieve.review.decisions.log import missing_entries
from capsieve.review.decisions.refusals import ConflictError, EntryError
from capsieve.review.decisions.room import Room, change_room
from capsieve.review.decisions.sealing import check_signatures
from capsieve.review.decisions.seen import add_seen
from review.decisions.made_entries import EXAM, FINDING, IDENTITY, Hand, tamper


@pytest.fixture
def signed(sqlite: Database) -> Database:
    hand = Hand(sqlite)
    hand.say("event:0:1-5", "accept")
    hand.write("finding", "finding:f1", FINDING)
    add_seen(sqlite, **hand.who, key="batch-01", head=0, frames=[[1, 40], [2, 30]])
    hand.sign()
    return sqlite


def problems(database: Database) -> list[str]:
    [verification] = check_signatures(database, EXAM, identity=IDENTITY).values()
    return list(verification.problems)


def test_a_signature_holds_and_says_how_much_was_seen(database: Database) -> None:
    hand = Hand(database)
    hand.say("event:0:1-5", "accept")
    add_seen(database, **hand.who, key="batch-01", head=0, frames=[[1, 40], [2, 30], [3, 0]])
    entry = hand.sign(frames=100)
    assert (entry.content["seen_frames"], entry.content["frames"]) == (2, 100)
    assert len(entry.content["hash"]) == 64
    assert check_signatures(database, EXAM, identity=IDENTITY)[entry.number].holds


def test_looking_and_reading_on_do_not_break_it(signed: Database) -> None:
    hand = Hand(signed)
    add_seen(signed, **hand.who, key="batch-02", head=0, frames=[[1, 40]])
    Hand(signed, exam="exam-2").say("event:0:1-5", "reject")
    hand.write("reopen", "exam", {"reason": "again"})
    hand.say("event:0:1-5", "reject")
    second = hand.sign()
    found = check_signatures(signed, EXAM, identity=IDENTITY)
    assert [one.holds for one in found.values()] == [True, True]
    assert second.content["hash"] not in found


@pytest.mark.parametrize(
    "change",
    [
        "key = 'other-key'",
        "exam = 'exam-1', version = 2",
        "reader = 'Anna'",
        "role = 'validator'",
        "time = '2026-03-01T12:00:00.000Z'",
        "kind = 'note'",
        "subject = 'event:0:1-6'",
        "content = replace(content, 'accept', 'reject')",
        "content = content || ' '",
        "content = replace(content, ':', ': ')",
        "undoes = 2",
    ],
)
def test_any_change_of_an_entry_breaks_it(signed: Database, change: str) -> None:
    assert problems(signed) == []
    tamper(signed, f"UPDATE capsieve_entries SET {change} WHERE number = 1")
    assert problems(signed) == ["entries were changed after signing"]


def test_a_removed_entry_breaks_it(signed: Database) -> None:
    tamper(signed, "DELETE FROM capsieve_entries WHERE number = 2")
    assert problems(signed) == ["2 entries were signed, and 1 are there"]
    assert missing_entries(signed) == 1


@pytest.mark.parametrize(
    "change",
    [
        "reader = 'eve'",
        "time = '2026-03-01T12:00:00.000Z'",
        "version = 2",
        "content = replace(content, '\"seen_frames\":2', '\"seen_frames\":99')",
        "content = replace(content, 'I have read', 'I have not read')",
        "content = content || ' '",
        "content = '{'",
        "content = '[]'",
    ],
)
def test_any_change_of_the_signature_breaks_it(signed: Database, change: str) -> None:
    tamper(signed, f"UPDATE capsieve_entries SET {change} WHERE number = 3")
    assert "the signature" in problems(signed)[0]


def test_a_change_of_the_ledger_breaks_it(signed: Database) -> None:
    tamper(signed, "UPDATE capsieve_seen SET frames = replace(frames, '40', '41')")
    assert problems(signed) == ["the ledger of frames seen was changed after signing"]


def test_another_exam_under_the_same_name_breaks_it(signed: Database) -> None:
    for identity, word in (({**IDENTITY, "threshold": 38}, "differs"), (None, "cannot be read")):
        [found] = check_signatures(signed, EXAM, identity=identity).values()
        assert len(found.problems) == 1
        assert word in found.problems[0]


def test_an_entry_slipped_in_after_the_signature_is_told(signed: Database) -> None:
    tamper(
        signed,
        "INSERT INTO capsieve_entries SELECT 4, 'slipped-in', exam, version, reader, role, time, "
        "kind, subject, content, undoes FROM capsieve_entries WHERE number = 1",
    )
    assert problems(signed) == ["entry 4 was added after signing without opening the exam"]


def test_nothing_is_signed_that_the_signer_has_not_seen(sqlite: Database) -> None:
    anna, ben = Hand(sqlite), Hand(sqlite, "ben")
    last = anna.say("event:0:1-5", "accept").number
    ben.say("event:0:1-5", "reject")
    with pytest.raises(ConflictError, match="changed meanwhile"):
        anna.sign(last=last)
    anna.sign(last=last + 1)


def test_a_statement_is_needed(sqlite: Database) -> None:
    with pytest.raises(EntryError, match="statement is empty"):
        Hand(sqlite).sign(statement=" ")


def test_blind_signatures_are_over_ones_own_reading(sqlite: Database) -> None:
    change_room(sqlite, Room("blind"), reader="anna")
    anna, ben = Hand(sqlite), Hand(sqlite, "ben")
    anna.say("event:0:1-5", "accept")
    ben.say("event:0:1-5", "reject")
    anna.sign()
    ben.say("event:0:7-9", "reject")
    ben.sign()
    consensus = Hand(sqlite, "carl", "consensus")
    consensus.say("event:0:1-5", "accept")
    consensus.sign()
    found = check_signatures(sqlite, EXAM, identity=IDENTITY)
    assert [one.problems for one in found.values()] == [(), (), ()]
    tamper(
        sqlite,
        "UPDATE capsieve_entries SET content = replace(content, 'reject', 'accept') "
        "WHERE reader = 'ben' AND subject = 'event:0:7-9'",
    )
    found = check_signatures(sqlite, EXAM, identity=IDENTITY)
    assert [one.holds for one in found.values()] == [True, False, False]
