"""Routes for the server itself, the list of exams, and one exam."""

import math
from collections.abc import Iterable
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
from fastapi import APIRouter, Request, Response
from numpy.typing import NDArray
from pydantic import TypeAdapter

from capsieve._version import __version__
from capsieve.decisions.database import read_room_id
from capsieve.decisions.exam import screening_of
from capsieve.report.exam_tables import Event, event_list
from capsieve.report.text import plain
from capsieve.report.words import flag_threshold, is_probability
from capsieve.review import messages
from capsieve.review.catalogue import ExamFacts
from capsieve.review.errors import reading_results
from capsieve.review.security import HEALTH
from capsieve.review.state import UNCHANGED, Chosen, Here, Who, unless_known
from capsieve.review.summaries import Summary
from capsieve.store.exam import Exam
from capsieve.store.record import Record

router = APIRouter(tags=["Exams"])
health = APIRouter(include_in_schema=False)

_ROWS = TypeAdapter(list[messages.ExamRow])
_WORDS = {
    "paper": ("R_max", "Radius of the best-fit ball, working pixels"),
    "curvature": ("score", "Score of the curvature detector"),
}


@health.api_route(HEALTH, methods=["GET", "HEAD"])
def get_health(app: Here) -> messages.Done:
    """Answer if the server works and reaches its database."""
    read_room_id(app.database)
    return messages.Done()


@router.get("/room")
def get_room(app: Here, who: Who) -> messages.Room:
    """The server, and who is logged in."""
    access = app.access
    return messages.Room(
        version=__version__,
        room=app.id,
        workflow=app.workflow,
        reader=who.name,
        role=who.role,
        disclaimer=messages.DISCLAIMER,
        login=access.users is not None and access.remote_user_header is None,
        pdf=find_spec("weasyprint") is not None,
    )


@router.get("/exams", response_model=list[messages.ExamRow], responses=UNCHANGED)
def get_exams(request: Request, app: Here, who: Who) -> Response:
    """All exams, with what was found in them and how far their reading is."""
    exams = app.catalogue.exams()
    rows = map(_row, exams, app.summaries.summaries(exams, who))
    return unless_known(request, _ROWS, list(rows))


@router.get("/exams/{exam}")
def get_exam(facts: Chosen, app: Here, who: Who) -> messages.Exam:
    """One exam: its heads, and its events best first."""
    with reading_results():
        view = _exam(facts)
    app.access.log("exam", reader=who.name, role=who.role, exam=facts.exam)
    return view


def _row(facts: ExamFacts, summary: Summary) -> messages.ExamRow:
    return messages.ExamRow(
        exam=facts.exam,
        state=summary.state,
        revision=summary.revision,
        urgent=summary.urgent,
        frames=facts.frames,
        heads=list(facts.frames_by_head),
        duration_s=facts.duration_s,
        events=facts.events,
        flagged_frames=facts.flagged,
        to_read=facts.to_read,
        decided_events=summary.decided_events,
        to_validate=summary.to_validate,
        findings=summary.findings,
        complete=facts.complete,
        problems=[*facts.problems, *summary.problems],
        readers=list(summary.readers),
        screened_at=facts.screened_at,
        readable=facts.readable,
        progress=summary.progress,
        out_of_range=bool(facts.out_of_range),
        flagging=facts.flagging,
    )


def _exam(facts: ExamFacts) -> messages.Exam:
    exam = Exam(facts.folder)
    record = exam.record
    table = exam.columns("head", "time_s", "score", "rows", "cols", "file")
    heads = _numbers(table["head"])
    by_head = {head: table.filter(pa.array(heads == head)) for head in facts.frames_by_head}
    threshold = flag_threshold(record)
    events = event_list(exam.columns(table="events"))
    return messages.Exam(
        exam=facts.exam,
        screening=screening_of(record),
        heads=[_head(head, rows, exam) for head, rows in by_head.items()],
        threshold=threshold,
        reading_list=record["flagging"]["rule"] != "threshold",
        flagging=facts.flagging,
        score=_score(record, table["score"], threshold),
        detector=_file_name(str(record["detector"].get("name", "unknown"))),
        events=[_event(event) for event in events],
        warnings=[plain(warning) for warning in record["warnings"]],
        out_of_range=list(facts.out_of_range),
        disclaimer=messages.DISCLAIMER,
    )


def _event(event: Event) -> messages.Event:
    return messages.Event(
        event=event.event,
        head=event.head,
        first_frame=event.first_frame,
        last_frame=event.last_frame,
        best_frame=event.best_frame,
        frames=event.frames,
        to_read=event.to_read,
        score=event.score,
        row=_finite(event.row),
        col=_finite(event.col),
        radius=_finite(event.radius),
    )


def _head(head: int, table: pa.Table, exam: Exam) -> messages.Head:
    times = np.asarray(table["time_s"].fill_null(np.nan).to_numpy(), np.float64)
    steps = np.diff(times)
    steps = steps[np.isfinite(steps) & (steps > 0)]
    rows, cols = _shape(_numbers(table["rows"]), _numbers(table["cols"]))
    found = exam.field_of_view(head, rows, cols)
    files = table["file"].to_pylist()
    return messages.Head(
        head=head,
        frames=table.num_rows,
        rows=rows,
        cols=cols,
        field_of_view=None
        if found is None
        else messages.FieldOfView(
            shape=found.shape, row=found.row, col=found.col, radius=found.radius
        ),
        fps=float(1.0 / np.median(steps)) if steps.size else _declared_rate(head, exam.record),
        has_times=bool(np.isfinite(times).any()),
        files=[plain(name) for name in files] if all(files) else [],
    )


def _shape(rows: NDArray[np.int64], cols: NDArray[np.int64]) -> tuple[int, int]:
    """Return rows and columns of most frames; 0 if none was decoded."""
    known = (rows > 0) & (cols > 0)
    if not known.any():
        return 0, 0
    sizes, counts = np.unique(np.stack([rows[known], cols[known]]), axis=1, return_counts=True)
    most_rows, most_cols = sizes[:, counts.argmax()].tolist()
    return most_rows, most_cols


def _declared_rate(head: int, record: Record) -> float | None:
    """Return the frames per second that the source declares, if it does."""
    for source in record["sources"]:
        if source["head"] == head:
            try:
                rate = float(Fraction(str(source["description"]["average_rate"])))
            except (KeyError, ValueError, ZeroDivisionError):
                return None
            return rate if rate > 0 else None
    return None


def _score(record: Record, scores: pa.ChunkedArray, threshold: float | None) -> messages.Score:
    title, words = _WORDS.get(
        str(record["detector"].get("name")), ("score", "Score of the detector")
    )
    probability = is_probability(record["detector"])
    bounds = [0.0, 1.0]
    if not probability:
        known = np.asarray(scores.fill_null(np.nan).to_numpy(), np.float64)
        known = known[np.isfinite(known)]
        bounds = [0.0, *_some(threshold), *known.tolist()]
    low, high = min(bounds), max(bounds)
    return messages.Score(name=title, words=words, low=low, high=high, probability=probability)


def _some(value: float | None) -> Iterable[float]:
    return () if value is None else (value,)


def _numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return np.asarray(column.fill_null(-1).to_numpy(), np.int64)


def _file_name(path: str) -> str:
    """Return the name alone: paths are shown on the terminal of the server only."""
    return plain(path.rstrip("/").rpartition("/")[2])


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
