"""Agreement of two blind readers; decisions, labels and reports as files."""

from fastapi import APIRouter, Response

from capsieve.decisions.agreement import Agreement, compare_blind
from capsieve.decisions.exam import flagged_events
from capsieve.decisions.export import (
    Labels,
    agreed_labels,
    decisions_csv,
    labels_csv,
    reading_labels,
)
from capsieve.decisions.log import load_entries
from capsieve.decisions.model import ConflictError, Entry
from capsieve.decisions.reading import elsewhere_words, fold
from capsieve.decisions.workflow import blind_readings, both_signed, own_reading, visible
from capsieve.errors import ParameterError
from capsieve.report.page import pdf_bytes, require_pdf
from capsieve.report.reading_facts import gather_reading
from capsieve.report.reading_report import reading_report
from capsieve.review.catalogue import ExamFacts
from capsieve.review.room import ReadingRoom
from capsieve.review.routes.given import Chosen, Here, Responses, Who, reading_results
from capsieve.review.sessions import Reader

__all__ = ["router"]

router = APIRouter(tags=["Exports"])

_CSV: Responses = {200: {"content": {"text/csv": {}}}}
_REPORT: Responses = {200: {"content": {"text/html": {}, "application/pdf": {}}}}


@router.get("/exams/{exam}/agreement")
def get_agreement(facts: Chosen, room: Here) -> Agreement:
    """Where two blind readings differ, and their kappa; only when both are signed."""
    log = load_entries(room.database, facts.exam)
    if room.workflow != "blind":
        raise ConflictError(f"the workflow is {room.workflow}: there are no two readings")
    if not both_signed(log):
        raise ConflictError(f"the readings of {facts.exam} open when both readers have signed")
    with reading_results():
        events = flagged_events(facts.folder)
    found = compare_blind(log, screening=facts.screening, events=events)
    if isinstance(found, str):
        raise ConflictError(f"the readings of {facts.exam} cannot be compared: {found}")
    return found


@router.get("/exams/{exam}/export/decisions.csv", response_class=Response, responses=_CSV)
def get_decisions(facts: Chosen, room: Here, who: Who) -> Response:
    """Every entry that this reader may see, and whether it stands."""
    log = load_entries(room.database, facts.exam)
    shown = visible(log, workflow=room.workflow, reader=who.name, role=who.role)
    return _file(decisions_csv(shown), "decisions.csv")


@router.get("/exams/{exam}/export/labels.csv", response_class=Response, responses=_CSV)
def get_labels(facts: Chosen, room: Here, who: Who) -> Response:
    """What was decided, as labels that capsieve evaluate and capsieve train read."""
    log = load_entries(room.database, facts.exam)
    return _file(labels_csv([_labels(facts, room, who, log)]), "labels.csv")


@router.get("/exams/{exam}/export/report.html", response_class=Response, responses=_REPORT)
def get_report(facts: Chosen, room: Here, who: Who) -> Response:
    """The report of the reading that this reader may see, as `capsieve report` writes it."""
    return _file(_report(facts, room, who), "report.html", kind="text/html; charset=utf-8")


@router.get("/exams/{exam}/export/report.pdf", response_class=Response, responses=_REPORT)
def get_report_pdf(facts: Chosen, room: Here, who: Who) -> Response:
    """The same as PDF; this needs the extra `pdf`."""
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
    return reading_report(told).html


def _labels(facts: ExamFacts, room: ReadingRoom, who: Reader, log: list[Entry]) -> Labels:
    """Return one's own labels; those of both and of the consensus if both readers have signed."""
    with reading_results():
        events = flagged_events(facts.folder)

    def labels_of(part: list[Entry]) -> Labels:
        reading = fold(part, screening=facts.screening)
        for sentence in elsewhere_words(reading):  # its frame numbers may be of other pictures
            raise ConflictError(f"there are no labels of {facts.exam}: {sentence}")
        return reading_labels(reading, exam=facts.exam, events=events)

    if room.workflow == "blind" and both_signed(log):
        if any(entry.role == "consensus" for entry in log):
            return labels_of(own_reading(log, workflow="blind", reader="", role="consensus"))
        a, b = [labels_of(each) for each in blind_readings(log).values()][:2]
        return agreed_labels(a, b)
    return labels_of(own_reading(log, workflow=room.workflow, reader=who.name, role=who.role))


def _file(content: str | bytes, name: str, *, kind: str = "text/csv; charset=utf-8") -> Response:
    # The name is fixed: a header made from an exam's name would have to be escaped.
    return Response(
        content,
        media_type=kind,
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
