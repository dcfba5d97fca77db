"""The field of view of every labelled frame, cut out once and kept for all fits."""

import errno
import json
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write, remove_leftovers
from capsieve.engine.labelled_frames import SurveyedExam, survey_exams
from capsieve.engine.training_frames import TrainingFrames
from capsieve.errors import FileError
from capsieve.frames import FieldOfView, checked_pixels, pixel_hash
from capsieve.learned.crop import CROP_VERSION, crop
from capsieve.learned.training.trainer import Tell
from capsieve.screening.executors import Executor
from capsieve.screening.plan import stored_fields
from capsieve.screening.segment import SegmentTask, map_frames
from capsieve.sources.base import SourceFrame
from capsieve.store.record import Record, read_record

__all__ = ["CropTask", "crop_frames", "crop_segment", "gather_crops"]

_CHANGED = "the source has changed since it was screened; start over with --overwrite"


@dataclass(frozen=True, slots=True)
class CropTask:
    """Frames of a segment, and the rows of their crops.

    Attributes
    ----------
    frames
        The frames to decode; the function is :func:`crop_frames`.
    pixel_hash
        Hash of each frame's pixels when it was screened.
    rows
        Rows of the crops.
    """

    frames: SegmentTask[tuple[str, NDArray[np.uint8]] | None]
    pixel_hash: tuple[str, ...]
    rows: tuple[int, ...]

    def __str__(self) -> str:
        return str(self.frames)


def crop_frames(
    size: int, frames: Sequence[SourceFrame], fields: Sequence[FieldOfView | None]
) -> list[tuple[str, NDArray[np.uint8]] | None]:
    """Return for each frame its hash and its crop; None if it cannot be decoded."""
    return [
        None
        if frame.pixels is None
        else (pixel_hash(frame.pixels), crop(checked_pixels(frame.pixels), field, size))
        for frame, field in zip(frames, fields, strict=True)
    ]


def crop_segment(task: CropTask) -> NDArray[np.uint8]:
    """Return the crops of the frames, N x S x S x 3.

    Raises
    ------
    FileError
        A frame is not the one that was screened.
    """
    found = map_frames(task.frames)
    crops: list[NDArray[np.uint8]] = []
    for each, expected in zip(found, task.pixel_hash, strict=True):
        if each is None or each[0] != expected:
            raise FileError(f"{task} in {task.frames.place.path}: {_CHANGED}")
        crops.append(each[1])
    return np.stack(crops)


def gather_crops(
    inputs: Sequence[str | os.PathLike[str]],
    frames: TrainingFrames,
    folder: Path,
    executor: Executor,
    *,
    size: int,
    full_names: bool,
    tell: Tell,
) -> NDArray[np.uint8]:
    """Return the crops of all examples, read from a file in the folder, which is made where needed.

    A run that was killed goes on: crops that are done are not made again.

    Parameters
    ----------
    inputs, full_names
        What was screened.
    frames
        Whose crops are wanted.
    folder
        For the file.
    executor
        Where the work is done.
    size
        Rows and columns of a crop.
    tell
        Called as the work goes on.
    """
    kept = _Kept(folder, _identity(frames, size), len(frames.place), size)
    missing = ~kept.done
    count = len(missing)
    tell("Crops", count - int(missing.sum()), count)
    if missing.any():
        exams, _ = survey_exams(inputs, full_names=full_names)
        for outcome in executor.run(crop_segment, _tasks(exams, frames, missing, size)):
            if outcome.result is None:
                assert outcome.error is not None
                raise outcome.error
            kept.keep(np.array(outcome.task.rows), outcome.result)
            tell("Crops", int(kept.done.sum()), count)
    if not kept.done.all():
        raise FileError(f"some of the frames that were screened are gone: {_CHANGED}")
    return kept.crops


