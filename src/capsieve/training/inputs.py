"""Crops and features of the frames: one decoding pass, stored per exam.

Frames are read by the :class:`~capsieve.sources.reader.FrameReader`, so their pixels are verified.
They are cropped and measured by the functions with which a model runs.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write, remove_leftovers
from capsieve.errors import FrameError, file_errors
from capsieve.frames import checked_pixels
from capsieve.learned.crop import CROP_VERSION, crop
from capsieve.learned.features import NAMES, VERSION, frame_features
from capsieve.screening.executors import Executor, choose_executor
from capsieve.store.exam import Exam
from capsieve.training.data import FrameSet
from capsieve.training.folds import Progress

__all__ = ["SIZE", "Inputs", "read_inputs"]

SIZE = 160
"""Rows and columns of a crop."""

_CHUNK = 128  # frames of a task
_CROPS, _MEASURED = "crops.npy", "measured.npz"


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """What models take, one row per frame of a :class:`~capsieve.training.data.FrameSet`.

    Attributes
    ----------
    crops
        A sequence of S x S x 3 bytes, RGB; read from files.
    cropped
        Frames that have a crop.
    values
        The features, N x :data:`capsieve.learned.features.NAMES`; NaN if the frame could not be
        measured, for example because it is too small.
    key
        Hash of everything that determines the arrays.
    """

    crops: "Crops"
    cropped: NDArray[np.bool_]
    values: NDArray[np.float32]
    key: str


class Crops:
    """Crops of all frames, in a file per exam."""

    def __init__(self, parts: Sequence[NDArray[np.uint8]]) -> None:
        self._parts = parts
        self._first = np.cumsum([0, *map(len, parts)])

    def __len__(self) -> int:
        return int(self._first[-1])

    def __getitem__(self, row: int) -> NDArray[np.uint8]:
        part = int(np.searchsorted(self._first, row, side="right")) - 1
        return np.array(self._parts[part][row - self._first[part]])


def read_inputs(
    frames: FrameSet,
    work: Path,
    *,
    size: int = SIZE,
    workers: int | None = None,
    progress: Progress,
) -> Inputs:
    """Return crops and features; exams whose files are in `work` are not decoded again.

    Parameters
    ----------
    frames
        Sorted by exam.
    work
        Folder for the files.
    size
        Rows and columns of the crops.
    workers
        Processes; None for one per core.
    progress
        Called with what is done, and how much of it.

    Raises
    ------
    FileError
        A source is missing or has changed since it was screened, or `work` cannot be written.
    """
    crops: list[NDArray[np.uint8]] = []
    cropped: list[NDArray[np.bool_]] = []
    values: list[NDArray[np.float32]] = []
    keys: list[str] = []
    with choose_executor(workers=workers) as executor:
        for code in np.unique(frames.labelled.exam.code).tolist():
            some = frames.take(frames.labelled.exam.code == code)
            exam = Exam(frames.folders[code])
            keys.append(_key(exam, some, size))
            folder = work / f"{exam.folder.name}-{keys[-1][:16]}"
            stored = _stored(folder, len(some), size)
            if stored is None:
                _decode(exam, some, folder, executor, size=size, progress=progress)
                stored = _stored(folder, len(some), size)
                assert stored is not None
            crops.append(stored[0])
            cropped.append(stored[1])
            values.append(stored[2])
    key = sha256("".join(keys).encode()).hexdigest()
    return Inputs(Crops(crops), np.concatenate(cropped), np.concatenate(values), key)


def _key(exam: Exam, frames: FrameSet, size: int) -> str:
    """Return a hash of everything that determines the content of the files."""
    content = {
        "crop": [CROP_VERSION, size],
        "features": [VERSION, *NAMES],
        "fields": exam.record["fields_of_view"],
        "frames": list(zip(frames.labelled.head.tolist(), frames.pixel_hash.tolist(), strict=True)),
    }
    return sha256(json.dumps(content).encode()).hexdigest()


def _stored(
    folder: Path, count: int, size: int
) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.float32]] | None:
    """Return the arrays of an exam; None if they are absent or damaged."""
    try:
        crops = np.load(folder / _CROPS, mmap_mode="r", allow_pickle=False)
        # Opened here: NumPy would not close a broken file.
        with (folder / _MEASURED).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            cropped, values = stored["cropped"], stored["values"]
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    shapes = crops.shape, cropped.shape, values.shape
    if shapes != ((count, size, size, 3), (count,), (count, len(NAMES))):
        return None
    return crops, cropped, values


class _Task(NamedTuple):
    """Some frames of one head of an exam, and their rows in the arrays."""

    folder: Path
    head: int
    frames: tuple[int, ...]
    rows: tuple[int, ...]


_Measured = tuple[NDArray[np.uint8] | None, NDArray[np.float32] | None]


def _decode(
    exam: Exam, frames: FrameSet, folder: Path, executor: Executor, *, size: int, progress: Progress
) -> None:
    """Write the files of an exam."""
    count, done, what = len(frames), 0, f"Frames of {exam.record['exam']}"
    crops = np.zeros((count, size, size, 3), np.uint8)
    cropped = np.zeros(count, np.bool_)
    values = np.full((count, len(NAMES)), np.nan, np.float32)
    progress(what, done, count)
    for outcome in executor.run(partial(_measure, size), _tasks(exam, frames)):
        if outcome.error is not None:
            raise outcome.error
        assert outcome.result is not None
        for row, (image, measured) in zip(outcome.task.rows, outcome.result, strict=True):
            if image is not None:
                crops[row], cropped[row] = image, True
            if measured is not None:
                values[row] = measured
        done += len(outcome.task.rows)
        progress(what, done, count)
    with file_errors("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder)
    with atomic_write(folder / _MEASURED) as temporary:
        np.savez(temporary, allow_pickle=False, cropped=cropped, values=values)
    with atomic_write(folder / _CROPS, durable=True) as temporary:
        np.save(temporary, crops, allow_pickle=False)


def _tasks(exam: Exam, frames: FrameSet) -> Iterator[_Task]:
    decoded = np.array([text is not None for text in frames.pixel_hash], np.bool_)
    for head in exam.heads:
        rows = np.flatnonzero((frames.labelled.head == head) & decoded)
        with exam.reader(head) as reader:
            order = {
                frame: place
                for place, frame in enumerate(
                    reader.in_stored_order(frames.labelled.frame[rows].tolist())
                )
            }
        rows = rows[np.argsort([order[frame] for frame in frames.labelled.frame[rows].tolist()])]
        for first in range(0, len(rows), _CHUNK):
            some = rows[first : first + _CHUNK].tolist()
            yield _Task(exam.folder, head, tuple(frames.labelled.frame[some].tolist()), tuple(some))


def _measure(size: int, task: _Task) -> list[_Measured]:
    """Return crop and features of each frame; None for what a frame is not suited for."""
    exam = Exam(task.folder)
    found: list[_Measured] = []
    with exam.reader(task.head) as reader:
        for frame in task.frames:
            image = values = None
            try:
                pixels = checked_pixels(reader.pixels(frame))
                field = exam.field_of_view(task.head, *pixels.shape[:2])
                image = crop(pixels, field, size)
                # Only this needs the paper's minimum size of a frame.
                values = frame_features(pixels, field, value_range=(0, 255)).values
            except FrameError:
                pass
            found.append((image, values))
    return found
