"""A table of results, before anybody formats it."""

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Column", "Kind", "Table"]

Kind = Literal["text", "count", "share", "number", "seconds", "flag"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes
    ----------
    key
        Its name in CSV files.
    label
        Its heading for people; the paper's symbols as words: T_max, R_P, N_F, sigma1.
    kind
        How its cells are shown. "share" is a share of 1, shown in percent; "flag" a truth value.
    digits
        After the decimal point, for "share" (of the percentage) and "number".
    """

    key: str
    label: str
    kind: Kind = "text"
    digits: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """A table; cells are plain values, None where there is none.

    Attributes
    ----------
    key
        Its file's name without ending, such as "false-positives-per-patient".
    title
        A heading.
    columns, rows
        The content.
    caption
        One or two sentences that say what the table shows and how it was counted.
    total
        A last row apart, or None.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""
    total: tuple[Any, ...] | None = None

    def column(self, key: str) -> list[Any]:
        """Return a column's cells."""
        place = [column.key for column in self.columns].index(key)
        return [row[place] for row in self.rows]
