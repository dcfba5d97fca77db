"""Tables as CSV text that spreadsheets open without running anything in them."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["csv_text"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV; None is an empty cell, truth is yes or no.

    Texts that a spreadsheet would take for a formula get an apostrophe before them.
    """
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
