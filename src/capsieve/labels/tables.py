"""Delimited files and Parquet: one reader for labels, splits and scores; capsieve's own labels."""

import codecs
import csv
import io
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, ParameterError, file_errors
from capsieve.labels.label_set import LABELS, LabelProblem, LabelSet, Problems
from capsieve.labels.settle import settle
from capsieve.store.schema import SCHEMA

__all__ = ["RawTable", "is_own", "read_own", "read_table", "write_labels", "write_table"]

compute: Any = pyarrow.compute

ALIASES = {"video": "exam", "run": "polyp", "findings": "finding", "filename": "file"}
"""Other names of columns of capsieve's own labels."""

_COLUMNS = (*LABELS.names, "reader")
_DELIMITERS = (",", ";", "\t")
_HEADER_BYTES = 65_536
_BLOCK_BYTES = 8_000_000
_BATCH_ROWS = 65_536
_PARQUET = b"PAR1"
# A spreadsheet would take such a text for a formula, so an apostrophe is written before it.
_FORMULA = r"^'*[=+\-@\t\r]"
_DEFUSED = r"^'('*[=+\-@\t\r])"


class _Ragged(NamedTuple):
    """A record with too few or too many cells."""

    record: int
    cells: int
    text: str


class RawTable:
    """An unchanged table of a file.

    Parameters
    ----------
    table
        Names of columns in small letters. CSV: every cell is text, "" if it is empty. Parquet: as
        stored.
    path
        Where it was read.
    records
        CSV: the number of the record of each row, from 0 after the header.
    header_lines
        CSV: lines up to the end of the header.
    delimiter, ragged
        CSV: the delimiter, and the records that are not in the table.
    """

    def __init__(
        self,
        table: pa.Table,
        path: str,
        *,
        records: NDArray[np.int64] | None = None,
        header_lines: int = 0,
        delimiter: str = ",",
        ragged: Sequence[_Ragged] = (),
    ) -> None:
        self.table = table
        self.path = path
        self._records = records
        self._header_lines = header_lines
        self._delimiter = delimiter
        self._ragged = ragged

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.table.column_names

    def name_rows(self, rows: Sequence[int]) -> list[str]:
        """Return how a person finds these rows: "line 12", or "row 11" in Parquet."""
        if self._records is None:
            return [f"row {row + 1}" for row in rows]
        return [f"line {self._line(int(self._records[row]))}" for row in rows]

    @property
    def problems(self) -> tuple[LabelProblem, ...]:
        """Records with too few or too many cells; they are not in the table."""
        problems = Problems()
        width = len(self.columns)
        for record, cells, text in self._ragged:
            first = self._line(record)
            last = first + text.rstrip("\r\n").count("\n")
            lines = f"line {first}" if first == last else f"lines {first} to {last}"
            mark = " (is a quotation mark not closed?)" if first != last else ""
            noun = "cell" if cells == 1 else "cells"
            what = "the row has too few or too many cells"
            problems.add(what, f"{lines}{mark}: {cells} {noun} instead of {width}")
        return problems.result()

    def padded(self) -> "RawTable":
        """Return the table with short records completed by empty cells."""
        width = len(self.columns)
        short = [one for one in self._ragged if one.cells < width and "\n" not in one.text.strip()]
        if not short or self._records is None:
            return self
        completed = set(short)
        cells = [_split(one.text, self._delimiter) for one in short]
        added = zip(*((row + [""] * width)[:width] for row in cells), strict=True)
        names = self.columns
        more = pa.table([pa.array(column, pa.string()) for column in added], names=names)
        records = np.concatenate([self._records, [one.record for one in short]]).astype(np.int64)
        order = np.argsort(records, kind="stable")
        return RawTable(
            pa.concat_tables([self.table, more]).take(pa.array(order)),
            self.path,
            records=records[order],
            header_lines=self._header_lines,
            delimiter=self._delimiter,
            ragged=[one for one in self._ragged if one not in completed],
        )

    def _line(self, record: int) -> int:
        """Return the line of the file on which a record begins."""
        return self._header_lines + 1 + record + int(self._breaks[record])

    @cached_property
    def _breaks(self) -> NDArray[np.int64]:
        """Line breaks inside the cells of all records before each record."""
        assert self._records is not None
        last = max([int(self._records.max(initial=-1)), *(one.record for one in self._ragged)])
        breaks = np.zeros(last + 2, np.int64)
        for column in self.table.columns:
            counts = compute.count_substring(column, "\n").to_numpy()
            np.add.at(breaks, self._records + 1, counts)
        for one in self._ragged:
            breaks[one.record + 1] += one.text.rstrip("\r\n").count("\n")
        return np.cumsum(breaks)


