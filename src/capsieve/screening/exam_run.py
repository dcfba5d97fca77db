"""One exam from its survey to its results: the steps, and the jobs for workers."""

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from capsieve.detector import Detector
from capsieve.errors import CapsieveError, FileError, OccupiedError, WorkerError, file_errors
from capsieve.frame_table import FlagRule
from capsieve.screening.executors import Outcome
from capsieve.screening.finish import base_record, write_results
from capsieve.screening.flags import FlaggedExam, flag_exam
from capsieve.screening.plan import (
    check_choice,
    check_folder,
    check_rule,
    finished_exam,
    identity,
    segment_tasks,
)
from capsieve.screening.segment import SegmentTask, score_segment, unscreened_rows
from capsieve.screening.settings import ScreenSettings
from capsieve.screening.survey import Head, SurveyTask, survey_exam
from capsieve.screening.thumbnails import Thumbnails, read_thumbnails, thumbnail_tasks
from capsieve.sources.base import open_source
from capsieve.sources.discovery import ExamInput
from capsieve.store.choice import Choice
from capsieve.store.record import Record
from capsieve.store.segments import (
    Segments,
    check_results_replaceable,
    locked,
    remove_results,
)
from capsieve.store.tables import number_frames, packet_table

_NOT_WRITABLE = "check its permissions, or choose another output folder with -o"
_CACHE_BYTES = 1 << 25  # of decoded frames, which are read in stored order and needed once

_Lost: TypeAlias = dict[tuple[int, int], str]  # why a segment, by head and number, has no results


@dataclass(frozen=True, slots=True)
class Request:
    """What all exams of a call have in common."""

    settings: ScreenSettings
    detector: Detector
    rule: FlagRule
    rule_given: bool  # by the user: a finished exam with another rule is then an error
    choice: Choice | None  # what calibration frames chose
    protected: Collection[str]  # names of exams that readers have begun to read


@dataclass(frozen=True, slots=True)
class Job:
    """A task for a worker: survey an exam, score a segment, or make thumbnails."""

    exam: str
    work: Callable[[Any], Any]
    task: Any

    def __str__(self) -> str:
        return str(self.task)


ExamSteps: TypeAlias = Generator[list[Job], Outcome[Job, Any], tuple[Record, bool]]
"""Yields jobs and is sent the outcome of each of them, in any order; returns the record of the exam
and whether it is new."""


def screen_exam(
    exam: ExamInput,
    folder: Path,
    request: Request,
    executor: tuple[str, int],
    progress: Callable[[int, int, int], None],
) -> ExamSteps:
    """Screen one exam. Its folder is locked from the end of the survey on.

    Parameters
    ----------
    exam, folder
        The exam, and the folder of its results.
    request
        What all exams have in common.
    executor
        Where the jobs run: name of the executor and number of its workers.
    progress
        Called with the number of finished frames, of all frames, and of those that an earlier run
        finished.

    Raises
    ------
    CapsieveError
        The exam cannot be screened; others can.
    """
    if exam.error is not None:
        raise exam.error
    started = datetime.now(UTC)
    detector, settings = request.detector, request.settings
    record = None
    if not settings.overwrite:
        record = finished_exam(folder, exam.places, detector, settings.field_of_view)
    elif exam.name in request.protected:
        raise OccupiedError(
            f"{folder} has entries of readers, which refer to its frames; choose another output "
            "folder with -o"
        )
    if record is None:
        task = SurveyTask(exam.name, exam.places, settings.field_of_view)
        heads: tuple[Head, ...] = _result((yield [Job(exam.name, survey_exam, task)]))
        hashes = {head.place: head.survey.sha256 for head in heads}
        wanted = identity(detector, hashes, settings.field_of_view)
        with _occupied(folder):
            check_results_replaceable(folder)
            if settings.overwrite:
                remove_results(folder)
            record = check_folder(folder, wanted)
            if record is None:
                tasks = segment_tasks(exam.name, folder, heads, detector, wanted)
                lost, resumed = yield from _score(folder, heads, tasks, progress)
                segments = {head.place.head: list(_rows(folder, head, lost)) for head in heads}
                frames, features = number_frames(segments)
                batch_errors = _batch_errors(segments)
                del segments
                flagged = flag_exam(
                    exam.name,
                    frames,
                    request.rule,
                    detector=wanted["detector"],
                    score_threshold=detector.score_threshold,
                )
                made = yield from _thumbnails(exam.name, heads, flagged, detector, executor[1])
                base = base_record(exam, heads, frames, detector, settings.field_of_view, wanted)
                base["run"] = _run_record(started, executor, resumed, detector) | batch_errors
                packets = packet_table({head.place.head: head.survey.packets for head in heads})
                tables = {"features": features, "packets": packets}
                record = write_results(folder, base, flagged, *made, tables, choice=request.choice)
                if not lost:  # those can still be screened
                    Segments(folder).remove()
                return record, True
    file = None if settings.parameters is None else settings.parameters.calibration_file
    if request.choice is not None and file is not None:
        check_choice(folder, record, request.choice, file)
    if request.rule_given:
        check_rule(folder, record, request.rule)
    return record, False


