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

from capsieve.decisions.agreement import compare
from capsieve.decisions.backup import backup
from capsieve.decisions.database import Database, open_database, read_workflow
from capsieve.decisions.export import decisions_csv, labels_csv, reading_labels
from capsieve.decisions.log import exams_with_entries, load_entries, missing_entries
from capsieve.decisions.model import Cleanliness, ConflictError, Landmark, Urgent
from capsieve.decisions.reading import Reading, fold
from capsieve.decisions.signing import check_signatures
from capsieve.decisions.viewed import count_frames, load_viewed, unreadable
from capsieve.decisions.workflow import statement, visible
from capsieve.errors import CapsieveError
from capsieve.review.catalogue import ExamFacts
from capsieve.review.sessions import Reader
from capsieve.review.summaries import Summaries
from decisions.hands import EVENT, EVENTS, EXAM, IDENTITY, OTHER, Hand, decision
from support.readings import polyp, tamper

ENTRY_COLUMNS = (
    *("number", "action", "key", "exam", "revision", "reader", "role", "screening", "time"),
    *("kind", "content"),
)


def write_everything(database: Database) -> None:
    """Write every kind of entry, sign, reopen, and sign again."""
    hand = Hand(database)
    hand.act(polyp("f1", 2), decision(EVENT, "accept", finding="finding:f1"))
    hand.act(Landmark(subject="landmark:caecum", head=0, frame=3))
    hand.act(Cleanliness(subject="segment:right", grade=2))
    note = hand.note("fine")
    hand.act(Urgent(text="call"))
    hand.undo(note.action)
    hand.see(1, 2, viewed=(2,))
    hand.sign()
    hand.reopen()
    hand.decide(OTHER, "reject")
    hand.see(7)
    hand.sign()


LAST = 11


