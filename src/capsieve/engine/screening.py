"""capsieve.screen: exams in, flagged frames and evidence out."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from capsieve.detectors import Detector, load_detector
from capsieve.engine.exam_run import Request, screen_exam
from capsieve.engine.executors.choose import choose_executor
from capsieve.engine.executors.executor import Executor
from capsieve.engine.executors.versions import greeting_for
from capsieve.engine.progress import Listener, Progress
from capsieve.engine.standard_input import STANDARD_INPUT, spooled
from capsieve.engine.views import FieldChoice
from capsieve.errors import CapsieveError, FileError
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
    out = Path(out).absolute()
    if out.exists() and not out.is_dir():
        raise FileError(f"cannot write to {out}: it is a file; name a folder")
    with ExitStack() as stack:
        paths = [
            stack.enter_context(spooled(out)) if str(item) == STANDARD_INPUT else item
            for item in wanted
        ]
        exams = find_exams(paths, one_exam=one_exam)
        executor = choose_executor(workers=workers, cluster=cluster, greeting=greeting_for(chosen))
        stack.enter_context(executor)
        return [
            _screened(exam, out, request, executor, progress, number, len(exams))
            for number, exam in enumerate(exams, 1)
        ]


def _detector(detector: str | Path | Detector, parameters: Parameters | None) -> Detector:
    if isinstance(detector, str | Path):
        return load_detector(detector, parameters=parameters)
    return detector


def _screened(
    exam: ExamInput,
    out: Path,
    request: Request,
    executor: Executor,
    progress: Listener | None,
    number: int,
    exams: int,
) -> ScreenedExam:
    """Screen one exam; an error is its outcome."""

    def tell(done: int, total: int, resumed: int, flagged: int) -> None:
        if progress is not None:
            progress(Progress(exam.name, number, exams, done, total, resumed, flagged))

    folder = out / exam.name
    try:
        if exam.error is not None:
            raise exam.error
        record, anew = screen_exam(exam.name, exam.places, out, request, executor, tell)
    except CapsieveError as error:
        return ScreenedExam(exam.name, folder, None, error)
    return ScreenedExam(exam.name, folder, record, anew=anew)
