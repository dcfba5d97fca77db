"""A table as HTML, CSV, LaTeX and plain text.

Names of patients, polyps and findings are of unknown origin: every format escapes them.
"""

import csv as csv_files
import io
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from markupsafe import Markup

from capsieve.atomic_write import atomic_write
from capsieve.report.text import DASH, cells, is_symbol, plain, plain_value, symbols, tex_symbols
from capsieve.result_table import Column, Table

_MOST_HTML_ROWS = 60
_MOST_LATEX_ROWS = 200
_HTML_START = (
    '<div class="scroll" tabindex="0" role="group" aria-label="{label}">'
    '<table class="data table-{key}"><caption class="unseen">{name}</caption>'
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
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
}


def html(table: Table, *, title: bool = True) -> Markup:
    """Return the table for a page: heading, caption, and at most 60 rows."""
    rows, total = cells(table)
    name, key = symbols(table.title), _key(table)
    caption = symbols(f"{table.caption} {_cut(table, _MOST_HTML_ROWS)}".strip())
    heads = [_tag("th", column, symbols(column.label), scope="col") for column in table.columns]
    body = [_html_row(table, row) for row in rows[:_MOST_HTML_ROWS]]
    parts = [
        Markup('<h3 id="{}">{}</h3>').format(anchor(table), name) if title else "",
        Markup(_HTML_START).format(key=key, name=name, label=plain(table.title)),
        Markup("<thead><tr>{}</tr></thead>").format(Markup("").join(heads)),
        Markup("<tbody>{}</tbody>").format(Markup("\n").join(body)),
        Markup("<tfoot>{}</tfoot>").format(_html_row(table, total)) if total else "",
        Markup("</table></div>"),
        Markup('<p class="note">{}</p>').format(caption) if caption else "",
    ]
    return Markup("").join(parts)


def anchor(table: Table) -> str:
    """Return the identifier of the heading of the table on a page."""
    return f"table-{_key(table)}"


def csv(table: Table) -> str:
    """Return the table for programs: a line of keys, then values in full precision.

    Shares are shares of 1, and a cell without a value is empty. A *text* that starts with ``=``,
    ``+``, ``-``, ``@``, a tab or a return, and is not a number, gets an apostrophe in front:
    spreadsheets would treat it as a formula. Texts are not changed otherwise.
    """
    with io.StringIO() as file:
        writer = csv_files.writer(file, lineterminator="\n")
        quoting = csv_files.writer(file, lineterminator="\n", quoting=csv_files.QUOTE_ALL)
        writer.writerow([column.key for column in table.columns])
        for row in [*table.rows, *([] if table.total is None else [table.total])]:
            texts = [_csv_cell(value) for value in row]
            # The writer does not see that a return alone also ends a line for readers.
            (quoting if any("\r" in text for text in texts) else writer).writerow(texts)
        return file.getvalue()


def latex(table: Table) -> str:
    r"""Return the table for ``\input``: a ``table`` with a plain ``tabular`` of at most 200 rows.

    It needs no package.
    """
    rows, total = cells(table)
    caption = f"{table.title}. {table.caption} {_cut(table, _MOST_LATEX_ROWS)}".strip()
    lines = [
        r"\begin{table}",
        rf"\caption{{{tex_symbols(caption, _tex)}}}",
        rf"\label{{tab:{_key(table)}}}",
        r"\centering",
        rf"\begin{{tabular}}{{{''.join('r' if _is_number(c) else 'l' for c in table.columns)}}}",
        r"\hline",
        _tex_row([tex_symbols(column.label, _tex) for column in table.columns]),
        r"\hline",
        *(_tex_row(map(_tex_cell, table.columns, row)) for row in rows[:_MOST_LATEX_ROWS]),
        r"\hline",
    ]
    if total:
        lines += [_tex_row(map(_tex_cell, table.columns, total)), r"\hline"]
    return "\n".join([*lines, r"\end{tabular}", r"\end{table}", ""])


