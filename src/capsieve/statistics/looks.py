"""The looks of all frames of several exams, see :mod:`capsieve.phash`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.phash import BITS
from capsieve.store.reader import read_frames

__all__ = ["Looks", "read_looks"]

_BYTES = BITS // 8


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """The looks of frames, exam after exam.

    Attributes
    ----------
    look
        Rows of 32 bytes; zeros where there is none.
    there
        Whether the frame has one: there is enough to be seen in it.
    known
        Whether anybody looked: False for exams that were screened before there were looks.
    """

    look: NDArray[np.uint8]
    there: NDArray[np.bool_]
    known: NDArray[np.bool_]

    @property
    def featureless(self) -> NDArray[np.bool_]:
        """Frames in which there is too little to be seen, and frames that were not decoded."""
        return self.known & ~self.there


def read_looks(folders: Sequence[Path]) -> Looks:
    """Read the looks of exams; results without them are read as unknown.

    Parameters
    ----------
    folders
        The exams, in the order of the judged frames.

    Raises
    ------
    FileError
        A table is absent or damaged.
    """
    parts = [_of_exam(Path(folder)) for folder in folders]
    return Looks(
        np.concatenate([part.look for part in parts] or [np.empty((0, _BYTES), np.uint8)]),
        np.concatenate([part.there for part in parts] or [np.empty(0, bool)]),
        np.concatenate([part.known for part in parts] or [np.empty(0, bool)]),
    )


def _of_exam(folder: Path) -> Looks:
    if not _has_looks(folder):
        count = read_frames(folder, ["frame"]).num_rows
        nothing = np.zeros(count, bool)
        return Looks(np.zeros((count, _BYTES), np.uint8), nothing, nothing)
    column = read_frames(folder, ["look"])["look"]
    there = np.asarray(column.is_valid().to_numpy(), dtype=bool)
    looks = np.zeros((len(there), _BYTES), np.uint8)
    present = column.drop_null()
    content = b"".join(_bytes(chunk) for chunk in present.chunks)
    looks[there] = np.frombuffer(content, np.uint8).reshape(-1, _BYTES)
    return Looks(looks, there, np.ones(len(there), bool))


def _has_looks(folder: Path) -> bool:
    path = folder / "frames.parquet"
    try:
        return "look" in pq.read_schema(path).names
    except (OSError, pa.ArrowException) as error:
        raise FileError(
            f"cannot read {path} ({error}); screen the exam again, with --fresh"
        ) from error


def _bytes(chunk: pa.Array) -> bytes:
    """Return the content of an array of fixed size without nulls."""
    buffer = chunk.buffers()[1]
    start = _BYTES * chunk.offset
    return b"" if buffer is None else buffer.to_pybytes()[start : start + _BYTES * len(chunk)]
