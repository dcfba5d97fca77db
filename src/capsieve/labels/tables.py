"""Delimited files and Parquet: one reader for labels, splits, scores and outlines."""

import codecs
import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, file_errors
from capsieve.labels.columns import compute
from capsieve.labels.label_set import LabelProblem, Problems
from capsieve.store.schema import SCHEMA
from capsieve.user_files import PathLike, open_file

_DELIMITERS = (",", ";", "\t")
_LONGEST_CELL = 8_000_000  # characters; an unclosed quotation mark makes a cell of a whole file
_LONGEST_HEADER = 8_000_000  # bytes
_MOST_COLUMNS = 100_000
_MOST_ROWS = 100_000_000  # Parquet can pack a billion equal rows into a few kilobytes
_BATCH_ROWS = 65_536
_LARGEST = 2**32  # bytes
_PARQUET = b"PAR1"
# A spreadsheet would take such a text for a formula, so an apostrophe is written before it.
_FORMULA = r"^'*[=+\-@\t\r]"
_DEFUSED = r"^'('*[=+\-@\t\r])"


class _Ragged(NamedTuple):
    """A record with too few or too many cells, and its first and last line."""

    first: int
    last: int
    cells: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """An unchanged table of a file; the names of its columns are in small letters."""

    table: pa.Table  # CSV: every cell is text, "" if it is empty
    path: str
    lines: Sequence[int] | None = None  # CSV: on which each row begins
    ragged: Sequence[_Ragged] = ()  # CSV: records that are not in the table

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.table.column_names

    def name_rows(self, rows: Sequence[int]) -> list[str]:
        """Return how a person finds these rows: "line 12", or "row 11" in Parquet."""
        if self.lines is None:
            return [f"row {row + 1}" for row in rows]
        return [f"line {self.lines[row]}" for row in rows]

    @property
    def problems(self) -> tuple[LabelProblem, ...]:
        """Records with too few or too many cells; they are not in the table."""
        problems = Problems()
        for first, last, cells in self.ragged:
            where = f"line {first}"
            if first != last:
                where = f"lines {first} to {last} (is a quotation mark not closed?)"
            noun = "cell" if len(cells) == 1 else "cells"
            message = "the row has too few or too many cells"
            problems.add(message, f"{where}: {len(cells)} {noun} instead of {len(self.columns)}")
        return tuple(problems)

    def padded(self) -> "RawTable":
        """Return the table with short records completed by empty cells."""
        width = len(self.columns)
        short = [
            record
            for record in self.ragged
            if len(record.cells) < width and record.first == record.last
        ]
        if not short or self.lines is None:
            return self
        rows = [record.cells + [""] * (width - len(record.cells)) for record in short]
        lines = np.array([*self.lines, *(record.first for record in short)])
        order = np.argsort(lines)
        return replace(
            self,
            table=pa.concat_tables([self.table, _texts(rows, self.columns)]).take(pa.array(order)),
            lines=lines[order].tolist(),
            ragged=[record for record in self.ragged if record not in short],
        )


def read_table(path: PathLike) -> RawTable:
    """Read a CSV file (comma, semicolon or tab; UTF-8) or a Parquet file.

    Rows without any content are left out.

    Raises
    ------
    FileError
        The file is missing, empty or damaged, is not such a table, has no rows, has two columns of
        one name, or was written by a newer version.
    """
    path = Path(path)
    with file_errors("read", path), open_file(path, largest=_LARGEST) as file:
        beginning = file.read(_LONGEST_HEADER + 1)
    raw = _read_parquet(path) if beginning.startswith(_PARQUET) else _read_csv(path, beginning)
    if not len(raw.table) and not raw.ragged:
        raise FileError(f"{path} has no rows")
    return raw


def as_table(values: Any, role: str) -> pa.Table:
    """Return a data frame or a dict of arrays as a table."""
    try:
        table = pa.table(values).replace_schema_metadata(None)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise FileError(
            f"cannot use {type(values).__name__} as {role} ({error}); give a path, a data frame or "
            "a dict of arrays of equal length"
        ) from error
    # pandas keeps an index other than 0, 1, 2, ... in a column of this name.
    kept = [name for name in table.column_names if not name.startswith("__index_level_")]
    return table.select(kept).rename_columns([name.lower() for name in kept])


def write_table(table: pa.Table, path: PathLike, *, name: str) -> None:
    """Write a table: Parquet if the path ends in .parquet, else CSV; complete or not at all.

    In CSV, an apostrophe is written before a text that a spreadsheet would treat as a formula;
    :func:`read_table` removes it.
    """
    with atomic_write(path) as temporary:
        if Path(path).suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            about = json.dumps({"schema": SCHEMA, "table": name}).encode()
            described = table.replace_schema_metadata({b"capsieve": about})
            pq.write_table(described, temporary, compression="zstd", write_page_checksum=True)
            return
        columns = [
            compute.replace_substring_regex(column, f"({_FORMULA})", r"'\1")
            if pa.types.is_string(column.type)
            else column
            for column in table.columns
        ]
        defused = pa.table(columns, names=table.column_names)
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(defused.column_names)
            for batch in defused.to_batches(max_chunksize=_BATCH_ROWS):
                writer.writerows(zip(*(column.to_pylist() for column in batch), strict=True))