def read_table(path: str | os.PathLike[str]) -> RawTable:
    """Read a CSV file (comma, semicolon or tab; UTF-8) or a Parquet file.

    Rows without any content are left out.

    Raises
    ------
    FileError
        The file is missing, empty or damaged, is not such a table, has no rows, has two columns of
        one name, or was written by a newer version.
    """
    path = Path(path)
    with file_errors("read", path), path.open("rb") as file:
        beginning = file.read(_HEADER_BYTES)
    if beginning.startswith(_PARQUET):
        return _read_parquet(path)
    return _read_delimited(path, beginning)


def is_own(columns: Sequence[str]) -> bool:
    """Return whether a table with these columns is in capsieve's own format."""
    return "label" in columns and any(name in columns for name in ("file", "frame", "filename"))


def read_own(raw: RawTable) -> LabelSet:
    """Read labels in capsieve's own format.

    Raises
    ------
    FileError
        See :func:`~capsieve.labels.label_set.settle`.
    """
    if not is_own(raw.columns):
        raise FileError(
            f"{raw.path} is not a label table: it needs the column label, and file or exam and "
            "frame"
        )
    chosen = {name: name for name in raw.columns if name in _COLUMNS}
    for alias, name in ALIASES.items():
        if alias in raw.columns and name not in chosen:
            chosen[name] = alias
    unused = [name for name in raw.columns if name and name not in chosen.values()]
    warnings = []
    if unused:
        warnings.append(f"columns that are not used: {', '.join(map(repr, unused))}")
    runs = chosen.get("polyp") == "run"
    if runs:
        warnings.append("runs of polyp frames replace polyps: results are per run")
    return settle(
        {name: raw.table[column] for name, column in chosen.items()},
        name_rows=raw.name_rows,
        problems=raw.problems,
        warnings=warnings,
        label_format="capsieve labels",
        path=raw.path,
        polyp_word="run" if runs else "polyp",
    )


def write_labels(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write labels as CSV or Parquet, by the ending of the path.

    Parameters
    ----------
    table
        Columns of :data:`~capsieve.labels.LABELS`; missing ones are written without content.
    path
        Ends in .csv or .parquet. The file appears complete or not at all.

    Raises
    ------
    ParameterError
        The table has other columns or types.
    FileError
        The path has another ending, or cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise FileError(f"cannot write {path}: the name of a label file ends in .csv or .parquet")
    strange = [name for name in table.column_names if name not in LABELS.names]
    if strange:
        raise ParameterError("table", f"labels have no column {strange[0]!r}")
    columns = [
        table[field.name] if field.name in table.column_names else pa.nulls(len(table), field.type)
        for field in LABELS
    ]
    try:
        complete = pa.table(columns, names=LABELS.names).cast(LABELS)
    except pa.ArrowException as error:
        raise ParameterError("table", f"the columns are not those of labels: {error}") from error
    write_table(complete, path, name="labels")


def write_table(table: pa.Table, path: str | os.PathLike[str], *, name: str) -> None:
    """Write a table: Parquet if the path ends in .parquet, else CSV; complete or not at all.

    In CSV, an apostrophe is written before a text that a spreadsheet would treat as a formula;
    :func:`read_table` removes it.
    """
    with atomic_write(path) as temporary:
        if Path(path).suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            about = json.dumps({"schema": SCHEMA, "table": name}).encode()
            described = table.replace_schema_metadata({b"capsieve": about})
            pq.write_table(described, temporary, compression="zstd")
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
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"cannot read {path}: the Parquet file is damaged ({error})") from error
    _refuse_newer(table.schema.metadata or {}, path)
    names = [name.strip().lower() for name in table.column_names]
    _refuse_repeated(names, path)
    if not len(table):
        raise FileError(f"{path} has no rows")
    return RawTable(table.rename_columns(names), os.fspath(path))


