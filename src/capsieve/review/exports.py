"""Routes for reports, tables and the agreement of two readings."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

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
from capsieve.review.errors import reading_results
from capsieve.review.sessions import Reader
from capsieve.review.state import Chosen, Here, Responses, State, Who, run_in

router = APIRouter(tags=["Exports"])

_TYPES = {"csv": "text/csv", "html": "text/html", "pdf": "application/pdf"}
_FILE: Responses = {200: {"content": {media: {} for media in _TYPES.values()}}}


@router.get("/exams/{exam}/agreement")
def get_agreement(facts: Chosen, app: Here) -> Agreement:
    """Where two blind readings differ, and their kappa; only when both are signed."""
    log = load_entries(app.database, facts.exam)
    if app.workflow != "blind":
        raise ConflictError(f"the workflow is {app.workflow}: there are no two readings")
    if not both_signed(log):
        raise ConflictError(f"the readings of {facts.exam} are visible when both are signed")
    with reading_results():
        events = flagged_events(facts.folder)
    found = compare_blind(log, screening=facts.screening, events=events)
    if isinstance(found, str):
        raise ConflictError(f"the readings of {facts.exam} cannot be compared: {found}")
    return found


@router.get("/exams/{exam}/export/decisions.csv", response_class=Response, responses=_FILE)
async def get_decisions(facts: Chosen, app: Here, who: Who) -> Response:
    """Every entry that this reader may see, and whether it counts."""

    def content() -> str:
        log = load_entries(app.database, facts.exam)
        return decisions_csv(visible(log, workflow=app.workflow, reader=who.name, role=who.role))

    return await _file(facts, app, who, "decisions.csv", content)


@router.get("/exams/{exam}/export/labels.csv", response_class=Response, responses=_FILE)
async def get_labels(facts: Chosen, app: Here, who: Who) -> Response:
    """What was decided, as labels for capsieve evaluate and capsieve train."""
    return await _file(
        facts, app, who, "labels.csv", lambda: labels_csv([_labels(facts, app, who)])
    )


@router.get("/exams/{exam}/export/report.html", response_class=Response, responses=_FILE)
async def get_report(facts: Chosen, app: Here, who: Who) -> Response:
    """The report of the reading that this reader may see, as `capsieve report` writes it."""
    return await _file(facts, app, who, "report.html", lambda: _report(facts, app, who))


@router.get("/exams/{exam}/export/report.pdf", response_class=Response, responses=_FILE)
async def get_report_pdf(facts: Chosen, app: Here, who: Who) -> Response:
    """The same as PDF; this needs the extra `pdf`."""
    require_pdf()  # before the work
    content: Callable[[], bytes] = lambda: pdf_bytes(_report(facts, app, who))  # noqa: E731
    return await _file(facts, app, who, "report.pdf", content)


async def _file(
    facts: ExamFacts, app: State, who: Reader, what: str, content: Callable[[], str | bytes]
) -> Response:
    """Return a file named by exam and date; it is made in threads of its own kind."""
    made: Any = await run_in(app.exports, content)
    app.access.log("export", reader=who.name, role=who.role, exam=facts.exam, file=what)
    stem, _, ending = what.partition(".")
    name = f"{facts.exam}-{stem}-{datetime.now(UTC):%Y-%m-%d}.{ending}"
    # Two names (RFC 6266): one of plain ASCII, and the exact one, with everything else encoded.
    safe = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
    safe = f"{safe.removesuffix(f'-{ending}')}.{ending}"
    exact = quote(name.encode("utf-8", "replace"), safe="")
    return Response(
        made,
        media_type=_TYPES[ending],
        headers={
            "content-disposition": f"attachment; filename=\"{safe}\"; filename*=UTF-8''{exact}"
        },
    )


def _report(facts: ExamFacts, app: State, who: Reader) -> str:
    try:
        with reading_results():
            gathered = gather_reading(facts.folder, database=app.database, account=who.name)
    except ParameterError:  # the only one: blind work, and this reader has no part in it
        raise ConflictError(
            f"{who.name} has not read {facts.exam}; its report is visible when both have signed"
        ) from None
    return reading_report(gathered).html


def _labels(facts: ExamFacts, app: State, who: Reader) -> Labels:
    """Return one's own labels; those of both and of the consensus if both readers have signed."""
    log = load_entries(app.database, facts.exam)
    with reading_results():
        events = flagged_events(facts.folder)

    def labels_of(part: list[Entry]) -> Labels:
        reading = fold(part, screening=facts.screening)
        for sentence in elsewhere_words(reading):  # its frame numbers may be of other pictures
            raise ConflictError(f"there are no labels of {facts.exam}: {sentence}")
        return reading_labels(reading, exam=facts.exam, events=events)

    if app.workflow == "blind" and both_signed(log):
        if any(entry.role == "consensus" for entry in log):
            return labels_of(own_reading(log, workflow="blind", reader="", role="consensus"))
        a, b = [labels_of(each) for each in blind_readings(log).values()][:2]
        return agreed_labels(a, b)
    return labels_of(own_reading(log, workflow=app.workflow, reader=who.name, role=who.role))
