"""Screening one exam: what is there already, what is to do, and the end of it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from capsieve.aperture import FieldOfView
from capsieve.detectors import Detector
from capsieve.engine.executors.executor import Executor
from capsieve.engine.finishing import FILES, finish
from capsieve.engine.identity import differences, identity
from capsieve.engine.segment_work import SegmentTask, screen_segment
from capsieve.engine.views import FieldChoice, find_views, view_records
from capsieve.errors import FileError, OccupiedError, WorkerError
from capsieve.sources.source import Place, Source, Survey, open_source
from capsieve.store.lock import locked
from capsieve.store.record import RECORD, Record, read_record
from capsieve.store.unfinished import Unfinished

__all__ = ["Request", "Tell", "screen_exam"]


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
        if isinstance(field, FieldOfView):
            return {"field_of_view": [field.row, field.col, field.radius]}
        return {"field_of_view": field}


Tell = Callable[[int, int, int, int], None]
"""Takes frames done, frames expected, frames done by an earlier run, and frames flagged."""


class _Account:
    """Counts what has been done of an exam, and tells it to whoever listens."""

    def __init__(self, tell: Tell, total: int) -> None:
        self._tell = tell
        self.total = total
        self.done = self.resumed = self.flagged = 0

    def add(self, frames: int, flagged: int, *, resumed: bool = False) -> None:
        """Count frames that are done."""
        self.done += frames
        self.flagged += flagged
        self.resumed += frames if resumed else 0
        self._tell(self.done, self.total, self.resumed, self.flagged)


def screen_exam(
    name: str,
    places: Sequence[Place],
    out: Path,
    request: Request,
    executor: Executor,
    tell: Tell,
) -> tuple[Record, bool]:
    """Screen an exam into its folder below `out`.

    Parameters
    ----------
    name, places
        The exam, and where its heads are.
    out
        The folder of all exams.
    request
        What is wanted.
    executor
        Where the work is done.
    tell
        Called whenever frames are done.

    Returns
    -------
    record, anew
        The exam's record, and whether there was anything to do.

    Raises
    ------
    FileError
        A source cannot be read, or the results cannot be written.
    OccupiedError
        Another run is at it, or there are results of other settings.
    """
    started = datetime.now(UTC)
    sources = [open_source(place) for place in places]
    heads = [(source, source.survey()) for source in sources]
    surveyed = [(source.place, survey) for source, survey in heads]
    content = identity(request.detector, surveyed, request.settings)
    folder = out / name
    _make(folder)
    try:
        with locked(folder):
            record = _earlier(folder, content, fresh=request.fresh)
            if record is not None:
                return record, False
            return _screen(name, folder, heads, content, request, executor, tell, started), True
    finally:
        _remove_if_empty(folder)


def _screen(
    name: str,
    folder: Path,
    heads: Sequence[tuple[Source, Survey]],
    content: dict[str, Any],
    request: Request,
    executor: Executor,
    tell: Tell,
    started: datetime,
) -> Record:
    unfinished = Unfinished(folder)
    unfinished.begin(content)
    views = {s.place.head: find_views(s, survey, request.field_of_view) for s, survey in heads}
    account = _Account(tell, sum(seg.frames for _, survey in heads for seg in survey.segments))
    tasks: list[SegmentTask] = []
    for source, survey in heads:
        place = source.place
        for segment in survey.segments:
            if unfinished.has(place.head, segment.number):
                account.add(*unfinished.counts(place.head, segment.number), resumed=True)
            else:
                tasks.append(SegmentTask(place, segment, request.detector, views[place.head]))
    account.add(0, 0)
    lost = _run(tasks, unfinished, executor, account)
    records = [
        record
        for source, _ in heads
        for record in view_records(
            source.place.head, views[source.place.head], request.field_of_view
        )
    ]
    run = {
        "started": started,
        "executor": executor.name,
        "workers": executor.workers,
        "frames_by_an_earlier_run": account.resumed,
    }
    return finish(
        folder,
        name,
        heads,
        lost=lost,
        identity=content,
        detector=request.detector,
        views=records,
        run=run,
    )


def _run(
    tasks: list[SegmentTask], unfinished: Unfinished, executor: Executor, account: _Account
) -> dict[tuple[int, int], str]:
    """Screen the segments and keep them; return those that could not be, and why."""
    lost: dict[tuple[int, int], str] = {}
    for outcome in executor.run(screen_segment, tasks) if tasks else ():
        head, number = outcome.task.place.head, outcome.task.segment.number
        if outcome.result is not None:
            unfinished.add(head, number, outcome.result)
            account.add(*unfinished.counts(head, number))
            continue
        error = outcome.error
        if isinstance(error, FileError):  # the source is not what it was: nothing of it counts
            raise error
        kind = "" if isinstance(error, WorkerError) else f"{type(error).__name__}: "
        lost[head, number] = f"not screened: {kind}{error}"
        account.add(outcome.task.segment.frames, 0)
    return lost


def _earlier(folder: Path, content: dict[str, Any], *, fresh: bool) -> Record | None:
    """Return the record of an exam that is finished; refuse what does not fit the wish."""
    unfinished = Unfinished(folder)
    if fresh:
        _clear(folder)
        return None
    plan = unfinished.plan()
    if plan is not None and plan != content:
        raise OccupiedError(_other(folder, "unfinished work", differences(plan, content)))
    if not (folder / RECORD).exists():
        return None
    record = read_record(folder)
    if record["identity"] != content:
        different = differences(record["identity"], content)
        raise OccupiedError(_other(folder, "results", different))
    # What was lost to dying workers is tried again; a source that is damaged stays so.
    return None if unfinished.folder.exists() else record


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