class _Kept:
    """A file of crops, and beside it which of them are done.

    Plain writes and not a memory map: on a full disk a write fails with a sentence, a map by a
    signal that kills the process.
    """

    def __init__(self, folder: Path, identity: str, count: int, size: int) -> None:
        path = folder / f"crops-{size}-{identity[:16]}.npy"
        self._crops = _RowFile(path, (count, size, size, 3))
        self._marks = _RowFile(path.with_suffix(".done.npy"), (count,))
        with _keeping(path):
            folder.mkdir(parents=True, exist_ok=True)
            remove_leftovers(folder)
            if not (self._crops.whole() and self._marks.whole()):
                self._marks.blank()  # first: no mark may outlive its crop
                self._crops.blank()
            self.done = self._marks.read() > 0

    @property
    def crops(self) -> NDArray[np.uint8]:
        """All crops, mapped from their file; for reading only."""
        with _keeping(self._crops.path):
            return self._crops.read()

    def keep(self, rows: NDArray[np.int64], crops: NDArray[np.uint8]) -> None:
        with _keeping(self._crops.path):
            self._crops.write(rows, crops)  # on the disk before it is said to be done
            self._marks.write(rows, np.ones(len(rows), np.uint8))
        self.done[rows] = True


class _RowFile:
    """An array of bytes as a .npy file that is written row by row, in any order."""

    def __init__(self, path: Path, shape: tuple[int, ...]) -> None:
        beginning = BytesIO()
        content = {"descr": "|u1", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(beginning, content)
        self.path = path
        self._header = beginning.getvalue()
        self._row_bytes = math.prod(shape[1:])
        self._length = len(self._header) + math.prod(shape)

    def whole(self) -> bool:
        """Whether the file is there, with this shape and length."""
        if not self.path.exists() or self.path.stat().st_size != self._length:
            return False
        with self.path.open("rb") as file:
            return file.read(len(self._header)) == self._header

    def blank(self) -> None:
        with atomic_write(self.path) as temporary, temporary.open("wb") as file:
            file.write(self._header)
            file.truncate(self._length)

    def write(self, rows: NDArray[np.int64], content: NDArray[np.uint8]) -> None:
        with self.path.open("r+b") as file:
            for row, item in zip(rows.tolist(), content, strict=True):
                file.seek(len(self._header) + row * self._row_bytes)
                file.write(item.tobytes())
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> NDArray[np.uint8]:
        found: NDArray[np.uint8] = np.load(self.path, mmap_mode="r", allow_pickle=False)
        return found


@contextmanager
def _keeping(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        why, room = error, ""
        if isinstance(error, OSError):
            why = error.strerror or error
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                room = "; make room, and run the same command again: it goes on from there"
        raise FileError(f"cannot keep crops in {path}: {why}{room}") from error


def _identity(frames: TrainingFrames, size: int) -> str:
    """All that decides about the crops: the frames, their fields of view, the size, the code."""
    records = [read_record(folder) for folder in frames.read.matched.folders]
    text = json.dumps(
        [CROP_VERSION, size, frames.pixel_hash, [record["fields_of_view"] for record in records]]
    )
    return sha256(text.encode()).hexdigest()


def _tasks(
    exams: Sequence[SurveyedExam],
    frames: TrainingFrames,
    missing: NDArray[np.bool_],
    size: int,
) -> Iterator[CropTask]:
    judged = frames.judged
    row_of = np.full(len(judged), -1, np.int64)
    row_of[frames.place[missing]] = np.flatnonzero(missing)
    records = {record["exam"]: record for record in map(read_record, frames.read.matched.folders)}
    for exam in exams:
        if exam.name not in judged.exams:
            continue
        record, code = records[exam.name], judged.exams.index(exam.name)
        for source, survey in exam.heads:
            head = source.place.head
            if survey.sha256 != _source_sha256(record, head):
                raise FileError(f"{source.place.path}: {_CHANGED}")
            rows = row_of[(judged.exam == code) & (judged.head == head)]  # by growing frame
            first = 0
            for segment in survey.segments:
                length = sum(1 for _ in source.expected(segment))
                here = rows[first : first + length]
                first += length
                wanted = np.flatnonzero(here >= 0)
                if len(wanted):
                    yield CropTask(
                        SegmentTask(
                            exam.name,
                            source.place,
                            segment,
                            stored_fields(record, head),
                            partial(crop_frames, size),
                            tuple(wanted.tolist()),
                        ),
                        pixel_hash=tuple(frames.pixel_hash[row] for row in here[wanted].tolist()),
                        rows=tuple(here[wanted].tolist()),
                    )


def _source_sha256(record: Record, head: int) -> str:
    return next(source["sha256"] for source in record["sources"] if source["head"] == head)
