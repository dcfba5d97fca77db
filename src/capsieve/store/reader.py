"""Reading what was screened: the exams of a results folder, and their tables."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from capsieve.errors import FileError
from capsieve.sources.natural_order import natural_key
from capsieve.store.record import RECORD
from capsieve.store.schema import FRAMES, SCHEMA
from capsieve.store.unfinished import WORK

__all__ = [
    "TableName",
    "exam_folders",
    "read_features",
    "read_frames",
    "table_batches",
    "unfinished_exams",
]

TableName = Literal["frames", "features", "events"]

_BATCH = 1 << 16
# Columns that older tables of the same schema are without.
_LATER = {"frames": ("values",)}
_NAMED = 5  # unfinished exams that a message names


def exam_folders(out: str | os.PathLike[str]) -> list[Path]:
    """Return the folders of the exams that were screened into a folder, in natural order.

    Parameters
    ----------
    out
        What was given to ``capsieve screen -o``, or the folder of one exam in it.

    Returns
    -------
    list of pathlib.Path
        Of finished exams, at least one. :func:`unfinished_exams` names the others.

    Raises
    ------
    FileError
        There is no finished exam.
    """
    out = Path(out)
    if (out / RECORD).is_file():
        return [out]
    finished = [folder for folder in _folders(out) if (folder / RECORD).is_file()]
    if finished:
        return finished
    unfinished = unfinished_exams(out)
    if unfinished:
        names = ", ".join(folder.name for folder in unfinished[:_NAMED])
        more = f" and {len(unfinished) - _NAMED} more" if len(unfinished) > _NAMED else ""
        raise FileError(
            f"no exam in {out} is finished: {names}{more}; run the same capsieve screen again, "
            "it goes on from there"
        )
    raise FileError(
        f"{out} holds no screened exam; give the folder that capsieve screen -o wrote, with "
        f"{RECORD} in the folder of each exam, or one exam's folder"
    )


def unfinished_exams(out: str | os.PathLike[str]) -> list[Path]:
    """Return the folders of exams whose screening was begun and never finished."""
    out = Path(out)
    places = [out, *_folders(out)]
    return [
        folder for folder in places if (folder / WORK).is_dir() and not (folder / RECORD).is_file()
    ]


def read_frames(folder: Path, columns: Sequence[str]) -> pa.Table:
    """Read columns of an exam's frames.parquet, sorted by head and frame.

    The column "values" is null where an older table is without it.

    Raises
    ------
    FileError
        The table is absent, damaged, of another schema, or has no such column.
    """
    return _read(folder, "frames", columns)


def read_features(folder: Path, columns: Sequence[str]) -> pa.Table:
    """Read columns of an exam's features.parquet, sorted by head, frame and feature.

    Raises
    ------
    FileError
        As for :func:`read_frames`.
    """
    return _read(folder, "features", columns)


def table_batches(
    folder: Path, table: TableName, columns: Sequence[str] | None = None
) -> Iterator[dict[str, pa.Array]]:
    """Yield a table of an exam piece by piece, so that no exam is too long.

    Parameters
    ----------
    folder
        The exam's.
    table
        Which one.
    columns
        Their names; None for all.

    Raises
    ------
    FileError
        As for :func:`read_frames`.
    """
    path = _path(folder, table)
    try:
        with pq.ParquetFile(path) as file:
            _check(path, file.schema_arrow, table, columns)
            names = None if columns is None else list(columns)
            for batch in file.iter_batches(batch_size=_BATCH, columns=names):
                yield dict(zip(batch.schema.names, batch.columns, strict=True))
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from error


def _read(folder: Path, table: TableName, columns: Sequence[str]) -> pa.Table:
    path = _path(folder, table)
    try:
        with pq.ParquetFile(path) as file:
            later = _LATER.get(table, ())
            _check(path, file.schema_arrow, table, [name for name in columns if name not in later])
            there = [name for name in columns if name in file.schema_arrow.names]
            read = file.read(there)
            for name in columns:
                if name not in there:
                    kind = FRAMES.field(name)
                    read = read.append_column(kind, pa.nulls(read.num_rows, kind.type))
            # Parquet keeps its own order of columns; callers get the one they asked for.
            return read.select(list(columns))
    except (OSError, pa.ArrowException) as error:
        raise _unreadable(path, error) from error


def _folders(out: Path) -> list[Path]:
    try:
        found = [path for path in out.iterdir() if path.is_dir() and path.name != WORK]
    except FileNotFoundError:
        raise FileError(
            f"there is no folder {out}; give the one that capsieve screen -o wrote"
        ) from None
    except NotADirectoryError:
        raise FileError(f"{out} is no folder; give the one that capsieve screen -o wrote") from None
    except OSError as error:
        raise FileError(f"cannot list {out}: {error.strerror or error}") from error
    return sorted(found, key=lambda path: natural_key(path.name))


def _path(folder: Path, table: TableName) -> Path:
    return folder / f"{table}.parquet"


def _check(path: Path, schema: pa.Schema, table: TableName, columns: Sequence[str] | None) -> None:
    try:
        content = json.loads((schema.metadata or {})[b"capsieve"])
        version, name = content["schema"], content["table"]
    except (KeyError, TypeError, ValueError):
        raise FileError(
            f"{path} is no table of capsieve: it carries no schema version; screen the exam "
            "again, with --fresh"
        ) from None
    if version != SCHEMA or name != table:
        raise FileError(
            f"{path} is the table {name!r} of schema {version!r}, and this version of capsieve "
            f"reads {table!r} of schema {SCHEMA}; screen the exam again, with --fresh"
        )
    absent = [column for column in columns or () if column not in schema.names]
    if absent:
        raise FileError(
            f"{path} has no column {', '.join(absent)}; screen the exam again, with --fresh"
        )


def _unreadable(path: Path, error: Exception) -> FileError:
    return FileError(f"cannot read {path} ({error}); screen the exam again, with --fresh")
