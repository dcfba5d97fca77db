import sqlite3

import pytest

from capsieve.review.decisions.database import Database
from capsieve.review.decisions.log import load_entries
from capsieve.review.decisions.reading import Reading, fold
from capsieve.review.decisions.refusals import ConflictError
from capsieve.review.decisions.room import Room, change_room
from capsieve.review.decisions.screenings import load_foreign
from review.decisions.made_entries import EXAM, FINDING, Hand, tamper

EVENT, OTHER = "event:0:1-5", "event:0:7-9"
OLD, NEW = "screening-1", "screening-2"


def foreign(database: Database, screening: str) -> set[int]:
    entries = load_entries(database, EXAM)
    return set(load_foreign(database, entries, exam=EXAM, screening=screening))


def read(database: Database, screening: str = NEW) -> Reading:
    return fold(load_entries(database, EXAM), reader="anna", foreign=foreign(database, screening))


def test_each_entry_belongs_to_the_screening_that_it_was_made_on(database: Database) -> None:
    anna = Hand(database)
    for screening in (OLD, OLD, NEW, OLD):
        anna.screening = screening
        anna.say(EVENT, "accept")
        Hand(database, exam="exam-2").say(EVENT, "accept")  # another exam's screening is its own
    assert foreign(database, OLD) == {5}
    assert foreign(database, NEW) == {1, 3, 7}
    assert foreign(database, "a third") == {1, 3, 5, 7}


def test_nothing_is_said_of_entries_from_before_screenings_were_noted(sqlite: Database) -> None:
    anna = Hand(sqlite)
    anna.say(EVENT, "accept")
    tamper(sqlite, "DELETE FROM capsieve_screenings")
    anna.screening = NEW
    anna.say(OTHER, "accept")
    assert foreign(sqlite, NEW) == set()
    assert foreign(sqlite, OLD) == {2}


@pytest.mark.parametrize("change", ["screening = x'ff'", "entry = 'none', screening = 5"])
def test_a_damaged_note_is_told_and_hides_nothing(sqlite: Database, change: str) -> None:
    anna = Hand(sqlite)
    anna.say(EVENT, "accept")
    other = sqlite3.connect(sqlite.where)  # without checks of foreign keys
    other.execute("DROP TRIGGER capsieve_screenings_update")
    other.execute(f"UPDATE capsieve_screenings SET {change}")
    other.commit()
    other.close()
    assert read(sqlite, OLD).verdicts[EVENT].verdict == "accept"
    assert read(sqlite, OLD).foreign
    anna.say(EVENT, "accept")
    assert not read(sqlite, OLD).foreign


def test_a_reading_of_one_screening_is_not_signed_as_one_of_another(database: Database) -> None:
    anna = Hand(database)
    anna.say(EVENT, "accept")
    anna.say(OTHER, "reject")
    anna.screening = NEW
    assert read(database).to_json()["problems"] == [read(database).foreign]
    with pytest.raises(ConflictError, match=r"2 decisions .* another screening .* by anna; take"):
        anna.sign()
    anna.undo(2)
    with pytest.raises(ConflictError, match="one decision was made on another screening"):
        anna.sign()
    anna.say(EVENT, "accept")
    assert not read(database).foreign
    anna.sign()


def test_a_signature_of_the_screening_that_was_read_is_no_trouble(sqlite: Database) -> None:
    anna = Hand(sqlite)
    anna.say(EVENT, "accept")
    anna.sign()
    assert not read(sqlite, OLD).foreign
    assert "what was signed is that screening" in read(sqlite, NEW).foreign


@pytest.mark.parametrize(
    ("kind", "subject", "said", "unsaid"),
    [
        ("verdict", EVENT, {"verdict": "accept"}, {"verdict": None}),
        ("finding", "finding:f1", FINDING, {"removed": True}),
        ("landmark", "landmark:caecum", {"head": 0, "frame": 3}, {"removed": True}),
        ("cleanliness", "segment:left", {"grade": 2}, {"grade": None}),
        ("urgent", "exam", {"urgent": True}, {"urgent": False}),
    ],
)
def test_what_was_withdrawn_on_the_old_screening_does_not_count(
    sqlite: Database, kind: str, subject: str, said: dict, unsaid: dict
) -> None:
    anna = Hand(sqlite)
    anna.write(kind, subject, said)
    assert read(sqlite).foreign
    anna.write(kind, subject, unsaid)
    assert not read(sqlite).foreign


def test_notes_count_and_are_taken_back(sqlite: Database) -> None:
    anna = Hand(sqlite)
    note = anna.write("note", "exam", {"text": "clean"})
    anna.screening = NEW
    anna.write("note", "exam", {"text": "not so clean"})
    assert "one decision" in read(sqlite).foreign
    anna.undo(note.number)
    assert not read(sqlite).foreign


def test_an_answer_to_a_decision_counts_too(sqlite: Database) -> None:
    change_room(sqlite, Room("validated"), reader="anna")
    pre, vera = Hand(sqlite, "anna", "pre-reader"), Hand(sqlite, "vera", "validator")
    pre.write("finding", "finding:f1", FINDING)
    vera.write("confirm", "finding:f1", {"agrees": True})
    assert "2 decisions" in read(sqlite).foreign
    assert "anna, vera" in read(sqlite).foreign
    vera.screening = NEW
    vera.write("finding", "finding:f1", FINDING)
    vera.sign()


def test_what_an_earlier_version_decided_can_be_taken_back_one_by_one(sqlite: Database) -> None:
    anna = Hand(sqlite)
    anna.say(EVENT, "accept")
    anna.say(OTHER, "accept")
    anna.sign()
    anna.screening = NEW
    anna.write("reopen", "exam", {"reason": "screened anew"})
    with pytest.raises(ConflictError, match="2 decisions"):
        anna.sign()
    for number in (2, 1):
        assert read(sqlite).undoable == number
        anna.undo(number)
    assert read(sqlite).undoable is None
    anna.sign()


def test_the_same_screening_offers_no_undo_over_a_signature(sqlite: Database) -> None:
    anna = Hand(sqlite)
    anna.say(EVENT, "accept")
    anna.sign()
    anna.write("reopen", "exam", {"reason": "again"})
    assert read(sqlite, OLD).undoable is None
