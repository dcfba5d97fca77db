"""The known label formats, recognised by their content; capsieve's own format."""

import os
from pathlib import Path

import pyarrow as pa

from capsieve.errors import FileError, ParameterError
from capsieve.labels import capsule_vision, kvasir
from capsieve.labels.columns import column_names
from capsieve.labels.label_set import LABELS, LabelSet
from capsieve.labels.settle import settle
from capsieve.labels.tables import RawTable, read_table, write_table

LABEL_FORMATS = {
    "capsieve": "a CSV or Parquet table with the column label, and file or exam and frame",
    "kvasir": "Kvasir-Capsule: the folder labelled_images, metadata.csv or a split file",
    "capsule-vision": "the folder Dataset of Capsule Vision 2024, one of its parts, or a class",
}
"""Names for `label_format`, and what each one is."""

_TABLES = ("labels.csv", "labels.parquet", "metadata.csv", "frames.csv")
_NEEDED = "a label table has the column label, and file or exam and frame"


def read_labels(path: str | os.PathLike[str], *, label_format: str | None = None) -> LabelSet:
    """Read labels in any of the known formats.

    Parameters
    ----------
    path
        A file or a folder.
    label_format
        One of :data:`LABEL_FORMATS`; by default it is recognised.

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
    path = Path(path)
    if label_format is not None and label_format not in LABEL_FORMATS:
        raise ParameterError(
            "label_format",
            f"there is no format {label_format!r}; choose from {', '.join(LABEL_FORMATS)}",
        )
    if not path.exists():
        raise FileError(f"cannot read labels from {path}: no such file or folder")
    if path.is_dir():
        return _read_folder(path, label_format)
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise FileError(
            f"cannot read labels from {path}: spreadsheets are not read; save it as CSV, or give "
            "the folder of the data set"
        )
    raw = read_table(path)
    if label_format in (None, "kvasir") and kvasir.is_kvasir_table(raw):
        return kvasir.read_table_labels(raw)
    if label_format in (None, "capsieve"):
        return read_own(raw)
    raise _unknown(raw, LABEL_FORMATS[label_format])


def read_own(raw: RawTable) -> LabelSet:
    """Read labels in capsieve's own format."""
    chosen = column_names(raw.columns, (*LABELS.names, "reader"))
    if "label" not in chosen or not chosen.keys() & {"file", "frame"}:
        raise _unknown(raw, _NEEDED)
    warnings = []
    if unused := [name for name in raw.columns if name and name not in chosen.values()]:
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


def _unknown(raw: RawTable, needed: str) -> FileError:
    some = ", ".join(repr(name[:40]) for name in raw.columns[:6])
    more = ", ..." if len(raw.columns) > 6 else ""
    return FileError(
        f"cannot read labels from {raw.path}: its columns are {some}{more}; needed: {needed}"
    )


def _read_folder(path: Path, label_format: str | None) -> LabelSet:
    if label_format in (None, "capsule-vision") and capsule_vision.is_capsule_vision(path):
        return capsule_vision.read_folder(path)
    if label_format in (None, "kvasir") and kvasir.is_kvasir_folder(path):
        return kvasir.read_folder(path)
    inside = [name for name in _TABLES if (path / name).is_file()]
    advice = f"give the file {inside[0]} in it" if inside else f"give a table: {_NEEDED}"
    raise FileError(
        f"cannot read labels from {path}: the folder is not Kvasir-Capsule or Capsule Vision 2024; "
        f"{advice}"
    )
