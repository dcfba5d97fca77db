"""State of one exam during screening: survey, scored segments, flags, thumbnails, results."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from capsieve.detector import Detector
from capsieve.errors import CapsieveError, FileError, OccupiedError, WorkerError
from capsieve.screening.executors import Outcome
from capsieve.screening.finish import base_record, flag_exam, write_results
from capsieve.screening.flags import FlagRule
from capsieve.screening.plan import (
    Head,
    SurveyTask,
    check_folder,
    check_rule,
    finished_exam,
    identity,
    segment_tasks,
    survey_exam,
)
from capsieve.screening.segment import score_segment, unscreened_rows
from capsieve.screening.settings import ScreenSettings
from capsieve.screening.thumbnails import Thumbnails, ThumbnailTask, read_thumbnails, split
from capsieve.sources.base import open_source
from capsieve.sources.discovery import ExamInput
from capsieve.sources.reader import FrameReader
from capsieve.store.record import Record
from capsieve.store.segments import Segments, locked, remove_results
from capsieve.store.tables import number_frames, packet_table

__all__ = ["ExamRun", "Job", "Request"]

_CACHE_BYTES = 1 << 25  # of decoded frames, which are read in stored order and needed once


@dataclass(frozen=True, slots=True)
class Request:
    """What all exams of a call have in common.

    Attributes
    ----------
    settings
        The options.
    detector, rule
        What scores and what flags the frames.
    rule_given
        Whether the user gave the rule: a finished exam with another rule is then an error.
    protected
        Names of exams whose results are not overwritten, because readers have begun to read them.
    """

    settings: ScreenSettings
    detector: Detector
    rule: FlagRule
    rule_given: bool
    protected: Collection[str]


@dataclass(frozen=True, slots=True)
class Job:
    """A task for a worker: survey an exam, score a segment, or make thumbnails."""

    exam: str
    work: Callable[[Any], Any]
    task: Any

    def __str__(self) -> str:
        return str(self.task)


class ExamRun:
    """One exam during screening. The folder is locked from its survey until :meth:`close`.

    Parameters
    ----------
    exam, folder
        The exam, and the folder of its results.
    request
        What all exams have in common.
    executor
        Name of the executor and the number of its workers.
    tell
        Called with the number of finished frames, of all frames, and of those that an earlier run
        finished.

    Attributes
    ----------
    name, folder
        Name of the exam and the folder of its results.
    record
        Its record when it is finished, else None.
    new
        False if the results were there before.
    """

    def __init__(
        self,
        exam: ExamInput,
        folder: Path,
        request: Request,
        executor: tuple[str, int],
        tell: Callable[[int, int, int], None],
    ) -> None:
        self.name = exam.name
        self.folder = folder
        self.record: Record | None = None
        self.new = True
        self._exam = exam
        self._request = request
        self._executor = executor
        self._tell = tell
        self._started = datetime.now(UTC)
        self._stack = ExitStack()
        self._heads: tuple[Head, ...] = ()
        self._identity: dict[str, Any] = {}
        self._pending = 0
        self._lost: dict[tuple[int, int], str] = {}
        self._done = self._total = self._resumed = 0
        self._thumbnails = Thumbnails()

    def begin(self) -> list[Job]:
        """Return the first job; set the record of an exam that is finished and unchanged."""
        if self._exam.error is not None:
            raise self._exam.error
        request, places = self._request, self._exam.places
        field_of_view = request.settings.field_of_view
        if not request.settings.overwrite:
            found = finished_exam(self.folder, places, request.detector, field_of_view)
            if found is not None:
                return self._found(found)
        elif self.name in request.protected:
            raise OccupiedError(
                f"{self.folder} has entries of readers, which refer to its frames; choose another "
                "output folder with -o"
            )
        return [Job(self.name, survey_exam, SurveyTask(self.name, places, field_of_view))]

    def take(self, outcome: Outcome[Job, Any]) -> list[Job]:
        """Store the result of a job and return the next jobs."""
        job, error = outcome.task, outcome.error
        if job.work is survey_exam:
            return self._surveyed(_result(outcome))
        if job.work is score_segment:
            key = job.task.place.head, job.task.segment.number
            if error is None:
                Segments(self.folder).add(*key, _result(outcome))
            elif isinstance(error, FileError):  # the source has changed: nothing of it is valid
                raise error
            else:
                self._lost[key] = f"not screened: {_text(error)}"
            self._count(job.task.segment.frames)
        else:
            failed = None if error is None else Thumbnails(problem=_text(error))
            self._thumbnails.add(failed or _result(outcome))
        self._pending -= 1
        if self._pending:
            return []
        return self._flag() if job.work is score_segment else self._write()

    def close(self) -> None:
        """Unlock the folder, and remove it if it is empty."""
        self._stack.close()

    def _found(self, record: Record) -> list[Job]:
        if self._request.rule_given:
            check_rule(self.folder, record, self._request.rule)
        self.record, self.new = record, False
        return []

    def _surveyed(self, heads: tuple[Head, ...]) -> list[Job]:
        settings, detector = self._request.settings, self._request.detector
        self._heads = heads
        hashes = {head.place: head.survey.sha256 for head in heads}
        self._identity = identity(detector, hashes, settings.field_of_view)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._stack.callback(_remove_if_empty, self.folder)
        self._stack.enter_context(locked(self.folder))
        if settings.overwrite:
            remove_results(self.folder)
        found = check_folder(self.folder, self._identity)
        if found is not None:
            return self._found(found)
        tasks = segment_tasks(self.name, self.folder, heads, detector, self._identity)
        self._total = sum(part.frames for head in heads for part in head.survey.segments)
        self._resumed = self._total - sum(task.segment.frames for task in tasks)
        self._count(self._resumed)
        return self._queue(score_segment, tasks) or self._flag()

    def _queue(self, work: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Job]:
        self._pending = len(tasks)
        return [Job(self.name, work, task) for task in tasks]

    def _count(self, frames: int) -> None:
        self._done += frames
        self._tell(self._done, self._total, self._resumed)

    def _flag(self) -> list[Job]:
        """Flag the frames of the whole exam, and return the jobs that make their thumbnails."""
        detector = self._request.detector
        frames, self._features = number_frames(
            {head.place.head: list(self._segments(head)) for head in self._heads}
        )
        self._flagged = flag_exam(
            frames,
            self._request.rule,
            detector=detector.name,
            score_threshold=detector.score_threshold,
        )
        tasks = [part for head in self._heads for part in self._thumbnail_tasks(head)]
        return self._queue(read_thumbnails, tasks) or self._write()

    def _thumbnail_tasks(self, head: Head) -> list[ThumbnailTask]:
        place, flagged = head.place, self._flagged
        frames = flagged.frames.filter(pc.field("head") == place.head)
        task = ThumbnailTask(
            exam=self.name,
            head=place.head,
            open_reader=partial(
                FrameReader,
                place,
                files=frames["file"].to_pylist(),
                packet=frames["packet"].fill_null(-1).to_numpy().astype(np.int64),
                pixel_hash=frames["pixel_hash"].to_pylist(),
                packets=head.survey.packets,
                description=head.survey.description,
                cache_bytes=_CACHE_BYTES,
            ),
            fields=head.fields,
            frames=[frame for number, frame in flagged.shown if number == place.head],
            explained={frame for number, frame in flagged.explained if number == place.head},
            detector=self._request.detector,
        )
        return split(task, self._executor[1])

    def _segments(self, head: Head) -> Iterator[pa.Table]:
        segments = Segments(self.folder)
        for segment in head.survey.segments:
            key = head.place.head, segment.number
            if key in self._lost:
                expected = open_source(head.place).expected(segment)
                yield unscreened_rows(expected, self._lost[key])
            else:
                yield segments.rows(*key)

    def _write(self) -> list[Job]:
        packets = packet_table({head.place.head: head.survey.packets for head in self._heads})
        tables = {"features": self._features, "packets": packets}
        request, (executor, workers) = self._request, self._executor
        finished = datetime.now(UTC)
        base = base_record(
            self.name,
            self._heads,
            self._flagged.frames,
            detector=request.detector,
            field_of_view=request.settings.field_of_view,
            identity=self._identity,
            input_warning=self._exam.warning,
        )
        run = {
            "started": self._started.isoformat(timespec="seconds"),
            "finished": finished.isoformat(timespec="seconds"),
            "seconds": round((finished - self._started).total_seconds(), 1),
            "executor": executor,
            "workers": workers,
            "frames_by_an_earlier_run": self._resumed,
        }
        if path := getattr(request.detector, "path", None):  # evaluate reads its training frames
            run["model"] = str(path)
        self.record = write_results(
            self.folder, base | {"run": run}, self._flagged, self._thumbnails, tables
        )
        if not self._lost:  # those can still be screened
            Segments(self.folder).remove()
        return []


def _result(outcome: Outcome[Job, Any]) -> Any:
    if outcome.error is None:
        return outcome.result
    if isinstance(outcome.error, CapsieveError):
        raise outcome.error
    raise WorkerError(f"{outcome.task} failed with {_text(outcome.error)}") from outcome.error


def _text(error: Exception) -> str:
    return str(error) if isinstance(error, CapsieveError) else f"{type(error).__name__}: {error}"


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # it is not empty
        folder.rmdir()
