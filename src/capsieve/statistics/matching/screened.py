"""The frames of all screened exams as columns, exam after exam."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.statistics.codes import as_codes
from capsieve.store.exam import Exam
from capsieve.store.record import Record

__all__ = ["Screened", "folder_root", "read_screened"]

_FOLDERS = 4  # Dataset/training/Polyp/KID: more than that no labels name

# For each column of the judged frames: the table's column, the type, what stands for null.
_NUMBERS: dict[str, tuple[str, Any, float]] = {
    "head": ("head", np.int16, 0),
    "frame": ("frame", np.int64, 0),
    "time": ("time_s", np.float64, np.nan),
    "rows": ("rows", np.int32, 0),
    "cols": ("cols", np.int32, 0),
    "score": ("score", np.float64, np.nan),
    "texture_max": ("texture_max", np.float64, np.nan),
    "radius_max": ("radius_max", np.float64, np.nan),
    "row": ("row", np.float64, np.nan),
    "col": ("col", np.float64, np.nan),
    "radius": ("radius", np.float64, np.nan),
}
_OTHERS = ("file", "status", "flagged", "reason")


@dataclass(frozen=True, slots=True, eq=False)
class Screened:
    """The frames of several exams, sorted by exam, head and frame.

    Attributes
    ----------
    folders, exams
        Of the exams, in the order of their frames.
    exam
        A code into `exams` per frame.
    heads
        For each exam the heads that it has, growing.
    columns
        The columns of :class:`~capsieve.statistics.judged.Judged` that come from the tables.
    reasons, reason
        Names, and a code per frame; -1 where the frame was not scored.
    flagged, decoded
        What became of each frame.
    file
        Names of image files, null in videos.
    has_files
        For each exam whether its frames are files.
    roots
        For each exam the folder that its files lie in, with the folders around it; the exam's name
        where that is unknown. () where all are.
    """

    folders: tuple[Path, ...]
    exams: tuple[str, ...]
    exam: NDArray[np.int32]
    heads: tuple[tuple[int, ...], ...]
    columns: Mapping[str, NDArray[Any]]
    reasons: tuple[str, ...]
    reason: NDArray[np.int16]
    flagged: NDArray[np.bool_]
    decoded: NDArray[np.bool_]
    file: pa.Array
    has_files: NDArray[np.bool_]
    roots: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.exam)


def read_screened(folders: Sequence[Path]) -> Screened:
    """Read the frames of exams.

    Parameters
    ----------
    folders
        One per exam, from :func:`capsieve.store.exam.exam_folders`.

    Raises
    ------
    FileError
        There is none, a table cannot be read, or two exams have the same name.
    """
    if not folders:
        raise FileError("no screened exam was named; give a folder that capsieve screen wrote")
    read = [Exam(folder) for folder in folders]
    exams = tuple(exam.record["exam"] for exam in read)
    for place, exam in enumerate(exams):
        if exam in exams[:place]:
            raise FileError(
                f"two exams are named {exam!r}: {folders[exams.index(exam)]} and "
                f"{folders[place]}; evaluate them apart, or screen one under another name"
            )
    parts = [_read_exam(exam) for exam in read]
    sizes = [len(part.flagged) for part in parts]
    heads = tuple(tuple(np.unique(part.numbers["head"]).tolist()) for part in parts)
    has_files = [part.texts["file"].null_count < len(part.flagged) for part in parts]
    # What has been joined is let go of at once: a large study is never held twice.
    file, reason_texts = (
        pa.concat_arrays([part.texts.pop(name) for part in parts]) for name in ("file", "reason")
    )
    reasons, reason = as_codes(reason_texts)
    return Screened(
        folders=tuple(Path(folder) for folder in folders),
        exams=exams,
        exam=np.repeat(np.arange(len(parts), dtype=np.int32), sizes),
        heads=heads,
        columns={
            name: np.concatenate([part.numbers.pop(name) for part in parts]) for name in _NUMBERS
        },
        reasons=reasons,
        reason=reason.astype(np.int16),
        flagged=np.concatenate([part.flagged for part in parts]),
        decoded=np.concatenate([part.decoded for part in parts]),
        file=file,
        has_files=np.array(has_files),
        roots=tuple(_root(exam.record) for exam in read),
    )


def folder_root(path: str) -> str:
    """Return the last folders of a path, as many as labels may name."""
    return "/".join(Path(path).parts[1:][-_FOLDERS:])


def _root(record: Record) -> str:
    paths = {source["path"] for source in record["sources"] if source["kind"] == "folder"}
    return folder_root(paths.pop()) if len(paths) == 1 else record["exam"]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    numbers: dict[str, NDArray[Any]]
    texts: dict[str, pa.Array]
    flagged: NDArray[np.bool_]
    decoded: NDArray[np.bool_]


def _read_exam(exam: Exam) -> _Part:
    wanted = [*(column for column, _, _ in _NUMBERS.values()), *_OTHERS]
    table = exam.columns(*dict.fromkeys(wanted))
    numbers = {
        name: _filled(table[column], kind, null) for name, (column, kind, null) in _NUMBERS.items()
    }
    head, frame = numbers["head"].astype(np.int64), numbers["frame"]
    later = (np.diff(head) > 0) | ((np.diff(head) == 0) & (np.diff(frame) > 0))
    if not later.all():
        raise FileError(
            f"the frames in {exam.folder / 'frames.parquet'} are not sorted by head and frame; "
            "screen the exam again, with --overwrite"
        )
    return _Part(
        numbers=numbers,
        texts={name: _whole(table[name]) for name in ("file", "reason")},
        flagged=np.asarray(table["flagged"].to_numpy(), dtype=bool),
        decoded=_equal(table["status"], "decoded"),
    )


def _whole(column: pa.ChunkedArray) -> pa.Array:
    joined = column.combine_chunks()
    return joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)


def _filled(column: pa.ChunkedArray, kind: Any, null: float) -> NDArray[Any]:
    if column.null_count:
        column = column.cast(pa.float64()) if np.isnan(null) else column
        column = pc.fill_null(column, null)
    return np.asarray(column.to_numpy()).astype(kind)


def _equal(column: pa.ChunkedArray, text: str) -> NDArray[np.bool_]:
    same = pc.equal(column, text)  # pyright: ignore[reportAttributeAccessIssue]
    return np.asarray(pc.fill_null(same, False).to_numpy(), dtype=bool)