def terminal(table: Table, *, title: bool = True, width: int | None = None) -> str:
    """Return the table in aligned columns, with numbers to the right.

    Cells are wrapped between words if the table is wider than `width`, which is by default that of
    the terminal.
    """
    rows, total = cells(table)
    heads = [plain(column.label) for column in table.columns]
    last = [total] if total else []
    if width is None and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    widths = _widths([heads, *rows, *last], width)
    rule = "  ".join("-" * width for width in widths)

    def lines(texts: Sequence[str]) -> Iterator[str]:
        wrapped = [_wrapped(text, width) for text, width in zip(texts, widths, strict=True)]
        for parts in zip_longest(*wrapped, fillvalue=""):
            padded = []
            for text, width, column in zip(parts, widths, table.columns, strict=True):
                space = " " * (width - _width(text))
                padded.append(space + text if _is_number(column) else text + space)
            yield "  ".join(padded).rstrip()

    shown = [*lines(heads), rule, *(line for row in rows for line in lines(row))]
    if total:
        shown += [rule, *lines(total)]
    return "\n".join([plain(table.title), *shown] if title else shown)


def _widths(rows: Sequence[Sequence[str]], most: int | None) -> list[int]:
    """The widths of columns; the widest are reduced, down to their longest words."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(_width, column)) for column in columns]
    words = [[word for text in column for word in text.split()] for column in columns]
    least = [max(map(_width, each), default=0) for each in words]
    while most is not None and sum(widths) + 2 * (len(widths) - 1) > most:
        wider = [width if width > low else 0 for width, low in zip(widths, least, strict=True)]
        if not any(wider):
            break
        widths[wider.index(max(wider))] -= 1
    return widths


def _wrapped(text: str, width: int) -> list[str]:
    if _width(text) <= width:
        return [text]
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def write(table: Table, folder: Path) -> list[Path]:
    """Write KEY.csv and KEY.tex into a folder, each complete or not at all."""
    contents = {folder / f"{table.key}.csv": csv(table), folder / f"{table.key}.tex": latex(table)}
    for path, content in contents.items():
        with atomic_write(path) as temporary:
            temporary.write_bytes(content.encode("utf-8", "replace"))
    return list(contents)


def _html_row(table: Table, texts: Sequence[str]) -> Markup:
    first, *others = zip(table.columns, texts, strict=True)
    tags = [_tag("th", *first, scope="row"), *(_tag("td", *other) for other in others)]
    return Markup("<tr>{}</tr>").format(Markup("").join(tags))


def _tag(name: str, column: Column, text: str, scope: str = "") -> Markup:
    attributes = Markup(' scope="{}"').format(scope) if scope else Markup("")
    if _is_number(column):
        attributes += Markup(' class="n"')
    shown = symbols(text) if column.kind == "words" or is_symbol(text) else text
    return Markup("<{0}{1}>{2}</{0}>").format(name, attributes, shown)


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


def _tex_cell(column: Column, text: str) -> str:
    has_symbols = column.kind == "words" or is_symbol(text)
    return tex_symbols(text, _tex) if has_symbols else _tex(text)


def _tex(text: str) -> str:
    text = re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)
    escaped = "".join(_TEX.get(letter, letter) for letter in text)
    return escaped.replace("\N{NO-BREAK SPACE}", r"\,")


def _tex_row(texts: Any) -> str:
    return " & ".join(texts) + r" \\"


def _key(table: Table) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", table.key)


def _cut(table: Table, most: int) -> str:
    if len(table.rows) <= most:
        return ""
    return f"The first {most} of {len(table.rows):,} rows; {table.key}.csv has all of them."


def _is_number(column: Column) -> bool:
    return column.kind not in ("text", "words", "flag")


def _width(text: str) -> int:
    """Columns of a terminal: wide letters take two, accents none."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))
