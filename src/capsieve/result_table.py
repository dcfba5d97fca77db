"""Tables of plain values with headings, for files, terminals and pages."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name in files, its heading, and how its cells are shown.

    Texts of the kind "words" have symbols of the paper; a "text" is a symbol or has a name.
    """

    key: str
    label: str
    kind: Literal["text", "words", "count", "share", "number", "seconds", "flag"] = "text"
    digits: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """A table of plain values, None for an empty cell; `total` is a last row.

    `key` is the name of its file without the ending, `caption` has one or two sentences about what
    is counted.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""
    total: tuple[Any, ...] | None = None

    def column(self, key: str) -> list[Any]:
        """Return the cells of a column."""
        number = [column.key for column in self.columns].index(key)
        return [row[number] for row in self.rows]
