"""A split on disk: which part each frame belongs to, and what it is kept together with."""

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError
from capsieve.statistics.codes import joint_codes, text_codes
from capsieve.statistics.labels.delimited import read_header
from capsieve.statistics.labels.label_set import LabelProblem

__all__ = ["SPLITS", "SPLITS_SCHEMA", "Splits", "read_splits", "write_splits"]

SPLITS_SCHEMA = 1
"""Version of the columns; it grows when a name changes its meaning."""

SPLITS = pa.schema(
    [
        ("exam", pa.string()),  # exam, head, frame and file as in the labels
        ("head", pa.int16()),
        ("frame", pa.int64()),
        ("file", pa.string()),
        ("group", pa.string()),  # what goes into one part as a whole; null in hand-made files
        ("kind", pa.string()),  # of the group: patient | block | exam; null likewise
        ("part", pa.string()),  # train | test, or 1, 2, ...
        ("schema", pa.int32()),  # in every row: a CSV file has no other place for it
    ]
)
"""One row per frame."""

_KINDS = ("patient", "block", "exam")
_EXAMPLES = 5
_PARTS = ("train", "test")
_BATCH = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """A split.

    Attributes
    ----------
    table
        :data:`SPLITS`, in the order of the file. Frames that stand there twice are kept.
    path
        Where it was read, or "" where it was just made.
    problems
        Frames that stand there twice under the same key.
    """

    table: pa.Table
    path: str = ""
    problems: tuple[LabelProblem, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, in the order in which they first stand there."""
        return tuple(self.table["part"].unique().to_pylist())


def write_splits(splits: Splits, path: str | os.PathLike[str]) -> None:
    """Write a split: Parquet where the name ends in .parquet, else CSV; whole or not at all.

    Raises
    ------
    FileError
        The folder is not there, the disk is full, ...
    """
    with atomic_write(path) as temporary:
        if Path(path).suffix.lower() == ".parquet":
            pq.write_table(splits.table, temporary, compression="zstd")
            return
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(SPLITS.names)
            for batch in splits.table.to_batches(max_chunksize=_BATCH):
                writer.writerows(zip(*(column.to_pylist() for column in batch), strict=True))


def read_splits(path: str | os.PathLike[str]) -> Splits:
    """Read a split, from ``capsieve splits`` or made by hand.

    A split made by hand needs the column part, and exam and frame, or file.

    Raises
    ------
    FileError
        The file is absent, no table, has a column missing or an empty part, or numbers are none.
    """
    path = Path(path)
    table = _read(path)
    absent = [name for name in ("part",) if name not in table.column_names]
    if "frame" not in table.column_names and "file" not in table.column_names:
        absent.append("frame (or file)")
    if absent:
        raise FileError(
            f"{path} has no column {', '.join(absent)}; a split has the columns exam and frame, "
            "or file, and part: capsieve splits writes one"
        )
    columns = [_column(path, table, field) for field in SPLITS]
    table = pa.table(columns, schema=SPLITS)
    table = table.set_column(
        SPLITS.get_field_index("part"), "part", _usual_names(table["part"])
    ).cast(SPLITS)
    _check(path, table)
    return Splits(table, str(path), _repeated(table))


def _read(path: Path) -> pa.Table:
    try:
        if path.suffix.lower() == ".parquet":
            return pq.read_table(path)
        path.open("rb").close()  # says better than a parser why it cannot be opened
        header = read_header(path)
        if header is None:
            raise FileError(f"{path} is no split: it is no table; capsieve splits writes one")
        names = [name or f"column {place}" for place, name in enumerate(header.columns)]
        # All as text: a group or part that is called 007 stays so.
        return pv.read_csv(
            path,
            read_options=pv.ReadOptions(column_names=names, skip_rows=header.lines),
            parse_options=pv.ParseOptions(delimiter=header.delimiter, newlines_in_values=True),
            convert_options=pv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=True,
                null_values=[""],
            ),
        )
    except FileNotFoundError:
        raise FileError(f"there is no file {path}; capsieve splits writes one") from None
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FileError(f"cannot read the split {path}: {why}") from error


def _column(path: Path, table: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    if field.name not in table.column_names:
        return pa.chunked_array([pa.nulls(table.num_rows, field.type)])
    try:
        return table[field.name].cast(field.type)
    except pa.ArrowException as error:
        raise FileError(
            f"the column {field.name} of {path} holds something that is no whole number: {error}"
        ) from error


def _usual_names(parts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the parts with ``Train`` and ``TEST`` as train and test; others are folds as named."""
    names = parts.unique().to_pylist()
    usual = {name: name.strip().lower() for name in names if name is not None}
    known = {name: usual[name] for name in usual if usual[name] in _PARTS}
    return pa.chunked_array([[known.get(name, name) for name in parts.to_pylist()]], pa.string())


def _check(path: Path, table: pa.Table) -> None:
    versions = [version for version in table["schema"].unique().to_pylist() if version is not None]
    if any(version != SPLITS_SCHEMA for version in versions):
        raise FileError(
            f"{path} has the schema {versions[0]}, and this version of capsieve knows "
            f"{SPLITS_SCHEMA}; make the split again"
        )
    kinds = {kind for kind in table["kind"].unique().to_pylist() if kind is not None}
    if not kinds <= set(_KINDS):
        raise FileError(
            f"{path} has groups of the kind {min(kinds - set(_KINDS))!r}; kinds are "
            f"{', '.join(_KINDS)}"
        )
    if not table.num_rows:
        raise FileError(f"{path} has no row; capsieve splits makes a split from labels")
    if table["part"].null_count:
        place = table["part"].is_null().to_pylist().index(True)
        raise FileError(f"row {place + 1} of {path} has no part; name one, or take the row out")


def _repeated(table: pa.Table) -> tuple[LabelProblem, ...]:
    """Name the frames that stand there twice."""
    texts = [text_codes(table[name]) for name in ("exam", "file")]
    numbers = [
        np.asarray(pc.fill_null(table[name], -1).to_numpy()).astype(np.int64)
        for name in ("head", "frame")
    ]
    key = joint_codes(*texts, *numbers)
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    twice = first[counts > 1]
    if not len(twice):
        return ()
    rows = table.take(pa.array(np.sort(twice)[:_EXAMPLES])).to_pylist()
    names = tuple(
        row["file"] or f"{row['exam'] or ''} frame {row['frame']}".strip() for row in rows
    )
    return (LabelProblem("the frame stands in the split more than once", len(twice), names),)
