"""The room, its list of exams, and one exam's facts."""

from importlib.util import find_spec

from fastapi import APIRouter, Request, Response
from pydantic import TypeAdapter

from capsieve._version import __version__
from capsieve.review import messages
from capsieve.review.catalogue import ExamFacts
from capsieve.review.exam_view import DISCLAIMER, exam_view
from capsieve.review.head_facts import read_head_facts
from capsieve.review.room import ReadingRoom
from capsieve.review.routes.given import (
    UNCHANGED,
    Chosen,
    Here,
    Who,
    reading_results,
    unless_known,
)
from capsieve.review.sessions import Reader

__all__ = ["router"]

router = APIRouter(tags=["Exams"])

_ROWS = TypeAdapter(list[messages.ExamRow])


@router.get("/room")
def get_room(room: Here, who: Who) -> messages.Room:
    """The room, and who is in it."""
    users = room.door.users
    names = [who.name] if users is None else list(users.readers)
    return messages.Room(
        version=__version__,
        room=room.id,
        workflow=room.workflow,
        reader=who.name,
        role=who.role,
        readers=names,
        disclaimer=DISCLAIMER,
        exams=len(room.catalogue.exams()),
        login=users is not None,
        pdf=find_spec("weasyprint") is not None,
    )


@router.get("/exams", response_model=list[messages.ExamRow], responses=UNCHANGED)
def get_exams(request: Request, room: Here, who: Who) -> Response:
    """All exams, with what was found in them and how far their reading is."""
    room.summaries.follow()
    rows = [_row(facts, room, who) for facts in room.catalogue.exams()]
    return unless_known(request, _ROWS, rows)


@router.get("/exams/{exam}")
def get_exam(facts: Chosen, room: Here) -> messages.Exam:
    """One exam: its heads, its events best first, and what it was screened with."""
    with reading_results():
        return exam_view(facts, read_head_facts(facts.folder, facts.heads))


def _row(facts: ExamFacts, room: ReadingRoom, who: Reader) -> messages.ExamRow:
    summary = room.summaries.summary(facts, who)
    return messages.ExamRow(
        exam=facts.exam,
        state=summary.state,  # pyright: ignore[reportArgumentType]
        revision=summary.revision,
        urgent=summary.urgent,
        frames=facts.frames,
        heads=list(facts.heads),
        duration_s=facts.duration_s,
        events=facts.events,
        flagged_frames=facts.flagged,
        to_read=facts.to_read,
        decided_events=summary.decided_events,
        to_validate=summary.to_validate,
        findings=summary.findings,
        complete=facts.complete,
        problems=[*facts.problems, *summary.problems],
        readers=[
            messages.ReaderState(reader=name, state=state)  # pyright: ignore[reportArgumentType]
            for name, state in summary.readers
        ],
        screened_at=facts.screened_at,
        readable=facts.readable,
    )