@pytest.fixture
def written(sqlite: Database) -> Database:
    write_everything(sqlite)
    return sqlite


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with everything in it, to be copied."""
    path = tmp_path_factory.mktemp("stored") / "decisions.sqlite"
    database = open_database(path)
    write_everything(database)
    database.close()
    return path


def reading_of(database: Database) -> Reading:
    return fold(load_entries(database, EXAM), reader="anna", screening="screening-1")


def change(database: Database, *statements: Any) -> None:
    tamper(Path(database.where), *statements)


def summary(database: Database) -> Any:
    facts = ExamFacts(EXAM, Path(), "", readable=False, complete=True, problems=())
    summaries = Summaries(database, workflow="single")
    return summaries.summaries([facts], Reader("anna", "reader"))[0]


def read_paths(database: Database) -> list[Callable[[], Any]]:
    """Everything that reads decisions, each apart."""

    def entries() -> Any:
        return load_entries(database, EXAM)

    single: Any = {"workflow": "single", "reader": "anna", "role": "reader"}
    blind: Any = single | {"workflow": "blind"}
    return [
        lambda: summary(database),
        lambda: reading_of(database).model_dump_json().encode(),
        lambda: fold(entries(), revision=1),
        lambda: [entry.model_dump_json().encode() for entry in entries()],
        lambda: visible(entries(), **blind),
        lambda: statement(entries(), **single),
        lambda: decisions_csv(entries()).encode(),
        lambda: labels_csv([reading_labels(reading_of(database), exam=EXAM, events=EVENTS)]),
        lambda: compare(reading_of(database), fold(()), events=EVENTS),
        lambda: count_frames(load_viewed(database, EXAM, "screening-1"), {0: 50, 1: 50}),
        lambda: check_signatures(database, EXAM, identity=IDENTITY),
        lambda: missing_entries(database),
        lambda: exams_with_entries(database),
        lambda: read_workflow(database),
        lambda: Hand(database, "ben").reopen("look"),
        lambda: Hand(database, "ben").decide(EVENT, "reject"),
        lambda: Hand(database, "ben").see(3),
        lambda: Hand(database, "ben").sign(),
        lambda: backup(database.where, Path(database.where).with_name("copy")),
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


@st.composite
def cells(draw: st.DrawFn) -> Callable[[Any], Any]:
    """Return a way to damage a cell."""
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
@given(column=st.integers(0, 10), row=st.integers(0, 20), damage=cells(), as_text=st.booleans())
def test_one_damaged_cell_hides_nothing_else_and_breaks_the_signature(
    stored: Path, tmp_path: Path, column: int, row: int, damage: Any, as_text: bool
) -> None:
    path = tmp_path / "decisions.sqlite"
    for old in tmp_path.iterdir():
        old.unlink()
    shutil.copy(stored, path)
    database = open_database(path)
    try:
        name = ENTRY_COLUMNS[column % len(ENTRY_COLUMNS)]
        with database.read() as connection:
            rows = connection.exec_driver_sql(
                f"SELECT number, {name} FROM capsieve_entries"
            ).fetchall()
        number, before = rows[row % len(rows)]
        new = damage(before)
        if name == "number":
            new = 100 + len(str(new))
        assume(new != before and str(new) != str(before))
        # Text that is not UTF-8 is stored as text only by a cast.
        put = "CAST(? AS TEXT)" if as_text and isinstance(new, bytes) else "?"
        change(
            database,
            (f"UPDATE capsieve_entries SET {name} = {put} WHERE number = ?", (new, number)),
        )
        checks = list(check_signatures(database, EXAM, identity=IDENTITY).values())
        assert len(checks) < 2 or checks[-1]
        for read in read_paths(database):
            with contextlib.suppress(CapsieveError):  # one sentence, and no other error
                read()
    finally:
        database.close()


@pytest.mark.parametrize(
    "name", ["statement", "displayed_frames", "frames", "entries", "viewed", "parts", "hash"]
)
def test_a_signature_that_lacks_a_field_does_not_hold_and_closes_the_exam(
    written: Database, name: str
) -> None:
    last = load_entries(written, EXAM)[-1].number
    change(
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
    assert not first
    assert "cannot be checked" in second[0]
    assert summary(written).state == "signed"


def test_a_signature_of_a_newer_version_cannot_be_checked(written: Database) -> None:
    change(
        written,
        "UPDATE capsieve_entries SET content = json_set(content, '$.seal', 'x') "
        f"WHERE number = {LAST}",
    )
    [_, second] = check_signatures(written, EXAM, identity=IDENTITY).values()
    assert "another version of capsieve" in second[0]


@pytest.mark.parametrize(
    "what",
    [
        "content = '{'",
        "content = '[]'",
        "content = '{\"decision\": NaN}'",
        'content = \'{"kind":"note","subject":"exam","text":"\\ud800"}\'',
        "content = x'00ff'",
        "content = CAST(x'ff' AS TEXT)",
        "content = replace(content, 'accept', 'perhaps')",
        "content = json_remove(content, '$.finding')",
        "content = replace(content, ':', ': ')",
        "kind = 'opinion'",
        "kind = 'finding'",
        f"content = replace(content, '{EVENT}', 'polyp:1')",
        f"content = replace(content, '{EVENT}', 'exam')",
        "role = 'wizard'",
        "revision = 'two'",
        "action = 99",
        "reader = x'01'",
        "screening = ''",
    ],
)
def test_a_bad_row_is_reported_and_counts_for_nothing(written: Database, what: str) -> None:
    change(written, f"UPDATE capsieve_entries SET {what} WHERE number = 2")
    reading = reading_of(written)
    assert EVENT not in reading.decisions
    assert [finding.subject for finding in reading.findings] == ["finding:f1"]
    [problem] = reading.problems
    assert problem.startswith("entry 2 (")
    rows = list(csv.DictReader(io.StringIO(decisions_csv(load_entries(written, EXAM)))))
    assert (rows[1]["number"], rows[1]["stands"]) == ("2", "no")
    assert rows[1]["problem"]


def test_what_is_stored_is_exported_even_if_it_is_no_json(written: Database) -> None:
    change(written, "UPDATE capsieve_entries SET content = 'polyp!' WHERE number = 1")
    first = next(csv.DictReader(io.StringIO(decisions_csv(load_entries(written, EXAM)))))
    assert first["content"] == "polyp!"


def test_an_undo_that_cannot_be_read_undoes_nothing(written: Database) -> None:
    assert reading_of(written).notes == ()
    change(written, "UPDATE capsieve_entries SET content = '{}' WHERE kind = 'undo'")
    assert len(reading_of(written).notes) == 1


def test_a_row_with_another_number_does_not_make_up_for_a_missing_one(written: Database) -> None:
    change(written, "UPDATE capsieve_entries SET number = -5 WHERE number = 3")
    assert missing_entries(written) == 1


def test_nothing_is_signed_that_cannot_be_read(sqlite: Database) -> None:
    hand = Hand(sqlite)
    hand.decide(EVENT, "accept")
    change(sqlite, "UPDATE capsieve_entries SET content = '{}' WHERE number = 1")
    with pytest.raises(ConflictError, match="signed if all of it can be read, and entry 1"):
        hand.sign()


@pytest.mark.parametrize(
    "what", ["displayed = x'00'", "viewed = 'text'", "frames = -1", "frames = 1e300"]
)
def test_damaged_bitmaps_are_reported_and_nothing_is_signed_over_them(
    sqlite: Database, what: str
) -> None:
    hand = Hand(sqlite)
    hand.decide(EVENT, "accept")
    hand.see(1)
    hand.see(2, head=1)
    change(sqlite, f"UPDATE capsieve_viewed SET {what} WHERE head = 0")
    bitmaps = load_viewed(sqlite, EXAM, "screening-1")
    assert count_frames(bitmaps) == (1, 0)
    [problem] = unreadable(bitmaps)
    assert "anna" in problem
    with pytest.raises(ConflictError, match="displayed to anna"):
        hand.sign()
    hand.see(4)  # what is displayed again is stored anew
    assert count_frames(load_viewed(sqlite, EXAM, "screening-1")) == (2, 0)
