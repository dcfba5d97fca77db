"""The field of view of every labelled frame, cut out once and kept for all fits."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.aperture.field import FieldOfView
from capsieve.engine.executors.executor import Executor
from capsieve.engine.labelled_frames import SurveyedExam, survey_exams
from capsieve.engine.segment_work import View
from capsieve.engine.training_frames import TrainingFrames
from capsieve.errors import FileError
from capsieve.frames import checked_pixels, pixel_digest
from capsieve.learned.training.trainer import Tell
from capsieve.sources.source import Place, Segment, open_source
from capsieve.store.record import Record, read_record
from capsieve.whole_file import whole_file

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
    from capsieve.learned.image_input import crop

    views = {(view.rows, view.cols): view.field for view in task.views}
    number = {place: at for at, place in enumerate(task.wanted)}
    crops = np.zeros((len(number), task.size, task.size, 3), np.uint8)
    done = 0
    for place, frame in enumerate(open_source(task.place).frames(task.segment)):
        if place not in number:
            continue
        at, pixels = number[place], frame.pixels
        if pixels is None or pixel_digest(pixels) != task.sha1[at]:
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
    """A file of crops, and beside it which of them are done."""

    def __init__(self, folder: Path, identity: str, count: int, size: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"crops-{size}-{identity[:16]}.npy"
        marks = path.with_suffix(".done.npy")
        try:
            if not (path.exists() and marks.exists()):
                _blank(path, (count, size, size, 3))
                _blank(marks, (count,))
            self.crops: NDArray[np.uint8] = np.load(path, mmap_mode="r+")
            self.done_marks: NDArray[np.uint8] = np.load(marks, mmap_mode="r+")
        except (OSError, ValueError) as error:
            raise FileError(f"cannot keep crops in {path}: {error}; remove it, or make room") from (
                error
            )

    @property
    def done(self) -> NDArray[np.bool_]:
        return np.asarray(self.done_marks) > 0

    def keep(self, rows: NDArray[np.int64], crops: NDArray[np.uint8]) -> None:
        self.crops[rows] = crops
        _flush(self.crops)  # before it is said to be done
        self.done_marks[rows] = 1
        _flush(self.done_marks)


def _blank(path: Path, shape: tuple[int, ...]) -> None:
    with whole_file(path) as temporary:
        np.lib.format.open_memmap(temporary, mode="w+", dtype=np.uint8, shape=shape).flush()


def _flush(array: Any) -> None:
    array.flush()


def _identity(frames: TrainingFrames, size: int) -> str:
    """All that decides about the crops: the frames, their fields of view, the size."""
    records = [read_record(folder) for folder in frames.read.matched.folders]
    text = json.dumps([size, frames.sha1, [record["views"] for record in records]])
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
