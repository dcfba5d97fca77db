"""Text tables: comma, semicolon or tab between the columns, every cell a text."""

import codecs
import csv
import io
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa

from capsieve.errors import FileError
from capsieve.statistics.labels.label_set import LabelProblem

__all__ = ["EXAMPLES", "Header", "Records", "read_header", "read_records", "record_lines"]

EXAMPLES = 5
"""How many rows a problem names."""

_DELIMITERS = (",", ";", "\t")
_HEAD_BYTES = 65_536  # the first line of a table is never longer
_BLOCK_BYTES = 8_000_000  # read at once: memory stays flat while the text is parsed


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a text table.

    Attributes
    ----------
    columns
        Names without surrounding blanks, in small letters.
    delimiter
        What stands between columns.
    lines
        Lines of the file up to its end; 1 but for blank lines before it.
    """

    columns: tuple[str, ...]
    delimiter: str
    lines: int


@dataclass(frozen=True, slots=True)
class Records:
    """The rows of a text table.

    Attributes
    ----------
    table
        One column of texts per column of the header.
    problems
        Rows with too few or too many cells; they are not in the table.
    """

    table: pa.Table
    problems: tuple[LabelProblem, ...]


def read_header(path: str | os.PathLike[str]) -> Header | None:
    """Return the header of a text table; None where the file is no text, or empty.

    The delimiter is the one that makes the most columns of the first line.
    """
    try:
        with open(path, "rb") as file:
            beginning = file.read(_HEAD_BYTES)
        # The last character may be cut in two: the decoder is told that more may come.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(beginning)
    except (OSError, UnicodeDecodeError):
        return None
    if "\0" in text:
        return None
    headers = [_first_record(text, delimiter) for delimiter in _DELIMITERS]
    found = [header for header in headers if header is not None]
    return max(found, key=lambda header: len(header.columns), default=None)


def _first_record(text: str, delimiter: str) -> Header | None:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        record = next((record for record in reader if record), None)
    except csv.Error:
        return None
    if record is None:
        return None
    return Header(tuple(cell.strip().lower() for cell in record), delimiter, reader.line_num)


def read_records(path: str | os.PathLike[str], header: Header) -> Records:
    """Read all rows as texts.

    Raises
    ------
    FileError
        Two columns have the same name, there is no row, or the text is not UTF-8.
    """
    from pyarrow import csv as arrow_csv

    repeated = [name for name, count in Counter(header.columns).items() if count > 1 and name]
    if repeated:
        raise FileError(f"{path} has more than one column {repeated[0]!r}; keep one of them")
    # Columns without a name are told apart by their place; nobody asks for them.
    names = [name or f"column {place}" for place, name in enumerate(header.columns, start=1)]
    ragged = 0

    def skip(_row: object) -> str:
        nonlocal ragged
        ragged += 1
        return "skip"

    try:
        table = arrow_csv.read_csv(
            os.fspath(path),
            read_options=arrow_csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK_BYTES,
                column_names=names,
                skip_rows=header.lines,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=header.delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: pa.string() for name in names}, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        if "could not skip" in str(error).lower():
            table = pa.table({name: pa.array([], pa.string()) for name in names})
        else:
            why = "it is not UTF-8; save it as UTF-8" if "UTF8" in str(error) else str(error)
            raise FileError(f"cannot read {path}: {why}") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    if not len(table) and not ragged:
        raise FileError(f"{path} holds no labels: nothing follows its first line")
    return Records(table, _ragged(path, header, ragged))


def _ragged(path: str | os.PathLike[str], header: Header, count: int) -> tuple[LabelProblem, ...]:
    if not count:
        return ()
    width = len(header.columns)
    found = (record for record in _records(path, header) if record[2] != width)
    examples = tuple(
        f"{_lines(first, last)}: {cells} {'cell' if cells == 1 else 'cells'} instead of {width}"
        for first, last, cells in islice(found, EXAMPLES)
    )
    return (LabelProblem("the row has too few or too many cells", count, examples),)


def _lines(first: int, last: int) -> str:
    if first == last:
        return f"line {first}"
    return f"lines {first} to {last} (is a quotation mark not closed?)"


def record_lines(
    path: str | os.PathLike[str], header: Header, rows: Sequence[int]
) -> dict[int, int]:
    """Return the line of the file on which each of some rows of the table begins.

    Blank lines, and cells that hold line breaks, make lines and rows differ. So the text is gone
    through once more, up to the last row asked for; only what is named to people comes here.
    """
    wanted = set(rows)
    lines: dict[int, int] = {}
    width = len(header.columns)
    whole = (first for first, _, cells in _records(path, header) if cells == width)
    for row, line in enumerate(islice(whole, max(wanted, default=-1) + 1)):
        if row in wanted:
            lines[row] = line
    return lines


def _records(path: str | os.PathLike[str], header: Header) -> Iterator[tuple[int, int, int]]:
    """Yield first line, last line and number of cells of every record after the header."""
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=header.delimiter)
        before = 0
        try:
            for record in reader:
                first, before = before + 1, reader.line_num
                if record and before > header.lines:
                    yield first, before, len(record)
        except csv.Error:  # a cell too long for this reader; what follows goes without a line
            return
