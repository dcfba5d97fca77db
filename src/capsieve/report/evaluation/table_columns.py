"""Counts and rates of a table, found by what they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from capsieve.report.evaluation.cells import plain_value
from capsieve.report.formats import plain
from capsieve.statistics.intervals import wilson
from capsieve.statistics.table import Table

__all__ = ["CountedRow", "counted_rows"]


@dataclass(frozen=True, slots=True)
class CountedRow:
    """A share with its counts and Wilson's interval."""

    name: str
    numerator: int
    denominator: int
    rate: float
    low: float
    high: float


def counted_rows(table: Table, *, total: bool = False) -> list[CountedRow]:
    """Return the rows as shares, or the last row alone; rows without a share are left out.

    The first text names a row. Of the columns with counts those two are taken whose quotient is
    the first column with shares, in every row and in the last.
    """
    names = [place for place, column in enumerate(table.columns) if column.kind == "text"]
    shares = [place for place, column in enumerate(table.columns) if column.kind == "share"]
    counts = [place for place, column in enumerate(table.columns) if column.kind == "count"]
    rows = [[plain_value(cell) for cell in row] for row in table.rows]
    last = [] if table.total is None else [[plain_value(cell) for cell in table.total]]
    if not names or not shares:
        return []
    pair = next(
        (pair for pair in permutations(counts, 2) if _fits([*rows, *last], shares[0], *pair)), None
    )
    if pair is None:
        return []
    return [
        _counted(plain(row[names[0]]), row[pair[0]], row[pair[1]])
        for row in (last if total else rows)
        if row[pair[1]] and row[pair[0]] is not None
    ]


def _fits(rows: Sequence[Sequence[Any]], share: int, above: int, below: int) -> bool:
    known = [row for row in rows if row[share] is not None]
    return bool(known) and all(
        row[above] is not None
        and bool(row[below])
        and abs(row[above] / row[below] - row[share]) < 1e-9
        for row in known
    )


def _counted(name: str, numerator: int, denominator: int) -> CountedRow:
    low, high = wilson(numerator, denominator) or (0.0, 1.0)
    return CountedRow(name, numerator, denominator, numerator / denominator, low, high)
