"""capsieve's own label tables, and the reader of delimited files for labels, splits and scores."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from capsieve.labels.label_set import LabelProblem, LabelSet

__all__ = ["LABEL_FORMATS", "RawTable", "read_labels", "read_table", "write_labels"]

LABEL_FORMATS: Mapping[str, str] = {
    "capsieve": "a CSV or Parquet table with the column label, and file or exam and frame",
    "kvasir": "Kvasir-Capsule: labelled_images, metadata.csv or a split file",
    "capsule-vision": "the folder Dataset of Capsule Vision 2024",
}


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """A table as it is in a file: names of columns in small letters, and cells.

    Attributes
    ----------
    table
        CSV: every cell is text, and "" if it is empty. Parquet: as stored.
    path
        Where it was read.
    """

    table: pa.Table
    path: str

    def name_rows(self, rows: Sequence[int]) -> list[str]:
        """Return how a person finds these rows: "line 12"."""
        raise NotImplementedError

    @property
    def problems(self) -> tuple[LabelProblem, ...]:
        """Rows with too few or too many cells; they are not in the table."""
        raise NotImplementedError


def read_table(path: str | os.PathLike[str]) -> RawTable:
    """Read a CSV (comma, semicolon or tab; UTF-8) or Parquet file."""
    raise NotImplementedError


def read_labels(path: str | os.PathLike[str], *, label_format: str | None = None) -> LabelSet:
    """Read labels in any of the known formats."""
    raise NotImplementedError


def write_labels(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write labels as CSV or Parquet."""
    raise NotImplementedError
