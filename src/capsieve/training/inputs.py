"""Crops and features of the frames: one decoding pass, stored in parts.

Frames are read by the :class:`~capsieve.sources.reader.FrameReader`, so their pixels are verified.
They are cropped and measured by the functions with which a model runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError, FrameError
from capsieve.frames import checked_pixels
from capsieve.learned.crop import CROP_VERSION, crop
from capsieve.learned.features import NAMES, VERSION, frame_features
from capsieve.screening.executors import Executor, choose_executor
from capsieve.store.exam import Exam
from capsieve.training.data import FrameSet
from capsieve.training.folds import StepListener
from capsieve.training.store import Joined, Store

SIZE = 160
"""Rows and columns of a crop."""

_PART = 128  # frames of a task and a file


@dataclass(frozen=True, slots=True, eq=False)
class FrameInputs:
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

    crops: Sequence[NDArray[np.uint8]]
    cropped: NDArray[np.bool_]
    values: NDArray[np.float32]
    key: str


def read_inputs(
    frames: FrameSet,
    work: Path,
    *,
    size: int = SIZE,
    workers: int | None = None,
    progress: StepListener,
) -> FrameInputs:
    """Return crops and features; frames whose files are in `work` are not decoded again.

    Parameters
    ----------
    frames
        Sorted by exam, head and frame.
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
    parts: list[NDArray[Any]] = []
    keys: list[str] = []
    with choose_executor(workers=workers) as executor:
        for code in np.unique(frames.labelled.exam.code).tolist():
            of_exam = frames.take(frames.labelled.exam.code == code)
            exam = Exam(frames.folders[code])
            store = _store(work, exam, of_exam, size)
            keys.append(store.key)
            parts += _parts(store, exam, of_exam, executor, size=size, progress=progress)
    return FrameInputs(
        crops=Joined([part["crop"] for part in parts]),
        cropped=np.concatenate([part["cropped"] for part in parts]),
        values=np.concatenate([part["values"] for part in parts]),
        key=sha256("".join(keys).encode()).hexdigest(),
    )


def _row(size: int) -> np.dtype[Any]:
    """Return the type of a stored row."""
    crop_type = ("crop", np.uint8, (size, size, 3))
    return np.dtype([crop_type, ("cropped", np.bool_), ("values", np.float32, (len(NAMES),))])


def _store(work: Path, exam: Exam, frames: FrameSet, size: int) -> Store:
    content = {
        "crop": [CROP_VERSION, size],
        "features": [VERSION, *NAMES],
        "fields": exam.record["fields_of_view"],
        "frames": list(zip(frames.labelled.head.tolist(), frames.pixel_hash.tolist(), strict=True)),
    }
    return Store(work, exam.folder.name, content)


class _Task(NamedTuple):
    """A part: consecutive frames of one head of an exam."""

    folder: Path
    head: int
    number: int
    frames: tuple[int, ...]
    decoded: tuple[bool, ...]


def _parts(
    store: Store,
    exam: Exam,
    frames: FrameSet,
    executor: Executor,
    *,
    size: int,
    progress: StepListener,
) -> list[NDArray[Any]]:
    """Return the rows of an exam in parts; those that are not stored are read and stored."""
    row = _row(size)
    tasks = list(_tasks(exam.folder, frames))

    def stored(task: _Task) -> NDArray[Any] | None:
        return store.read(f"part-{task.number:05}", row, (len(task.frames),))

    parts = [stored(task) for task in tasks]
    missing = [task for task, part in zip(tasks, parts, strict=True) if part is None]
    total, description = len(frames), f"Frames of {exam.record['exam']}"
    done = total - sum(len(task.frames) for task in missing)
    if missing:
        progress(description, done, total)
    for outcome in executor.run(partial(_measure, size), missing):
        if outcome.error is not None:
            raise outcome.error
        assert outcome.result is not None
        store.write(f"part-{outcome.task.number:05}", outcome.result)
        part = parts[outcome.task.number] = stored(outcome.task)
        if part is None:
            raise FileError(f"a file in {store.folder} changed while it was written; start again")
        done += len(outcome.task.frames)
        progress(description, done, total)
    return [part for part in parts if part is not None]


def _tasks(folder: Path, frames: FrameSet) -> Iterator[_Task]:
    known = frames.labelled
    decoded = np.array([text is not None for text in frames.pixel_hash], np.bool_)
    number = 0
    for head in np.unique(known.head).tolist():
        rows = np.flatnonzero(known.head == head)
        for first in range(0, len(rows), _PART):
            of_part = rows[first : first + _PART]
            numbers = tuple(known.frame[of_part].tolist())
            yield _Task(folder, head, number, numbers, tuple(decoded[of_part].tolist()))
            number += 1


def _measure(size: int, task: _Task) -> NDArray[Any]:
    """Return crop and features of each frame, as far as the frame is suited for them."""
    exam = Exam(task.folder)
    measured = np.zeros(len(task.frames), _row(size))
    measured["values"] = np.nan
    position = {
        frame: at
        for at, (frame, decoded) in enumerate(zip(task.frames, task.decoded, strict=True))
        if decoded
    }
    with exam.reader(task.head) as reader:
        for frame in reader.in_stored_order(list(position)):
            row = measured[position[frame]]
            try:
                pixels = checked_pixels(reader.pixels(frame))
                field = exam.field_of_view(task.head, *pixels.shape[:2])
                row["crop"], row["cropped"] = crop(pixels, field, size), True
                # Only this needs the paper's minimum size of a frame.
                row["values"] = frame_features(pixels, field, value_range=(0, 255)).values
            except FrameError:
                pass
    return measured
