"""Screen exams: survey, score segments, flag frames, make thumbnails, write results."""

import os
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from capsieve.detectors import as_detector, check_parameters, load_detector
from capsieve.errors import CapsieveError, FileError, FrameError, ParameterError
from capsieve.frame_table import FlagRule
from capsieve.screening.exam_run import ExamSteps, Job, Request, screen_exam
from capsieve.screening.executors import Executor, Outcome, choose_executor
from capsieve.screening.flags import chosen_rule, default_rule
from capsieve.screening.settings import Listener, Progress, ScreenSettings
from capsieve.screening.thumbnails import read_thumbnails
from capsieve.sources.discovery import ExamInput, find_exams
from capsieve.store.choice import read_choice
from capsieve.store.record import Record
from capsieve.user_files import PathLike


@dataclass(frozen=True, slots=True)
class ScreenedExam:
    """The outcome of an exam."""

    name: str
    folder: Path  # of its tables, record and report
    record: Record | None  # the content of exam.json; None if the exam failed
    error: CapsieveError | None = None  # why it failed, or why none of its frames has a score
    new: bool = True  # False if the results were there before

    @property
    def complete(self) -> bool:
        """Whether every frame of the exam was found, undamaged and scored."""
        return self.error is None and self.record is not None and self.record["complete"]

    @property
    def report(self) -> Path:
        """The report for the reader."""
        return self.folder / "report.html"


def screen(
    inputs: PathLike | Sequence[PathLike],
    out: PathLike,
    *,
    settings: ScreenSettings = ScreenSettings(),  # noqa: B008 it is immutable
    progress: Listener | None = None,
    protected: Collection[str] = (),
    **changes: Any,
) -> list[ScreenedExam]:
    """Screen exams: score every frame, flag frames, and write tables, record and report.

    An interrupted run is continued by the same call. An exam that fails does not stop the others.

    Parameters
    ----------
    inputs
        Videos, folders or ZIP archives of images, folders of exams, or patterns such as
        ``"exams/*.mp4"``.
    out
        Folder for the results, with one folder per exam.
    settings
        The options.
    progress
        Called with a :class:`~capsieve.Progress` whenever frames are finished.
    protected
        Names of exams that readers have begun to read: they are not overwritten.
    **changes
        Fields of `settings`, such as ``detector="learned"`` or ``read="10%"``.

    Returns
    -------
    list of ScreenedExam
        One per exam, in order.

    Raises
    ------
    CapsieveError
        An input is missing or a setting is wrong. Nothing was written.

    Examples
    --------
    >>> import capsieve
    >>> exams = capsieve.screen("exams", "results", read="10%")  # doctest: +SKIP
    """
    settings = replace(settings, **changes)
    listed = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    paths = [os.fspath(item) for item in listed]  # Path("") would be the current folder
    request = _request(settings, protected)
    if not os.fspath(out):
        raise ParameterError("out", "is empty; give a folder")
    out = Path(out).absolute()
    if out.exists() and not out.is_dir():
        raise FileError(f"cannot write to {out}: it is a file; give a folder")
    exams = find_exams(paths, full_names=settings.full_names)
    _check_out(out, paths, exams)
    with choose_executor(workers=settings.workers, cluster=settings.cluster) as executor:
        return _Screening(exams, out, request, progress).run(executor)


def _request(settings: ScreenSettings, protected: Collection[str]) -> Request:
    wanted, parameters = settings.detector, settings.parameters
    if isinstance(wanted, str | Path):
        detector = load_detector(wanted, parameters=parameters, provider=settings.provider)
    else:
        detector = as_detector(wanted)
        check_parameters(detector, parameters)
    file = None if parameters is None else parameters.calibration_file
    choice = None if file is None else read_choice(file)
    given = FlagRule.parse(read=settings.read, threshold=settings.threshold)
    if given is None and choice is not None:
        given = chosen_rule(choice, detector.identity)
    rule_given = given is not None or parameters is not None  # with R_P of the parameters
    rule = given or default_rule(detector)
    return Request(settings, detector, rule, rule_given, choice, protected)


