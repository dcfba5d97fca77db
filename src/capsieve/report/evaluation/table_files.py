"""A table as files: CSV for machines, Markdown and LaTeX for texts; and as a text for a terminal.

Labels come from outside, and so do names of patients, polyps and findings: every format escapes
them. Markdown and LaTeX show at most 200 rows and say how many there are. A CSV file has all rows,
then the last row apart where there is one, and values in full precision: shares as shares of 1,
nothing where there is no value. A *text* that begins with ``=``, ``+``, ``-``, ``@``, a tab or a
return, and is no plain number, gets an apostrophe in front: spreadsheets would take it for a
formula. That is the only change that is made to a text.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from capsieve.atomic_write import atomic_write
from capsieve.report.evaluation.cells import DASH, cell_text, plain_value, shown_columns
from capsieve.report.evaluation.symbols import is_symbol, tex_symbols
from capsieve.report.formats import plain
from capsieve.statistics.table import Column, Table

__all__ = ["MOST_ROWS", "csv_text", "markdown_text", "table_text", "tex_text", "write_table"]

MOST_ROWS = 200
"""Of a table in Markdown and LaTeX; the CSV file has them all."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&])")
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    DASH: "--",
    "\N{MINUS SIGN}": "$-$",
    "\N{INFINITY}": r"$\infty$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
}


def write_table(table: Table, folder: Path) -> list[Path]:
    """Write KEY.csv, KEY.md and KEY.tex into the folder, each whole or not at all.

    Raises
    ------
    FileError
        The folder cannot be written to.
    """
    writers: dict[str, Callable[[Table], str]] = {
        ".csv": csv_text,
        ".md": markdown_text,
        ".tex": tex_text,
    }
    paths: list[Path] = []
    for ending, text in writers.items():
        path = folder / f"{table.key}{ending}"
        with atomic_write(path) as temporary:
            temporary.write_bytes(text(table).encode("utf-8", "replace"))
        paths.append(path)
    return paths


def csv_text(table: Table) -> str:
    """Return the table for machines: a line of keys, then values in full precision."""
    with io.StringIO() as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([column.key for column in table.columns])
        for row in _rows(table):
            writer.writerow([_csv_cell(value) for value in row])
        return file.getvalue()


def markdown_text(table: Table) -> str:
    """Return the table in Markdown, with its title and caption."""
    texts = _shown(table)[:MOST_ROWS]
    rule = [" ---: " if _is_number(column) else " --- " for column in table.columns]
    lines = [
        f"## {_markdown(table.title)}",
        "",
        _markdown_row([_markdown(column.label) for column in table.columns]),
        f"|{'|'.join(rule)}|",
        *(_markdown_row([_markdown(text) for text in row]) for row in texts),
    ]
    if table.total is not None:
        total = [_markdown(text) for text in _total(table)]
        lines.append(_markdown_row([f"**{text}**" if text else "" for text in total]))
    caption = f"{table.caption} {_left_out(table)}".strip()
    if caption:
        lines += ["", _markdown(caption)]
    return "\n".join([*lines, ""])


def tex_text(table: Table) -> str:
    r"""Return the table in LaTeX: a ``table`` with a plain ``tabular``, to be ``\input``.

    It needs no package beyond UTF-8 input, which LaTeX has by itself.
    """
    alignment = "".join("r" if _is_number(column) else "l" for column in table.columns)
    heads = [_tex(column.label) for column in table.columns]
    caption = f"{table.title}. {table.caption} {_left_out(table)}".strip()
    lines = [
        r"\begin{table}",
        rf"\caption{{{_tex(caption)}}}",
        rf"\label{{tab:{re.sub(r'[^A-Za-z0-9-]', '-', table.key)}}}",
        r"\centering",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\hline",
        " & ".join(heads) + r" \\",
        r"\hline",
        *(" & ".join(map(_tex_cell, row)) + r" \\" for row in _shown(table)[:MOST_ROWS]),
        r"\hline",
    ]
    if table.total is not None:
        lines += [" & ".join(map(_tex_cell, _total(table))) + r" \\", r"\hline"]
    return "\n".join([*lines, r"\end{tabular}", r"\end{table}", ""])


def table_text(table: Table, *, title: bool = True) -> str:
    """Return the table for a terminal: plain and aligned, numbers to the right."""
    heads = [plain(column.label) for column in table.columns]
    body = _shown(table)
    total = [] if table.total is None else [_total(table)]
    widths = [max(map(_width, cells)) for cells in zip(heads, *body, *total, strict=True)]
    rule = "  ".join("-" * width for width in widths)

    def line(texts: Sequence[str]) -> str:
        cells = [
            _padded(text, width, right=_is_number(column))
            for text, width, column in zip(texts, widths, table.columns, strict=True)
        ]
        return "  ".join(cells).rstrip()

    lines = [line(heads), rule, *map(line, body)]
    if total:
        lines += [rule, line(total[0])]
    return "\n".join([plain(table.title), *lines] if title else lines)


def _left_out(table: Table) -> str:
    if len(table.rows) <= MOST_ROWS:
        return ""
    return f"The first {MOST_ROWS} of {len(table.rows):,} rows; {table.key}.csv has them all."


def _rows(table: Table) -> list[tuple[Any, ...]]:
    return [*table.rows, *([] if table.total is None else [table.total])]


def _shown(table: Table) -> list[list[str]]:
    columns = shown_columns(table)
    return [_texts(columns, row) for row in table.rows]


def _total(table: Table) -> list[str]:
    """The last row; what has no total is left blank."""
    texts = _texts(shown_columns(table), table.total or ())
    return ["" if text == DASH else text for text in texts]


def _texts(columns: Sequence[Column], row: Sequence[Any]) -> list[str]:
    return [cell_text(value, column) for value, column in zip(row, columns, strict=True)]


def _is_number(column: Column) -> bool:
    return column.kind not in ("text", "flag")


def _csv_cell(value: Any) -> str:
    value = plain_value(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def _markdown(text: str) -> str:
    escaped = _MARKDOWN.sub(r"\\\1", plain(text))
    # Symbols such as T_max keep their underscore: inside a word it means nothing in Markdown.
    return re.sub(r"(?<=[^\W_])\\_(?=[^\W_])", "_", escaped)


def _markdown_row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _tex_cell(text: str) -> str:
    return _tex(text) if is_symbol(text) else _tex_escaped(text)


def _tex(text: str) -> str:
    return tex_symbols(plain(text), _tex_escaped)


def _tex_escaped(text: str) -> str:
    text = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)
    escaped = "".join(_TEX.get(letter, letter) for letter in text)
    return escaped.replace("\N{NO-BREAK SPACE}", r"\,")


def _width(text: str) -> int:
    """How many places a text takes on a terminal: wide letters take two, accents none."""
    return sum(
        0
        if unicodedata.combining(letter)
        else 2
        if unicodedata.east_asian_width(letter) in "WF"
        else 1
        for letter in text
    )


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space
