"""Split files of Kvasir-Capsule: filename and label, one line per picture."""

import os
from pathlib import Path

from capsieve.errors import FileError
from capsieve.statistics.labels.delimited import read_header, read_records, record_lines
from capsieve.statistics.labels.kvasir import SPLIT_FINDINGS, picture_name
from capsieve.statistics.labels.kvasir_found import kvasir_labels
from capsieve.statistics.labels.label_set import LabelSet

__all__ = ["LOOKS", "NAME", "read", "recognises"]

NAME = "kvasir-split"
LOOKS = "a split file of Kvasir-Capsule (filename and label)"

_COLUMNS = {"filename", "label"}


def recognises(path: Path) -> bool:
    """Whether it has the columns filename and label."""
    header = read_header(path)
    return header is not None and set(header.columns) >= _COLUMNS


def read(path: Path) -> LabelSet:
    """Read the file.

    Raises
    ------
    FileError
        It does not have these columns, holds nothing or is not UTF-8.
    """
    header = read_header(path)
    if header is None or not set(header.columns) >= _COLUMNS:
        raise FileError(f"{path} does not have the columns filename and label")
    records = read_records(path, header)
    names, findings = (records.table[name].to_pylist() for name in ("filename", "label"))
    lines = record_lines(path, header, range(len(names)))
    rows = [
        (f"line {lines.get(row, '?')}", picture_name(name.strip()), finding)
        for row, (name, finding) in enumerate(zip(names, findings, strict=True))
    ]
    return kvasir_labels(
        rows, path=os.fspath(path), findings=SPLIT_FINDINGS, problems=records.problems
    )
