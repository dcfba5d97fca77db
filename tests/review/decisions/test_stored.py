"""Rows that make no sense: damaged, tampered with, or of a newer version."""

import contextlib
import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from capsieve.errors import CapsieveError, FileError
from capsieve.review.catalogue import ExamFacts
from capsieve.review.decisions.access import visible
from capsieve.review.decisions.agreement import compare
from capsieve.review.decisions.database import Database, open_database
from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.export import decisions_csv, findings_csv
from capsieve.review.decisions.export_labels import labels_csv, reading_labels
from capsieve.review.decisions.log import load_entries, missing_entries
from capsieve.review.decisions.reading import Reading, fold
from capsieve.review.decisions.refusals import ConflictError, EntryError
from capsieve.review.decisions.room import Room, change_room, read_room
from capsieve.review.decisions.sealing import check_signatures
from capsieve.review.decisions.seen import add_seen, add_up, load_seen, unreadable_batches
from capsieve.review.decisions.subjects import FlaggedEvent
from capsieve.review.sessions import Reader
from capsieve.review.summaries import Summaries
from review.decisions.made_entries import EXAM, FINDING, IDENTITY, Hand, tamper

EVENTS = [FlaggedEvent(0, (1, 2, 5)), FlaggedEvent(0, (7, 9))]
WHOSE = ("number", "key", "exam", "version", "reader", "role", "time")
COLUMNS = {
    "capsieve_entries": (*WHOSE, "kind", "subject", "content", "undoes"),
    "capsieve_seen": (*WHOSE, "head", "frames"),
}


def write_everything(database: Database) -> None:
    """Write every kind of entry, sign, open again, and sign again."""
    hand = Hand(database)
    hand.say("event:0:1-5", "accept")
    hand.write("finding", "finding:f1", FINDING)
    hand.write("landmark", "landmark:caecum", {"head": 0, "frame": 3})
    hand.write("cleanliness", "segment:right", {"grade": 2})
    hand.write("note", "exam", {"text": "fine"})
    hand.write("urgent", "exam", {"urgent": True, "text": "call"})
    hand.undo(5)
    add_seen(database, **hand.who, key="batch-01", head=0, frames=[[1, 40], [2, 30]])
    hand.sign()
    hand.write("reopen", "exam", {"reason": "again"})
    hand.say("event:0:7-9", "reject")
    add_seen(database, **hand.who, key="batch-02", head=0, frames=[[7, 40]])
    hand.sign()


