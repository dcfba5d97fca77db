"""The field of view of every labelled frame, cut out once and kept for all fits."""

import errno
import json
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write, remove_leftovers
from capsieve.engine.executors.executor import Executor
from capsieve.engine.labelled_frames import SurveyedExam, survey_exams
from capsieve.engine.segment_work import View
from capsieve.engine.training_frames import TrainingFrames
from capsieve.errors import FileError
from capsieve.frames import FieldOfView, checked_pixels, pixel_hash
from capsieve.learned.image_input import CROP_VERSION, crop
from capsieve.learned.training.trainer import Tell
from capsieve.sources.source import Place, Segment, open_source
from capsieve.store.record import Record, read_record

__all__ = ["CropTask", "crop_segment", "gather_crops"]

_CHANGED = "the source has changed since it was screened; start over with --fresh"


@dataclass(frozen=True, slots=True)
class CropTask:
    """All that a worker needs to know.

    Attributes
    ----------
    exam
        The exam's name.
    place, segment
        What to decode.
    wanted
        Places of the frames in the segment, growing.
    sha1
        Of the pixels that each of them had when it was screened.
    rows
        Where their crops go.
    views
        The head's fields of view, as it was screened.
    size
        Of a crop.
    """

    exam: str
    place: Place
    segment: Segment
    wanted: tuple[int, ...]
    sha1: tuple[str, ...]
    rows: tuple[int, ...]
    views: tuple[View, ...]
    size: int

    def __str__(self) -> str:
        """How messages name it."""
        return f"segment {self.segment.number} of head {self.place.head} of {self.exam}"


def crop_segment(task: CropTask) -> NDArray[np.uint8]:
    """Return the crops of the wanted frames of a segment, N x S x S x 3.

    Raises
    ------
    FileError
        A frame is not the one that was screened.
    """
    views = {(view.rows, view.cols): view.field for view in task.views}
    number = {place: at for at, place in enumerate(task.wanted)}
    crops = np.zeros((len(number), task.size, task.size, 3), np.uint8)
    done = 0
    for place, frame in enumerate(open_source(task.place).frames(task.segment)):
        if place not in number:
            continue
        at, pixels = number[place], frame.pixels
        if pixels is None or pixel_hash(pixels) != task.sha1[at]:
            raise FileError(f"frame {place} of {task} in {task.place.path}: {_CHANGED}")
        field = views.get((pixels.shape[0], pixels.shape[1]))
        crops[at] = crop(checked_pixels(pixels), field, task.size)
        done += 1
        if done == len(number):
            return crops
    raise FileError(f"{task} in {task.place.path} ends too soon: {_CHANGED}")


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
    text = json.dumps([CROP_VERSION, size, frames.sha1, [record["views"] for record in records]])
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
                        exam=exam.name,
                        place=source.place,
                        segment=segment,
                        wanted=tuple(wanted.tolist()),
                        sha1=tuple(frames.sha1[row] for row in here[wanted].tolist()),
                        rows=tuple(here[wanted].tolist()),
                        views=_views(record, head),
                        size=size,
                    )


def _source_sha256(record: Record, head: int) -> str:
    return next(source["sha256"] for source in record["sources"] if source["head"] == head)


def _views(record: Record, head: int) -> tuple[View, ...]:
    views: list[View] = []
    for view in record["views"]:
        if view["head"] == head:
            shape: Any = view["shape"]
            field = FieldOfView(shape, view["row"], view["col"], view["radius"], view["confidence"])
            views.append(View(view["rows"], view["cols"], field))
    return tuple(views)
