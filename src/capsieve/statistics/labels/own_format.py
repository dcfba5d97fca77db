"""capsieve's own labels: CSV or Parquet, one row per frame."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from capsieve.errors import FileError
from capsieve.statistics.labels.delimited import read_header, read_records, record_lines
from capsieve.statistics.labels.draft import Draft, numbered
from capsieve.statistics.labels.label_set import LABELS, LabelSet
from capsieve.statistics.labels.readers import READER
from capsieve.statistics.labels.settle import settle
from capsieve.store.schema import SCHEMA

__all__ = ["LOOKS", "NAME", "is_parquet", "parquet_columns", "read", "recognises"]

NAME = "capsieve"
LOOKS = "a CSV or Parquet table with a column label, and file or exam and frame"

_LAYOUT = "capsieve labels"
_MAGIC = b"PAR1"
_COLUMNS = (*LABELS.names, READER)


def recognises(path: Path) -> bool:
    """Whether it is a table with a label, and with a file or a frame."""
    if is_parquet(path):
        columns = parquet_columns(path)
        return columns is not None and _fits(columns)
    header = read_header(path)
    return header is not None and _fits(header.columns)


def read(path: Path) -> LabelSet:
    """Read the table.

    Raises
    ------
    FileError
        It is no such table, broken, or written by a newer version.
    """
    draft, columns = _read_parquet(path) if is_parquet(path) else _read_text(path)
    ignored = [name for name in columns if name and name not in _COLUMNS]
    listed = ", ".join(map(repr, ignored))
    warnings = (f"columns that are not used: {listed}",) if ignored else ()
    return settle(draft, layout=_LAYOUT, path=os.fspath(path), warnings=warnings)


def _read_text(path: Path) -> tuple[Draft, Sequence[str]]:
    header = read_header(path)
    if header is None or not _fits(header.columns):
        raise _wrong(path)
    records = read_records(path, header)

    def name_rows(rows: Sequence[int]) -> list[str]:
        lines = record_lines(path, header, rows)
        return [f"line {lines.get(row, '?')}" for row in rows]

    columns = {name: records.table[name] for name in header.columns if name in _COLUMNS}
    return Draft(columns, name_rows, records.problems), header.columns


def _read_parquet(path: Path) -> tuple[Draft, Sequence[str]]:
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"cannot read {path}: {error}") from error
    _refuse_newer(table.schema, path)
    names = _small(table.schema.names)
    if not _fits(names):
        raise _wrong(path)
    for name in _COLUMNS:
        if names.count(name) > 1:
            raise FileError(f"{path} has more than one column {name!r}; keep one of them")
    if not len(table):
        raise FileError(f"{path} holds no labels: it has no rows")
    columns = {name: table.column(place) for place, name in enumerate(names) if name in _COLUMNS}
    return Draft(columns, numbered("row")), names


def _refuse_newer(schema: pa.Schema, path: Path) -> None:
    stored = (schema.metadata or {}).get(b"capsieve")
    if stored is None:
        return
    try:
        version = json.loads(stored)["schema"]
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path} carries a note of capsieve that cannot be read") from error
    if not isinstance(version, int) or version > SCHEMA:
        raise FileError(f"{path} was written by a newer version of capsieve; update this one")


def is_parquet(path: Path) -> bool:
    """Whether the file begins as Parquet does."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def parquet_columns(path: Path) -> list[str] | None:
    """Return the names of a Parquet file's columns in small letters; None where it is broken."""
    import pyarrow.parquet as pq

    try:
        return _small(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        return None


def _small(names: Sequence[str]) -> list[str]:
    return [name.strip().lower() for name in names]


def _fits(columns: Sequence[str]) -> bool:
    return "label" in columns and ("file" in columns or "frame" in columns)


def _wrong(path: Path) -> FileError:
    return FileError(
        f"{path} is no table of labels: its first line must name the column label, "
        "and file or frame (with exam)"
    )