@contextmanager
def _occupied(folder: Path) -> Iterator[None]:
    """Create and lock a folder; remove it at the end if it is empty."""
    with file_errors("write to", folder, _NOT_WRITABLE):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with locked(folder):
            yield
    finally:
        with suppress(OSError):  # it is not empty
            folder.rmdir()


def _score(
    folder: Path,
    heads: Sequence[Head],
    tasks: Sequence[SegmentTask[dict[str, Any]]],
    progress: Callable[[int, int, int], None],
) -> Generator[list[Job], Outcome[Job, Any], tuple[_Lost, int]]:
    """Score and store segments; return those without results, and the frames scored before."""
    total = sum(segment.frames for head in heads for segment in head.survey.segments)
    resumed = done = total - sum(task.segment.frames for task in tasks)
    progress(done, total, resumed)
    lost: _Lost = {}
    jobs = [Job(task.exam, score_segment, task) for task in tasks]
    for _ in tasks:
        outcome = yield jobs
        jobs = []
        task, error = outcome.task.task, outcome.error
        key = task.place.head, task.segment.number
        if error is None:
            Segments(folder).add(*key, _result(outcome))
        elif isinstance(error, FileError):  # the source has changed: nothing of it is valid
            raise error
        else:
            lost[key] = f"not screened: {_text(error)}"
            if outcome.printed:
                Segments(folder).add_errors(*key, outcome.printed)
        done += task.segment.frames
        progress(done, total, resumed)
    return lost, resumed


def _rows(folder: Path, head: Head, lost: _Lost) -> Iterator[pa.Table]:
    """Yield the rows of every segment of a head."""
    for segment in head.survey.segments:
        key = head.place.head, segment.number
        if key in lost:
            yield unscreened_rows(open_source(head.place).expected(segment), lost[key])
        else:
            yield Segments(folder).rows(*key)


def _thumbnails(
    exam: str, heads: Sequence[Head], flagged: FlaggedExam, detector: Detector, workers: int
) -> Generator[list[Job], Outcome[Job, Any], tuple[Thumbnails, str]]:
    """Make thumbnails of the frames to read; return them, and why some are missing, or ""."""
    jobs: list[Job] = []
    for head in heads:
        survey = head.survey
        frames = flagged.frames.filter(pc.field("head") == head.place.head)
        columns = frames.select(["file", "packet", "pixel_hash"])
        reader = partial(
            open_source(head.place).reader,
            columns,
            packets=survey.packets,
            description=survey.description,
            cache_bytes=_CACHE_BYTES,
        )
        tasks = thumbnail_tasks(
            *(exam, head.place.head, reader, head.fields),
            frames=flagged.shown,
            explained=flagged.explained,
            detector=detector,
            workers=workers,
        )
        jobs += [Job(exam, read_thumbnails, task) for task in tasks]
    thumbnails: Thumbnails = {}
    problem = ""
    for _ in range(len(jobs)):
        outcome = yield jobs
        jobs = []
        made, why = outcome.result or ({}, _text(outcome.error))
        thumbnails |= made
        problem = problem or why
    return thumbnails, problem


def _run_record(
    started: datetime, executor: tuple[str, int], resumed: int, detector: Detector
) -> dict[str, Any]:
    finished = datetime.now(UTC)
    path = getattr(detector, "path", None)  # of a model: evaluate reads its training frames
    model = {"model": str(path)} if path else {}
    return model | {
        "started": started.isoformat(timespec="seconds"),
        "finished": finished.isoformat(timespec="seconds"),
        "seconds": round((finished - started).total_seconds(), 1),
        "executor": executor[0],
        "workers": executor[1],
        "frames_by_an_earlier_run": resumed,
    }


def _batch_errors(segments: Mapping[int, Sequence[pa.Table]]) -> dict[str, Any]:
    """Return how many frames were scored alone because only `score_batch` failed, and why."""
    columns = [table["batch_error"] for tables in segments.values() for table in tables]
    errors = [error for column in columns for error in column.drop_null().to_pylist()]
    return {"frames_scored_alone": len(errors), "batch_error": errors[0]} if errors else {}


def _result(outcome: Outcome[Job, Any]) -> Any:
    if outcome.error is None:
        return outcome.result
    if isinstance(outcome.error, CapsieveError):
        raise outcome.error
    raise WorkerError(f"{outcome.task} failed with {_text(outcome.error)}") from outcome.error


def _text(error: Exception | None) -> str:
    return str(error) if isinstance(error, CapsieveError) else f"{type(error).__name__}: {error}"
