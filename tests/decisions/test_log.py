"""Actions are stored at once, once, and in one order for all."""

from typing import Any

import pytest

from capsieve.decisions.database import Database
from capsieve.decisions.log import (
    append,
    changes_after,
    exams_with_entries,
    last_number,
    load_entries,
    missing_entries,
)
from capsieve.decisions.model import ConflictError, EntryError, ForbiddenError, Note, Undo
from capsieve.decisions.reading import fold
from decisions.hands import EVENT, EXAM, OTHER, Hand, decision
from support.readings import polyp


@pytest.fixture
def anna(database: Database) -> Hand:
    return Hand(database)


def test_what_was_written_is_what_is_read(database: Database, anna: Hand) -> None:
    finding = polyp("f1", 3, note="Größe — 大 'quoted' \"\\ 😀", place={"row": 1.5, "col": 2})
    written = [
        *anna.act(finding, decision(EVENT, "accept", finding="finding:f1")),
        anna.note("line\nbreak"),
        anna.undo(1),
    ]
    assert load_entries(database, EXAM) == written
    assert [entry.number for entry in written] == [1, 2, 3, 4]
    assert [entry.action for entry in written] == [1, 1, 3, 4]
    assert {entry.screening for entry in written} == {"screening-1"}


def test_the_server_tells_the_time(database: Database, anna: Hand) -> None:
    note = Note(subject="exam", text="hello")
    now = "2026-03-01T12:00:00.000Z"
    [entry] = append(database, anna.writer, "key-0001", [note], now=lambda: now)
    assert entry.time == now


def test_the_same_action_sent_twice_is_stored_once(database: Database, anna: Hand) -> None:
    contents = (polyp("f1", 2), decision(EVENT, "accept", finding="finding:f1"))
    first = anna.act(*contents, key="the-key-1")
    anna.decide(EVENT, "reject")
    assert anna.act(*contents, key="the-key-1") == first
    assert last_number(database) == 3


def test_an_action_sent_again_after_the_signature_is_still_known(anna: Hand) -> None:
    contents = (decision(EVENT, "accept"),)
    first = anna.act(*contents, key="the-key-1")
    taken = anna.act(Undo(action=1), key="the-key-2")
    statement, last = anna.statement(), 2
    signed = anna.sign(key="the-key-3", statement=statement, last=last)
    assert anna.act(*contents, key="the-key-1") == first
    assert anna.act(Undo(action=1), key="the-key-2") == taken
    assert anna.sign(key="the-key-3", statement=statement, last=last) == signed


@pytest.mark.parametrize(
    "contents",
    [
        (decision(EVENT, "reject"),),
        (decision(OTHER, "accept"),),
        (Note(subject="exam", text="hello"),),
        (decision(EVENT, "accept"), Note(subject="exam", text="hello")),
    ],
)
def test_a_key_belongs_to_one_action(anna: Hand, contents: Any) -> None:
    anna.act(decision(EVENT, "accept"), key="the-key-1")
    with pytest.raises(ConflictError, match="another action"):
        anna.act(*contents, key="the-key-1")


def test_a_key_belongs_to_one_reader_and_one_exam(database: Database, anna: Hand) -> None:
    anna.act(decision(EVENT, "accept"), key="the-key-1")
    for other in (Hand(database, "ben"), Hand(database, exam="exam-2")):
        with pytest.raises(ConflictError, match="another action"):
            other.act(decision(EVENT, "accept"), key="the-key-1")


@pytest.mark.parametrize("key", ["", "short", "x" * 101, "with/slash", "with blank"])
def test_a_key_is_a_plain_word(anna: Hand, key: str) -> None:
    with pytest.raises(EntryError, match="key"):
        append(anna.database, anna.writer, key, [Note(subject="exam", text="x")])


def test_asking_for_later_entries_misses_nothing(database: Database, anna: Hand) -> None:
    other = Hand(database, exam="exam-2")
    written = [hand.decide(EVENT, "accept") for hand in (anna, other, anna)]
    assert load_entries(database, EXAM, after=1) == [written[2]]
    assert changes_after(database, 0) == [(1, EXAM), (2, "exam-2"), (3, EXAM)]
    assert changes_after(database, 2) == [(3, EXAM)]
    assert missing_entries(database) == 0


def test_the_exams_with_entries_and_whether_they_are_signed(database: Database, anna: Hand) -> None:
    other = Hand(database, exam="exam-2")
    for hand in (anna, other):
        hand.decide(EVENT, "accept")
    other.sign()
    assert exams_with_entries(database) == {EXAM: False, "exam-2": True}
    other.reopen()
    assert exams_with_entries(database) == {EXAM: False, "exam-2": False}


def test_one_undoes_only_ones_own_actions(database: Database, anna: Hand) -> None:
    anna.decide(EVENT, "accept")
    with pytest.raises(ForbiddenError, match="of anna"):
        Hand(database, "ben").undo(1)


def test_undoing_twice_is_refused_and_an_undo_can_be_undone(anna: Hand) -> None:
    def decisions() -> Any:
        return fold(load_entries(anna.database, EXAM)).decisions

    anna.decide(EVENT, "accept")
    anna.undo(1)
    with pytest.raises(ConflictError, match="undone already"):
        anna.undo(1)
    anna.undo(2)
    assert EVENT in decisions()
    anna.undo(1)
    assert EVENT not in decisions()


def test_an_undo_reaches_neither_other_exams_nor_nothing(database: Database, anna: Hand) -> None:
    anna.decide(EVENT, "accept")
    with pytest.raises(ConflictError, match="no action 1"):
        Hand(database, exam="exam-2").undo(1)
    with pytest.raises(ConflictError, match="no action 7"):
        anna.undo(7)


def test_a_signed_exam_takes_nothing_but_a_reopening(anna: Hand) -> None:
    anna.decide(EVENT, "accept")
    signed = anna.sign()
    for refused in (lambda: anna.decide(EVENT, "reject"), lambda: anna.undo(1), anna.note,
                    anna.sign):  # fmt: skip
        with pytest.raises(ConflictError, match=r"was signed by anna .* reopen it"):
            refused()
    opened = anna.reopen("a second look")
    later = anna.decide(EVENT, "reject")
    assert [entry.revision for entry in (signed, opened, later)] == [1, 2, 2]
    with pytest.raises(ConflictError, match="cannot be undone"):
        anna.undo(signed.action)
    assert anna.sign().revision == 2


def test_only_a_signed_exam_is_reopened(anna: Hand) -> None:
    with pytest.raises(ConflictError, match="is open"):
        anna.reopen()


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 256, "\ud800"])
def test_names_fit_on_a_line(database: Database, name: str) -> None:
    with pytest.raises(EntryError, match="reader"):
        Hand(database, name).decide(EVENT, "accept")