def _check_out(out: Path, paths: Sequence[str], exams: Sequence[ExamInput]) -> None:
    """Refuse to write results among the images of an exam, or into an input itself."""
    target = Path(os.path.realpath(out))  # Path.resolve fails for a link to itself
    images = [Path(place.path) for exam in exams for place in exam.places if place.kind == "folder"]
    given = [Path(os.path.realpath(path)) for path in paths]
    if target in given or any(map(target.is_relative_to, images)):
        raise FileError(f"cannot write to {out}: it is an input; choose another output folder")


def _do(job: Job) -> Any:
    return job.work(job.task)


class _Screening:
    """All exams of a call. The next exam starts before the last segments of one are done."""

    def __init__(
        self, exams: list[ExamInput], out: Path, request: Request, progress: Listener | None
    ) -> None:
        self._exams = exams
        self._out = out
        self._request = request
        self._progress = progress
        self._steps: dict[str, ExamSteps] = {}  # of exams that are not finished
        self._waiting: deque[Job] = deque()
        self._under_way = 0
        self._screened: dict[str, ScreenedExam] = {}

    def run(self, executor: Executor) -> list[ScreenedExam]:
        try:
            for outcome in executor.run(_do, self._jobs(executor)):
                self._under_way -= 1
                if outcome.task.exam in self._steps:  # else the exam has failed
                    self._advance(outcome.task.exam, outcome)
        finally:
            for steps in self._steps.values():
                steps.close()
        return [self._screened[exam.name] for exam in self._exams]

    def _jobs(self, executor: Executor) -> Iterator[Job | None]:
        """Yield jobs; start another exam as soon as fewer jobs are waiting than workers."""
        workers = executor.workers
        exams = deque(enumerate(self._exams, 1))
        while exams or self._waiting or self._under_way:
            while exams and len(self._waiting) <= workers:
                number, exam = exams.popleft()
                folder, report = self._out / exam.name, partial(self._report, exam.name, number)
                known = executor.name, workers
                self._steps[exam.name] = screen_exam(exam, folder, self._request, known, report)
                self._advance(exam.name)
            while self._waiting and self._waiting[0].exam not in self._steps:
                self._waiting.popleft()
            if self._waiting:
                self._under_way += 1
                yield self._waiting.popleft()
            elif self._under_way:
                yield None

    def _report(self, exam: str, number: int, done: int, total: int, resumed: int) -> None:
        if self._progress is not None:
            self._progress(Progress(exam, number, len(self._exams), done, total, resumed))

    def _advance(self, exam: str, outcome: Outcome[Job, Any] | None = None) -> None:
        """Continue an exam with the outcome of a job, and queue the next jobs."""
        folder = self._out / exam
        try:
            # The first value that a generator is sent must be None.
            jobs = self._steps[exam].send(cast("Any", outcome))
        except StopIteration as end:
            record, new = end.value
            done = ScreenedExam(exam, folder, record, _no_scores(record), new)
        except CapsieveError as error:
            done = ScreenedExam(exam, folder, None, error)
        else:
            if jobs and jobs[0].work is read_thumbnails:  # finish an exam before others
                self._waiting.extendleft(reversed(jobs))
            else:
                self._waiting += jobs
            return
        self._screened[exam] = done
        del self._steps[exam]


def _no_scores(record: Record) -> FrameError | None:
    """Return the error of an exam without a single score: its results mean nothing."""
    if record["frame_counts"]["scored"]:
        return None
    problems = sorted(record["problems"], key=lambda problem: -problem["frames"])
    reason = f": {problems[0]['what']}" if problems else ""
    return FrameError(f"no frame of {record['exam']} could be scored{reason}")
