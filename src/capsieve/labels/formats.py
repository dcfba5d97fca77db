"""The known label formats: read_labels recognises them by their content."""

import os
from pathlib import Path

from capsieve.errors import FileError, ParameterError
from capsieve.labels import capsule_vision, kvasir
from capsieve.labels.label_set import LabelSet
from capsieve.labels.tables import is_own, read_own, read_table

__all__ = ["LABEL_FORMATS", "read_labels"]

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
    if label_format in (None, "capsieve") and is_own(raw.columns):
        return read_own(raw)
    some = ", ".join(repr(name[:40]) for name in raw.columns[:6])
    more = ", ..." if len(raw.columns) > 6 else ""
    wanted = _NEEDED if label_format in (None, "capsieve") else LABEL_FORMATS[label_format]
    raise FileError(
        f"cannot read labels from {path}: its columns are {some}{more}; needed: {wanted}"
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