@pytest.fixture
def written(sqlite: Database) -> Database:
    write_everything(sqlite)
    return sqlite


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of SQLite with everything in it, to be copied."""
    path = tmp_path_factory.mktemp("kept") / "decisions.sqlite"
    database = open_database(path)
    write_everything(database)
    database.close()
    return path


def reading_of(database: Database) -> Reading:
    return fold(load_entries(database, EXAM), reader="anna")


def summary(database: Database) -> Any:
    facts = ExamFacts(EXAM, Path(), "", readable=False, complete=True, problems=())
    summaries = Summaries(database, way="single")
    summaries.follow()
    return summaries.summary(facts, Reader("anna", "reader"))


def read_paths(database: Database) -> list[Callable[[], Any]]:
    """Everything that reads decisions, each apart."""

    def entries() -> list[Entry]:
        return load_entries(database, EXAM)

    return [
        lambda: summary(database),
        lambda: json.dumps(reading_of(database).to_json(), allow_nan=False).encode(),
        lambda: fold(entries(), version=1).to_json(),
        lambda: [json.dumps(entry.to_json()).encode() for entry in entries()],
        lambda: visible(entries(), way="blind", reader="anna", role="reader"),
        lambda: decisions_csv(entries()).encode(),
        lambda: findings_csv([reading_of(database)]).encode(),
        lambda: labels_csv([reading_labels(reading_of(database), exam=EXAM, events=EVENTS)]),
        lambda: compare(reading_of(database), fold(()), events=EVENTS).to_json(),
        lambda: add_up(load_seen(database, EXAM)),
        lambda: check_signatures(database, EXAM, identity=IDENTITY),
        lambda: missing_entries(database),
        lambda: read_room(database),
        lambda: Hand(database, "ben").write("reopen", "exam", {"reason": "look"}),
        lambda: Hand(database, "ben").say("event:0:1-5", "reject"),
        lambda: Hand(database, "ben").sign(),
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


@st.composite
def cells(draw: st.DrawFn) -> Callable[[Any], Any]:
    """Return a way to damage what stands in a cell."""
    way = draw(st.sampled_from(["value", "json", "field", "lost", "cut", "bytes", "letter"]))
    value = draw(st.text(max_size=8) | st.integers(-3, 2**60) | st.binary(max_size=8))
    said, place = draw(JSON), draw(st.integers(0, 10_000))

    def damage(stored: Any) -> Any:
        text = str(stored)
        if way == "json":
            return json.dumps(said)
        if way in ("field", "lost") and text.startswith("{"):
            content = json.loads(text)
            name = sorted(content)[place % len(content)] if content else "new"
            if way == "lost":
                content.pop(name, None)
            else:
                content[name] = said
            return json.dumps(content, sort_keys=True, separators=(",", ":"))
        if way == "cut":
            return text[: place % (len(text) + 1)]
        if way == "bytes":
            return text.encode() + b"\xff"
        if way == "letter" and text:
            at = place % len(text)
            return text[:at] + chr(33 + place % 90) + text[at + 1 :]
        return value

    return damage


@pytest.mark.slow
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    table=st.sampled_from(sorted(COLUMNS)), column=st.integers(0, 10), row=st.integers(0, 20),
    damage=cells(), as_text=st.booleans(),
)  # fmt: skip
def test_one_damaged_cell_takes_nothing_down_and_breaks_the_signature(
    kept: Path, tmp_path: Path, table: str, column: int, row: int, damage: Any, as_text: bool
) -> None:
    path = tmp_path / "decisions.sqlite"
    for old in tmp_path.iterdir():
        old.unlink()
    shutil.copy(kept, path)
    database = open_database(path)
    try:
        name = COLUMNS[table][column % len(COLUMNS[table])]
        with database.read() as connection:
            rows = connection.exec_driver_sql(f"SELECT number, {name} FROM {table}").fetchall()
        number, stored = rows[row % len(rows)]
        new = damage(stored)
        if name == "number":
            new = 100 + len(str(new))
        assume(new != stored and str(new) != str(stored))
        # Text that is no UTF-8 is stored as text only by a cast.
        put = "CAST(? AS TEXT)" if as_text and isinstance(new, bytes) else "?"
        tamper(database, (f"UPDATE {table} SET {name} = {put} WHERE number = ?", (new, number)))
        checks = list(check_signatures(database, EXAM, identity=IDENTITY).values())
        assert len(checks) < 2 or not checks[-1].holds
        for read in read_paths(database):
            with contextlib.suppress(CapsieveError):  # one sentence, and no other error
                read()
    finally:
        database.close()


SIGNED = ("statement", "seen_frames", "frames", "entries", "seen_through", "parts", "hash")


@pytest.mark.parametrize("name", SIGNED)
def test_a_signature_that_lacks_a_field_is_one_that_does_not_hold(
    written: Database, name: str
) -> None:
    last = load_entries(written, EXAM)[-1].number
    tamper(
        written,
        f"UPDATE capsieve_entries SET content = json_remove(content, '$.{name}') "
        f"WHERE number = {last}",
    )
    reading = reading_of(written)
    assert reading.state == "signed"
    assert reading.signature is not None
    assert len(reading.problems) == 1
    assert f"entry {last} (sign" in reading.problems[0]
    assert "counts for nothing" not in reading.problems[0]
    [first, second] = check_signatures(written, EXAM, identity=IDENTITY).values()
    assert first.holds
    assert "cannot be checked" in second.problems[0]
    assert summary(written).state == "signed"


def test_a_signature_of_a_newer_version_cannot_be_checked(written: Database) -> None:
    tamper(
        written,
        "UPDATE capsieve_entries SET content = json_set(content, '$.seal', 'x') WHERE number = 11",
    )
    [_, second] = check_signatures(written, EXAM, identity=IDENTITY).values()
    assert "another version of capsieve" in second.problems[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("content = '{'", "no JSON"),
        ("content = '[]'", "no object"),
        ("content = '{\"verdict\": NaN}'", "no JSON"),
        ('content = \'{"verdict": "\\ud800"}\'', "no JSON"),
        ("content = x'00ff'", "no JSON"),
        ("content = CAST(x'ff' AS TEXT)", "no JSON"),
        ('content = \'{"verdict":"perhaps"}\'', "verdict must be one of"),
        ('content = \'{"verdict":"accept"}\'', "fields are missing"),
        ("kind = 'opinion'", "there is no kind"),
        ("subject = 'polyp:1'", "names nothing"),
        ("subject = 'exam'", "speaks of"),
        ("role = 'wizard'", "nobody works as"),
        ("version = 'two'", "version must be"),
        ("undoes = 1", "undoes nothing"),
        ("reader = x'01'", "reader must be a text"),
    ],
)
def test_a_bad_row_is_told_and_counts_for_nothing(
    written: Database, change: str, words: str
) -> None:
    tamper(written, f"UPDATE capsieve_entries SET {change} WHERE number = 1")
    reading = reading_of(written)
    assert "event:0:1-5" not in reading.verdicts
    assert [finding.id for finding in reading.findings] == ["f1"]
    [problem] = reading.problems
    assert problem.startswith("entry 1 (")
    assert words in problem
    first = next(csv.DictReader(io.StringIO(decisions_csv(load_entries(written, EXAM)))))
    assert (first["number"], first["stands"]) == ("1", "no")
    assert words in first["problem"]


def test_what_is_stored_is_exported_even_where_it_is_no_json(written: Database) -> None:
    tamper(written, "UPDATE capsieve_entries SET content = 'polyp!' WHERE number = 1")
    first = next(csv.DictReader(io.StringIO(decisions_csv(load_entries(written, EXAM)))))
    assert json.loads(first["content"]) == {"stored": "polyp!"}


def test_an_undo_that_cannot_be_read_takes_nothing_back(written: Database) -> None:
    assert reading_of(written).notes == ()
    tamper(written, "UPDATE capsieve_entries SET undoes = 9 WHERE kind = 'undo'")
    assert [note.text for note in reading_of(written).notes] == ["fine"]


def test_a_row_with_another_number_does_not_make_up_for_a_missing_one(written: Database) -> None:
    tamper(written, "UPDATE capsieve_entries SET number = -5 WHERE number = 3")
    assert missing_entries(written) == 1


def test_nothing_is_signed_that_cannot_be_read(sqlite: Database) -> None:
    hand = Hand(sqlite)
    hand.say("event:0:1-5", "accept")
    tamper(sqlite, "UPDATE capsieve_entries SET content = '{}' WHERE number = 1")
    with pytest.raises(ConflictError, match="signed when all of it can be read, and entry 1"):
        hand.sign()


def test_nothing_is_signed_over_a_ledger_that_cannot_be_read(sqlite: Database) -> None:
    hand = Hand(sqlite)
    hand.say("event:0:1-5", "accept")
    add_seen(sqlite, **hand.who, key="batch-01", head=0, frames=[[1, 40]])
    tamper(sqlite, "UPDATE capsieve_seen SET frames = '[[1]]'")
    with pytest.raises(ConflictError, match="batch 1 of the frames seen"):
        hand.sign()


@pytest.mark.parametrize(
    "frames",
    ["", "[", "{}", "[1, 2]", "[[1]]", "[[1, -2]]", "[[-1, 2]]", "[[1, NaN]]", "[[1e400,2]]"],
)
def test_a_bad_batch_is_told_and_the_others_count(written: Database, frames: str) -> None:
    tamper(written, ("UPDATE capsieve_seen SET frames = ? WHERE number = 1", (frames,)))
    batches = load_seen(written, EXAM)
    assert add_up(batches)[0] == {7: 40.0}
    [problem] = unreadable_batches(batches)
    assert problem.startswith("batch 1 of the frames seen (of anna")


@pytest.mark.parametrize("stored", ["{", "{}", '{"way":"free"}', '{"way":["blind"]}', "[]"])
def test_a_room_whose_way_cannot_be_read_shows_nothing(sqlite: Database, stored: str) -> None:
    change_room(sqlite, Room("blind"), reader="anna")
    tamper(sqlite, ("UPDATE capsieve_room SET settings = ?", (stored,)))
    with pytest.raises(FileError, match="how people work in this room"):
        read_room(sqlite)


@pytest.mark.parametrize("value", ["", "one", "-1", "1.0"])
def test_a_database_without_a_version_is_not_taken_for_a_new_one(
    sqlite: Database, value: str
) -> None:
    tamper(sqlite, ("UPDATE capsieve_about SET value = ? WHERE name = 'schema'", (value,)))
    with pytest.raises(FileError, match="which version"):
        open_database(sqlite.where)


def test_a_number_too_large_for_a_place_is_refused(sqlite: Database) -> None:
    content = FINDING | {"place": {"row": 10**400, "col": 1}}
    with pytest.raises(EntryError, match="finite"):
        Hand(sqlite).write("finding", "finding:f1", content)
