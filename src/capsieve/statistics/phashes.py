"""The perceptual hashes of all frames of several exams, see :mod:`capsieve.phash`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.phash import BITS
from capsieve.store.exam import Exam

__all__ = ["PerceptualHashes", "read_phashes"]

_BYTES = BITS // 8


@dataclass(frozen=True, slots=True, eq=False)
class PerceptualHashes:
    """The perceptual hashes of frames, exam after exam.

    Attributes
    ----------
    phash
        Rows of 32 bytes; zeros if the frame has none.
    there
        Whether the frame has one: it was decoded and is not featureless.
    """

    phash: NDArray[np.uint8]
    there: NDArray[np.bool_]


def read_phashes(folders: Sequence[Path]) -> PerceptualHashes:
    """Read the perceptual hashes of exams.

    Parameters
    ----------
    folders
        The exams, in the order of the judged frames.

    Raises
    ------
    FileError
        A table is absent or damaged.
    """
    parts = [_read_exam(Path(folder)) for folder in folders]
    return PerceptualHashes(
        np.concatenate([part.phash for part in parts] or [np.empty((0, _BYTES), np.uint8)]),
        np.concatenate([part.there for part in parts] or [np.empty(0, bool)]),
    )


def _read_exam(folder: Path) -> PerceptualHashes:
    column = Exam(folder).columns("phash")["phash"]
    there = np.asarray(column.is_valid().to_numpy(), dtype=bool)
    hashes = np.zeros((len(there), _BYTES), np.uint8)
    content = b"".join(_bytes(chunk) for chunk in column.drop_null().chunks)
    hashes[there] = np.frombuffer(content, np.uint8).reshape(-1, _BYTES)
    return PerceptualHashes(hashes, there)


def _bytes(chunk: pa.Array) -> bytes:
    """Return the content of an array of fixed size without nulls."""
    buffer = chunk.buffers()[1]
    start = _BYTES * chunk.offset
    return b"" if buffer is None else buffer.to_pybytes()[start : start + _BYTES * len(chunk)]