def _read_parquet(path: Path) -> RawTable:
    import pyarrow.parquet as pq

    try:
        with open_file(path) as file:
            content = pq.ParquetFile(file, page_checksum_verification=True)
            if content.metadata.num_rows > _MOST_ROWS:
                raise FileError(
                    f"{path} has {content.metadata.num_rows:,} rows, more than the {_MOST_ROWS:,} "
                    "that are read; is it a table of frames?"
                )
            table = content.read()
    except (OSError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0].rstrip(" (:")  # Arrow's messages have several lines
        raise FileError(f"cannot read {path}: the Parquet file is damaged ({reason})") from error
    try:
        about = (table.schema.metadata or {}).get(b"capsieve")
        version = SCHEMA if about is None else int(json.loads(about)["schema"])
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: the description of the table is damaged") from error
    if version > SCHEMA:
        raise FileError(f"{path} was written by a newer version of capsieve; update this one")
    names = [name.strip().lower() for name in table.column_names]
    _refuse_repeated(names, path)
    return RawTable(table.rename_columns(names), os.fspath(path))


def _refuse_repeated(names: Sequence[str], path: Path) -> None:
    for name, count in Counter(names).items():
        if name and count > 1:
            raise FileError(f"{path} has more than one column {name!r}; keep one of them")


def _read_csv(path: Path, beginning: bytes) -> RawTable:
    if not beginning.strip():
        raise FileError(f"cannot read {path}: the file is empty")
    csv.field_size_limit(_LONGEST_CELL)  # 131,072 by default; findings may be longer
    parts: list[pa.Table] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    ragged: list[_Ragged] = []
    try:
        header, delimiter, last = _header(path, beginning)
        # Columns without a name are numbered; nobody asks for them.
        names = [name or f"column {number}" for number, name in enumerate(header, start=1)]
        with file_errors("read", path), open_file(path) as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            reader = csv.reader(_lines_without_zeros(text, path), delimiter=delimiter)
            while reader.line_num < last:
                next(reader)
            for cells in reader:
                first, last = last + 1, reader.line_num
                if not any(cells):
                    continue
                if len(cells) != len(names):
                    ragged.append(_Ragged(first, last, cells))
                    continue
                rows.append(cells)
                lines.append(first)
                if len(rows) == _BATCH_ROWS:
                    parts.append(_texts(rows, names))
                    rows = []
    except csv.Error as error:
        message = (
            f"a cell has more than {_LONGEST_CELL:,} characters; is a quotation mark not closed?"
        )
        raise FileError(f"cannot read {path}: {message}") from error
    table = pa.concat_tables([*parts, _texts(rows, names)])
    return RawTable(table, os.fspath(path), lines, ragged)


def _lines_without_zeros(text: Iterable[str], path: Path) -> Iterator[str]:
    """Yield lines; a crash or a full disk can leave zeros at the end of a file."""
    for line in text:
        if "\0" in line:
            raise _not_text(path)
        yield line


def _not_text(path: Path) -> FileError:
    return FileError(
        f"cannot read {path}: it is not UTF-8 text and not Parquet; save it as CSV in UTF-8"
    )


def _header(path: Path, beginning: bytes) -> tuple[list[str], str, int]:
    """Return the names of the columns, the delimiter that makes most of them, and their line."""
    try:
        # The last character may be incomplete: the decoder expects more.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(beginning)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise _not_text(path)
    headers: list[tuple[list[str], str, int]] = []
    for delimiter in _DELIMITERS:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        names = [cell.strip().lower() for cell in next(filter(None, reader), [])]
        headers.append((names, delimiter, reader.line_num))
    header = max(headers, key=lambda header: len(header[0]))
    names, _, last = header
    if len(beginning) > _LONGEST_HEADER and last >= len(text.splitlines()):
        raise FileError(
            f"cannot read {path}: its header has more than {_LONGEST_HEADER:,} bytes; is it a "
            "table?"
        )
    if len(names) > _MOST_COLUMNS:
        raise FileError(
            f"{path} has {len(names):,} columns, more than the {_MOST_COLUMNS:,} that are read; "
            "keep those that are needed"
        )
    _refuse_repeated(names, path)
    return header


def _texts(rows: Sequence[Sequence[str]], names: Sequence[str]) -> pa.Table:
    """Return a table of texts without the apostrophes before formulas."""
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    columns = [pa.array(column, pa.string()) for column in cells]
    for number, column in enumerate(columns):
        if compute.any(compute.starts_with(column, "'")).as_py():
            columns[number] = compute.replace_substring_regex(column, _DEFUSED, r"\1")
    return pa.table(columns, names=list(names))
