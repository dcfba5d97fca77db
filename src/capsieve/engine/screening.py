"""capsieve.screen: exams in, flagged frames and evidence out."""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from capsieve.detector import Detector
from capsieve.detectors import as_detector, load_detector
from capsieve.engine.exam_run import ExamRun, Request
from capsieve.engine.executors.choose import choose_executor
from capsieve.engine.executors.executor import Executor
from capsieve.engine.executors.versions import greeting_for
from capsieve.engine.progress import Listener, Progress
from capsieve.engine.segment_work import SegmentTask, screen_segment
from capsieve.engine.standard_input import STANDARD_INPUT, spooled
from capsieve.engine.views import FieldChoice
from capsieve.errors import CapsieveError, FileError, ParameterError
from capsieve.frames import FieldOfView
from capsieve.parameters import Parameters
from capsieve.sources.inputs import ExamInput, find_exams
from capsieve.store.record import Record

__all__ = ["ScreenedExam", "screen"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class ScreenedExam:
    """What became of an exam.

    Attributes
    ----------
    name
        The exam.
    folder
        Where its tables, its record and its report are.
    record
        Its record, see :class:`capsieve.store.record.Record`; None where the exam failed.
    error
        Why it failed; None where it did not.
    anew
        False where an earlier run had finished it.
    """

    name: str
    folder: Path
    record: Record | None
    error: CapsieveError | None = None
    anew: bool = True

    @property
    def complete(self) -> bool:
        """Whether every frame of the exam was there, whole, and scored."""
        return self.record is not None and self.record["complete"]

    @property
    def report(self) -> Path:
        """The page to read."""
        return self.folder / "report.html"


def screen(
    inputs: PathLike | Sequence[PathLike],
    out: PathLike,
    *,
    detector: str | Path | Detector = "paper",
    parameters: Parameters | None = None,
    field_of_view: FieldChoice = "auto",
    workers: int | None = None,
    cluster: str | None = None,
    fresh: bool = False,
    one_exam: str | None = None,
    full_names: bool = False,
    progress: Listener | None = None,
) -> list[ScreenedExam]:
    """Screen exams: score every frame, and write tables, record and report of each.

    An interrupted run goes on where it was when it is called again. One exam that fails does not
    stop the others.

    Parameters
    ----------
    inputs
        Videos, folders or ZIP archives of images, folders of exams, patterns such as
        ``"exams/*.mp4"``, or ``"-"`` for a video through standard input.
    out
        Folder for the results, one folder for each exam below it.
    detector, parameters
        See :func:`capsieve.load_detector`.
    field_of_view
        ``"auto"`` searches it on the exam's frames, ``"whole"`` takes frames as they are, and a
        :class:`~capsieve.FieldOfView` is taken for all.
    workers
        Processes; 1 works in this one, None takes one for each core.
    cluster
        Address of a Dask scheduler, ``"tcp://HOST:PORT"``, or ``"local:N"`` for N Dask workers
        here.
    fresh
        Remove earlier results of these exams first.
    one_exam
        The inputs are the heads of one exam of this name, in this order.
    full_names
        Name exams after the folders that they lie in as well, as far as these differ.
    progress
        Called with a :class:`~capsieve.engine.progress.Progress` whenever frames are done.

    Returns
    -------
    list of ScreenedExam
        One for each exam, in order.

    Raises
    ------
    CapsieveError
        Nothing was begun: an input is not there, a setting is wrong.
    """
    wanted = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    if not wanted:
        raise FileError("there is nothing to screen; name a video or a folder")
    chosen = _detector(detector, parameters)
    request = Request(chosen, field_of_view, fresh)
    if not isinstance(field_of_view, FieldOfView) and field_of_view not in ("auto", "whole"):
        raise ParameterError(
            "field_of_view", f"must be 'auto', 'whole' or a FieldOfView, not {field_of_view!r}"
        )
    out = Path(out).absolute()
    if out.exists() and not out.is_dir():
        raise FileError(f"cannot write to {out}: it is a file; name a folder")
    with ExitStack() as stack:
        paths = [
            stack.enter_context(spooled(out)) if str(item) == STANDARD_INPUT else Path(item)
            for item in wanted
        ]
        exams = find_exams(paths, one_exam=one_exam, full_names=full_names)
        executor = choose_executor(workers=workers, cluster=cluster, greeting=greeting_for(chosen))
        stack.enter_context(executor)
        return _Screening(exams, out, request, progress).run(executor)


def _detector(detector: str | Path | Detector, parameters: Parameters | None) -> Detector:
    if not isinstance(detector, str | Path):
        return as_detector(detector, parameters=parameters)
    if str(detector) == "paper" and parameters and parameters.score_threshold is not None:
        raise ParameterError(
            "score_threshold",
            "the paper's detector does not read it, for its threshold is radius_threshold; "
            "name the detector that these parameters were made for (--detector)",
        )
    return load_detector(detector, parameters=parameters)


class _Screening:
    """All exams of a call, one after the other, with work for every worker at all times.

    While the last segments of an exam are under way the first ones of the next begin: short exams
    go as fast as long ones.
    """

    def __init__(
        self, exams: list[ExamInput], out: Path, request: Request, progress: Listener | None
    ) -> None:
        self._exams = exams
        self._out = out
        self._request = request
        self._progress = progress
        self._runs: dict[str, ExamRun] = {}
        self._waiting: dict[str, int] = {}  # tasks that are under way or not yet begun
        self._screened: dict[str, ScreenedExam] = {}

    def run(self, executor: Executor) -> list[ScreenedExam]:
        """Screen every exam, and return what became of each."""
        self._executor = executor
        try:
            for outcome in executor.run(screen_segment, self._tasks()):
                name = outcome.task.exam
                self._waiting[name] -= 1
                with self._failing(name):
                    if name in self._runs:
                        self._runs[name].take(outcome)
                        self._finish_if_done(name)
        finally:
            for run in self._runs.values():
                run.__exit__(None, None, None)
        return [self._screened[exam.name] for exam in self._exams]

    def _tasks(self) -> Iterator[SegmentTask]:
        for number, exam in enumerate(self._exams, 1):
            tasks: list[SegmentTask] = []
            with self._failing(exam.name):
                tasks = self._begin(exam, number)
            for task in tasks:
                if exam.name in self._runs:  # else it has failed in the meantime
                    yield task

    def _begin(self, exam: ExamInput, number: int) -> list[SegmentTask]:
        if exam.error is not None:
            raise exam.error

        def tell(done: int, total: int, resumed: int, flagged: int) -> None:
            if self._progress is not None:
                exams = len(self._exams)
                self._progress(Progress(exam.name, number, exams, done, total, resumed, flagged))

        run = ExamRun(exam.name, exam.places, self._out / exam.name, self._request, tell)
        run.__enter__()
        self._runs[exam.name] = run
        if run.record is not None:
            self._end(exam.name, run.record, anew=False)
            return []
        tasks = run.tasks()
        self._waiting[exam.name] = len(tasks)
        self._finish_if_done(exam.name)
        return tasks

    def _finish_if_done(self, name: str) -> None:
        if self._waiting[name] == 0:
            record = self._runs[name].finish(
                executor=self._executor.name, workers=self._executor.workers
            )
            self._end(name, record, anew=True)

    def _end(self, name: str, record: Record, *, anew: bool) -> None:
        self._screened[name] = ScreenedExam(name, self._out / name, record, anew=anew)
        self._leave(name)

    def _leave(self, name: str) -> None:
        run = self._runs.pop(name, None)
        if run is not None:
            run.__exit__(None, None, None)

    @contextmanager
    def _failing(self, name: str) -> Generator[None]:
        """Make an error the outcome of its exam, so that the others go on."""
        try:
            yield
        except CapsieveError as error:
            self._fail(name, error)
        except OSError as error:
            self._fail(name, FileError(f"cannot work in {self._out / name}: {error}"))

    def _fail(self, name: str, error: CapsieveError) -> None:
        self._screened[name] = ScreenedExam(name, self._out / name, None, error)
        self._leave(name)
