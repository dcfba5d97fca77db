"""One exam under way: what is there already, what is to do, and the end of it."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from capsieve.detector import Detector
from capsieve.engine.executors.executor import Outcome
from capsieve.engine.finishing import FILES, finish, intact
from capsieve.engine.identity import differences, identity
from capsieve.engine.segment_work import SegmentTask
from capsieve.engine.views import FieldChoice, find_views, view_records
from capsieve.errors import FileError, OccupiedError, WorkerError
from capsieve.frames import FieldOfView
from capsieve.sources.source import Place, Source, Survey, open_source
from capsieve.store.lock import locked
from capsieve.store.record import RECORD, Record, read_record
from capsieve.store.unfinished import Unfinished

__all__ = ["ExamRun", "Request", "Tell"]

Tell = Callable[[int, int, int, int], None]
"""Takes frames done, frames expected, frames done by an earlier run, and frames flagged."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted of every exam.

    Attributes
    ----------
    detector
        What scores the frames.
    field_of_view
        See :data:`capsieve.engine.views.FieldChoice`.
    fresh
        Remove earlier results first.
    """

    detector: Detector
    field_of_view: FieldChoice
    fresh: bool

    @property
    def settings(self) -> dict[str, Any]:
        """What the record says of it, beside the detector."""
        field = self.field_of_view
        circle = [field.row, field.col, field.radius] if isinstance(field, FieldOfView) else field
        return {"field_of_view": circle}


class ExamRun:
    """An exam on its way from its source to its folder; used in a ``with`` statement.

    Nobody else works on the folder from entering to leaving. Call :meth:`tasks`, hand every
    outcome to :meth:`take`, and then call :meth:`finish`.

    Parameters
    ----------
    name, places
        The exam, and where its heads are.
    folder
        Where its results go.
    request
        What is wanted.
    tell
        Called whenever frames are done.

    Raises
    ------
    FileError
        A source cannot be read, or the results cannot be written.
    OccupiedError
        Another run is at it, or there are results of other settings.
    """

    def __init__(
        self, name: str, places: Sequence[Place], folder: Path, request: Request, tell: Tell
    ) -> None:
        self._name = name
        self._places = places
        self._folder = folder
        self._request = request
        self._tell = tell
        self._started = datetime.now(UTC)
        self._unfinished = Unfinished(folder)
        self._stack = ExitStack()
        self._heads: list[tuple[Source, Survey]] = []
        self._lost: dict[tuple[int, int], str] = {}
        self._done = self._total = self._resumed = self._flagged = 0
        self.record: Record | None = None
        """What is known of the exam once it is finished, be it by an earlier run."""

    def __enter__(self) -> "ExamRun":
        sources = [open_source(place) for place in self._places]
        self._heads = [(source, source.survey()) for source in sources]
        surveyed = [(source.place, survey) for source, survey in self._heads]
        self._identity = identity(self._request.detector, surveyed, self._request.settings)
        _make(self._folder)
        with self._stack:
            self._stack.callback(_remove_if_empty, self._folder)
            self._stack.enter_context(locked(self._folder))
            if self._request.fresh:
                _clear(self._folder)
            self.record = _earlier(self._folder, self._identity)
            self._stack = self._stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def tasks(self) -> list[SegmentTask]:
        """Return what is still to be done."""
        self._unfinished.begin(self._identity)
        choice = self._request.field_of_view
        self._views = {s.place.head: find_views(s, survey, choice) for s, survey in self._heads}
        self._total = sum(part.frames for _, survey in self._heads for part in survey.segments)
        missing: list[SegmentTask] = []
        for source, survey in self._heads:
            place, views = source.place, self._views[source.place.head]
            for segment in survey.segments:
                if self._unfinished.has(place.head, segment.number):
                    frames, flagged = self._unfinished.counts(place.head, segment.number)
                    self._resumed += frames
                    self._count(frames, flagged)
                else:
                    detector = self._request.detector
                    missing.append(SegmentTask(self._name, place, segment, detector, views))
        self._count(0, 0)
        return missing

    def take(self, outcome: Outcome[SegmentTask, bytes]) -> None:
        """Keep what a worker handed over.

        Raises
        ------
        FileError
            The source is not what it was, so that nothing of it counts; or there is no room.
        """
        head, number = outcome.task.place.head, outcome.task.segment.number
        if outcome.result is not None:
            self._unfinished.add(head, number, outcome.result)
            self._count(*self._unfinished.counts(head, number))
            return
        error = outcome.error
        if isinstance(error, FileError):
            raise error
        kind = "" if isinstance(error, WorkerError) else f"{type(error).__name__}: "
        self._lost[head, number] = f"not screened: {kind}{error}"
        self._count(outcome.task.segment.frames, 0)

    def finish(self, *, executor: str, workers: int) -> Record:
        """Write the results, once every outcome has been taken."""
        choice = self._request.field_of_view
        self.record = finish(
            self._folder,
            self._name,
            self._heads,
            lost=self._lost,
            identity=self._identity,
            detector=self._request.detector,
            views=[
                record
                for head, views in self._views.items()
                for record in view_records(head, views, choice)
            ],
            run={
                "started": self._started,
                "executor": executor,
                "workers": workers,
                "frames_by_an_earlier_run": self._resumed,
            },
        )
        return self.record

    def _count(self, frames: int, flagged: int) -> None:
        self._done += frames
        self._flagged += flagged
        self._tell(self._done, self._total, self._resumed, self._flagged)


def _earlier(folder: Path, content: dict[str, Any]) -> Record | None:
    """Return the record of an exam that is finished; refuse what does not fit the wish."""
    unfinished = Unfinished(folder)
    plan = unfinished.plan()
    if plan is not None and plan != content:
        raise OccupiedError(_other(folder, "unfinished work", differences(plan, content)))
    if not (folder / RECORD).exists():
        return None
    record = read_record(folder)
    if record["identity"] != content:
        different = differences(record["identity"], content)
        raise OccupiedError(_other(folder, "results", different))
    if not intact(folder, record):
        raise OccupiedError(
            f"the tables in {folder} are gone or not those that were written; start over with "
            "--fresh, or choose another output folder"
        )
    if plan is None:
        return record
    if record["ledger"]["unscreened"]:  # what was lost to dying workers is tried again
        return None
    unfinished.remove()
    return record


def _other(folder: Path, what: str, different: list[str]) -> str:
    shown = "; ".join(different[:3]) + ("; and more" if len(different) > 3 else "")
    return (
        f"{folder} holds {what} of another kind ({shown}); start over with --fresh, or choose "
        "another output folder"
    )


def _clear(folder: Path) -> None:
    """Remove earlier results; the record goes first, because it vouches for the others."""
    try:
        for name in reversed(FILES):
            (folder / name).unlink(missing_ok=True)
        Unfinished(folder).remove()
    except OSError as error:
        raise FileError(f"cannot remove the results in {folder}: {error.strerror}") from error


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror}") from error


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):  # it is not empty
        folder.rmdir()
