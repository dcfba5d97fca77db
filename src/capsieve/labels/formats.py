"""The known label formats, recognised by their content; capsieve's own format."""

import os
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from capsieve.errors import FileError, ParameterError
from capsieve.labels.capsule_vision import CapsuleVision
from capsieve.labels.columns import column_names
from capsieve.labels.kvasir import Kvasir
from capsieve.labels.label_set import LABELS, LabelSet
from capsieve.labels.settle import settle
from capsieve.labels.tables import RawTable, as_table, read_table, write_table
from capsieve.user_files import PathLike

_NEEDED = "a label table has the column label, and file or exam and frame"
_TABLES = ("labels.csv", "labels.parquet", "metadata.csv", "frames.csv")


class LabelFormat(Protocol):
    """A format of labels: a folder, or a table.

    `name` is for `label_format`, `description` says what users have in this format.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def description(self) -> str: ...  # noqa: D102

    def recognises(self, source: Path | RawTable) -> bool:
        """Return whether a folder or a table has this format."""
        ...

    def read(self, source: Path | RawTable) -> LabelSet:
        """Read the labels of a folder or a table that has this format."""
        ...


class OwnTable:
    """capsieve's own format."""

    name = "capsieve"
    description = "a CSV or Parquet table with the column label, and file or exam and frame"

    def recognises(self, source: Path | RawTable) -> bool:
        """Return whether the table has the columns that are needed."""
        if isinstance(source, Path):
            return False
        columns = _own_columns(source)
        return "label" in columns and bool(columns.keys() & {"file", "frame"})

    def read(self, source: Path | RawTable) -> LabelSet:
        """Read a table; columns that are not used are named in a warning."""
        assert isinstance(source, RawTable)
        columns = _own_columns(source)
        warnings = []
        if unused := [name for name in source.columns if name and name not in columns.values()]:
            warnings.append(f"columns that are not used: {', '.join(map(repr, unused))}")
        runs = columns.get("polyp") == "run"
        if runs:
            warnings.append("runs of polyp frames replace polyps: results are per run")
        return settle(
            {name: source.table[column] for name, column in columns.items()},
            name_rows=source.name_rows,
            problems=source.problems,
            warnings=warnings,
            label_format="capsieve labels",
            path=source.path,
            polyp_word="run" if runs else "polyp",
        )


LABEL_FORMATS: tuple[LabelFormat, ...] = (CapsuleVision(), Kvasir(), OwnTable())
"""The known formats; the first that recognises a folder or a table reads it."""


def read_labels(labels: PathLike | Any, *, label_format: str | None = None) -> LabelSet:
    """Read labels in any of the known formats.

    Parameters
    ----------
    labels
        A file or a folder; or a data frame or a dict of arrays.
    label_format
        The name of one of :data:`LABEL_FORMATS`; by default it is recognised.

    Returns
    -------
    LabelSet
        The rows that can be used, and what is not clear.

    Raises
    ------
    FileError
        There is no such file, it is in no known format or cannot be read, an exam, a frame or a
        polyp has two patients, or two readers disagree on a frame.
    ParameterError
        There is no such label format.
    """
    formats = [each for each in LABEL_FORMATS if label_format in (None, each.name)]
    if not formats:
        names = ", ".join(each.name for each in LABEL_FORMATS)
        raise ParameterError(
            "label_format", f"there is no format {label_format!r}; choose from {names}"
        )
    source = _source(labels)
    for each in formats:
        if each.recognises(source):
            return each.read(source)
    if isinstance(source, Path):
        raise _unknown_folder(source)
    raise _unknown_table(source, _NEEDED if label_format is None else formats[0].description)


def _source(labels: PathLike | Any) -> Path | RawTable:
    if not isinstance(labels, str | os.PathLike):
        return RawTable(as_table(labels, "labels"), "the labels")
    path = Path(labels)
    if path.is_dir():
        return path
    if not path.exists():
        raise FileError(f"cannot read labels from {path}: no such file or folder")
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise FileError(
            f"cannot read labels from {path}: spreadsheets are not read; save it as CSV, or give "
            "the folder of the data set"
        )
    return read_table(path)


def _own_columns(table: RawTable) -> dict[str, str]:
    return column_names(table.columns, (*LABELS.names, "reader"))


def write_labels(table: pa.Table, path: PathLike) -> None:
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


def _unknown_table(raw: RawTable, needed: str) -> FileError:
    names = ", ".join(repr(name[:40]) for name in raw.columns[:6])
    more = ", ..." if len(raw.columns) > 6 else ""
    return FileError(
        f"cannot read labels from {raw.path}: its columns are {names}{more}; needed: {needed}"
    )


def _unknown_folder(path: Path) -> FileError:
    inside = [name for name in _TABLES if (path / name).is_file()]
    advice = f"give the file {inside[0]} in it" if inside else f"give a table: {_NEEDED}"
    return FileError(
        f"cannot read labels from {path}: the folder is not Kvasir-Capsule or Capsule Vision 2024; "
        f"{advice}"
    )
