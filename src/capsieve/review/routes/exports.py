"""How far two readers agree, and decisions and reports as files."""

from fastapi import APIRouter, Response

from capsieve.errors import ParameterError
from capsieve.report.page import pdf_bytes, require_pdf
from capsieve.report.reading_facts import gather_reading
from capsieve.report.reading_report import reading_report
from capsieve.review import messages
from capsieve.review.catalogue import ExamFacts
from capsieve.review.decisions.access import blind_readings, both_signed, own_reading, visible
from capsieve.review.decisions.agreement import compare
from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.export import decisions_csv
from capsieve.review.decisions.export_labels import (
    Labels,
    agreed_labels,
    labels_csv,
    reading_labels,
)
from capsieve.review.decisions.log import load_entries
from capsieve.review.decisions.reading import Reading, fold
from capsieve.review.decisions.refusals import ConflictError
from capsieve.review.decisions.screenings import load_foreign
from capsieve.review.exam_events import flagged_events
from capsieve.review.room import ReadingRoom
from capsieve.review.routes.given import Chosen, Here, Responses, Who, reading_results
from capsieve.review.sessions import Reader

__all__ = ["router"]

router = APIRouter(tags=["Out"])

_CSV: Responses = {200: {"content": {"text/csv": {}}}}
_REPORT: Responses = {200: {"content": {"text/html": {}, "application/pdf": {}}}}


@router.get("/exams/{exam}/agreement")
def get_agreement(facts: Chosen, room: Here) -> messages.Agreement:
    """Where two blind readings differ, and their kappa; only when both are signed."""
    entries = load_entries(room.database, facts.exam)
    if room.way != "blind":
        raise ConflictError(f"this room works as {room.way}: there are no two readings to compare")
    if not both_signed(entries):
        raise ConflictError(f"the readings of {facts.exam} open when both readers have signed")
    a, b = [_fold(each, facts, room) for each in blind_readings(entries).values()][:2]
    for reading in (a, b):
        if reading.foreign:  # its events are others
            raise ConflictError(
                f"the readings of {facts.exam} cannot be compared: {reading.foreign}"
            )
    with reading_results():
        events = flagged_events(facts.folder)
    found = compare(a, b, events=events)
    return messages.Agreement.model_validate(found.to_json())


@router.get("/exams/{exam}/export/decisions.csv", response_class=Response, responses=_CSV)
def get_decisions(facts: Chosen, room: Here, who: Who) -> Response:
    """Every entry that this reader may see, and whether it stands."""
    entries = load_entries(room.database, facts.exam)
    shown = visible(entries, way=room.way, reader=who.name, role=who.role)
    return _file(decisions_csv(shown), "decisions.csv")


@router.get("/exams/{exam}/export/labels.csv", response_class=Response, responses=_CSV)
def get_labels(facts: Chosen, room: Here, who: Who) -> Response:
    """What was decided, as labels that capsieve evaluate and capsieve train read."""
    entries = load_entries(room.database, facts.exam)
    return _file(labels_csv([_labels(facts, room, who, entries)]), "labels.csv")


@router.get("/exams/{exam}/export/report.html", response_class=Response, responses=_REPORT)
def get_report(facts: Chosen, room: Here, who: Who) -> Response:
    """The report of the reading that this reader may see, as `capsieve report` writes it."""
    return _file(_report(facts, room, who), "report.html", kind="text/html; charset=utf-8")


@router.get("/exams/{exam}/export/report.pdf", response_class=Response, responses=_REPORT)
def get_report_pdf(facts: Chosen, room: Here, who: Who) -> Response:
    """The same as PDF; the room needs the extra `pdf` for it."""
    require_pdf()  # before the work, not after it
    return _file(pdf_bytes(_report(facts, room, who)), "report.pdf", kind="application/pdf")


def _report(facts: ExamFacts, room: ReadingRoom, who: Reader) -> str:
    try:
        with reading_results():
            told = gather_reading(facts.folder, database=room.database, account=who.name)
    except ParameterError:  # the only one: blind work, and this reader has no part in it
        raise ConflictError(
            f"{who.name} has not read {facts.exam}; its report opens when both readers have signed"
        ) from None
    return reading_report(told).text


def _labels(facts: ExamFacts, room: ReadingRoom, who: Reader, entries: list[Entry]) -> Labels:
    """Return one's own labels; those of both and of the consensus where readings are open."""
    with reading_results():
        events = flagged_events(facts.folder)

    def labels_of(part: list[Entry]) -> Labels:
        reading = _fold(part, facts, room)
        if reading.foreign:  # its frame numbers may be those of other pictures
            raise ConflictError(f"there are no labels of {facts.exam}: {reading.foreign}")
        return reading_labels(reading, exam=facts.exam, events=events)

    if room.way == "blind" and both_signed(entries):
        if any(entry.role == "consensus" for entry in entries):
            return labels_of(own_reading(entries, way=room.way, reader="", role="consensus"))
        a, b = [labels_of(each) for each in blind_readings(entries).values()][:2]
        return agreed_labels(a, b)
    return labels_of(own_reading(entries, way=room.way, reader=who.name, role=who.role))


def _fold(entries: list[Entry], facts: ExamFacts, room: ReadingRoom) -> Reading:
    foreign = load_foreign(room.database, entries, exam=facts.exam, screening=facts.screening)
    return fold(entries, foreign=foreign)


def _file(content: str | bytes, name: str, *, kind: str = "text/csv; charset=utf-8") -> Response:
    # The name is ours: a header made from an exam's name would have to be escaped.
    return Response(
        content,
        media_type=kind,
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
