from pathlib import Path
from typing import Any

import pytest

from capsieve.report.ledger_table import ledger_columns, ledger_sums
from capsieve.report.range_table import range_rows
from capsieve.store.record import Record, read_record
from screened_exam import write_exam


@pytest.fixture
def record(tmp_path: Path) -> Record:
    write_exam(tmp_path / "exam", heads=2, undecodable=(20, 29))
    return read_record(tmp_path / "exam")


def as_numbers(counts: tuple[str, ...]) -> list[int]:
    return [int(each.replace(",", "")) for each in counts]


def test_the_parts_that_are_shown_add_up_to_the_total_in_every_column(record: Record) -> None:
    columns = ledger_columns(record)
    assert [name for name, _ in columns] == ["All frames", "Head 0", "Head 1"]
    sums = ledger_sums([ledger for _, ledger in columns], parameters=record["parameters"])
    assert all(each.adds_up for each in sums)
    for each in sums[1:]:
        total, *parts = (as_numbers(row.counts) for row in each.rows)
        assert total == [sum(column) for column in zip(*parts, strict=True)]


@pytest.mark.parametrize(
    ("declared", "missing", "names"),
    [
        (310, 10, ["Declared", "Missing", "Found"]),
        (290, 0, ["Declared", "Missing", "Beyond the declared", "Found"]),
        (305, 0, ["Declared", "Missing", "Left out", "Found"]),
        (None, 0, ["Declared", "Missing", "Found"]),
    ],
)
def test_what_was_declared_leads_to_what_was_found(
    record: Record, declared: int | None, missing: int, names: list[str]
) -> None:
    ledger: Any = record["heads"]["0"] | {"declared": declared, "missing": missing}
    rows = ledger_sums([ledger], parameters={})[0].rows
    assert [row.name for row in rows] == names
    if declared is not None:
        signs = {"": 1, "+": 1, "\N{MINUS SIGN}": -1, "=": 0}
        assert sum(signs[row.sign] * as_numbers(row.counts)[0] for row in rows) == 300


def test_frames_that_were_not_screened_are_a_part_of_those_found(record: Record) -> None:
    ledgers: list[Any] = [ledger for _, ledger in ledger_columns(record)]
    names = [row.name for row in ledger_sums(ledgers, parameters={})[1].rows]
    assert names == ["Found", "Decoded", "Undecodable"]
    for ledger in (ledgers[0], ledgers[2]):
        ledger["unscreened"] = 7
        ledger["found"] += 7
    found = ledger_sums(ledgers, parameters={})[1]
    assert found.rows[-1].name == "Not screened"
    assert found.rows[-1].counts == ("7", "0", "7")
    assert found.adds_up


def test_a_record_that_does_not_know_unscreened_frames_adds_up(record: Record) -> None:
    ledger: Any = record["heads"]["0"]
    del ledger["unscreened"]
    assert all(each.adds_up for each in ledger_sums([ledger], parameters={}))


def test_an_unknown_reason_is_shown_by_its_name(record: Record) -> None:
    ledger: Any = record["heads"]["0"]
    ledger["rejected"]["too-odd"] = 4
    scored = ledger_sums([ledger], parameters={})[3]
    assert scored.rows[-1].name == "too-odd"
    assert not scored.adds_up


@pytest.mark.parametrize(
    ("median", "drawn"),
    [(5.0, 'class="median inside" cx="100.0"'), (11.0, 'class="median outside" cx="160.0"'),
     (900.0, 'path class="median outside"'), (None, "")],
)  # fmt: skip
def test_the_median_is_drawn_where_it_lies(median: float | None, drawn: str) -> None:
    measure = {"low": 0.0, "high": 10.0, "median": median, "below": 0, "above": 0, "warning": ""}
    [row] = range_rows({"texture": measure})
    assert drawn in row.drawing
    assert ("median" in row.drawing) == (median is not None)