def _refuse_newer(metadata: Mapping[bytes, bytes], path: Path) -> None:
    if b"capsieve" not in metadata:
        return
    try:
        version = json.loads(metadata[b"capsieve"])["schema"]
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: the description of the table is damaged") from error
    if not isinstance(version, int) or version > SCHEMA:
        raise FileError(f"{path} was written by a newer version of capsieve; update this one")


def _refuse_repeated(names: Sequence[str], path: Path) -> None:
    for name, count in Counter(names).items():
        if name and count > 1:
            raise FileError(f"{path} has more than one column {name!r}; keep one of them")


def _read_delimited(path: Path, beginning: bytes) -> RawTable:
    from pyarrow import csv as arrow_csv

    header, delimiter, lines = _header(path, beginning)
    _refuse_repeated(header, path)
    # Columns without a name are numbered; nobody asks for them.
    names = [name or f"column {place}" for place, name in enumerate(header, start=1)]
    ragged: list[_Ragged] = []

    def skip(row: Any) -> str:
        ragged.append(_Ragged(row.number - lines - 1, row.actual_columns, row.text))
        return "skip"

    try:
        table = arrow_csv.read_csv(
            os.fspath(path),
            # One thread: only then are invalid rows numbered.
            read_options=arrow_csv.ReadOptions(
                use_threads=False, block_size=_BLOCK_BYTES, column_names=names, skip_rows=lines
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=False,  # so that records can be counted
                invalid_row_handler=skip,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        if "could not skip" not in str(error).lower():
            why = "it is not UTF-8; save it as UTF-8" if "UTF8" in str(error) else str(error)
            if "straddling" in why:
                why = "a row has more than 8 MB; is a quotation mark not closed?"
            raise FileError(f"cannot read {path}: {why}") from error
        table = pa.table({name: pa.array([], pa.string()) for name in names})
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    records = np.arange(len(table) + len(ragged))
    records = np.delete(records, [one.record for one in ragged])
    ragged = [one for one in ragged if one.text.strip()]
    filled = np.zeros(len(table), np.bool_)
    for column in table.columns:
        if not filled.all():
            filled |= compute.not_equal(column, "").to_numpy()
    table = table if filled.all() else table.filter(pa.array(filled))
    if not len(table) and not ragged:
        raise FileError(f"{path} has no rows: nothing follows its first line")
    return RawTable(
        pa.table([_without_apostrophes(column) for column in table.columns], names=names),
        os.fspath(path),
        records=records[filled],
        header_lines=lines,
        delimiter=delimiter,
        ragged=ragged,
    )


def _header(path: Path, beginning: bytes) -> tuple[list[str], str, int]:
    """Return the names of the columns, the delimiter that makes most of them, and their lines."""
    if not beginning.strip():
        raise FileError(f"cannot read {path}: the file is empty")
    try:
        # The last character may be incomplete: the decoder expects more.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(beginning)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise FileError(
            f"cannot read {path}: it is neither a text table in UTF-8 nor a Parquet file; save it "
            "as CSV in UTF-8"
        )
    found: list[tuple[list[str], str, int]] = []
    for delimiter in _DELIMITERS:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            record = next((record for record in reader if record), None)
        except csv.Error:
            record = None
        if record is not None:
            names = [cell.strip().lower() for cell in record]
            found.append((names, delimiter, reader.line_num))
    if not found:
        raise FileError(f"cannot read {path}: its first line does not name columns")
    return max(found, key=lambda header: len(header[0]))


def _split(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line."""
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error:  # a cell of more than 131,072 characters
        return line.split(delimiter)


def _without_apostrophes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not compute.any(compute.starts_with(column, "'")).as_py():
        return column
    return compute.replace_substring_regex(column, _DEFUSED, r"\1")
