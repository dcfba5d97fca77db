"""How far two readers agree, and decisions as files."""

from fastapi import APIRouter, Response

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
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.refusals import ConflictError
from capsieve.review.exam_events import flagged_events
from capsieve.review.room import ReadingRoom
from capsieve.review.routes.given import Chosen, Here, Responses, Who
from capsieve.review.sessions import Reader

__all__ = ["router"]

router = APIRouter(tags=["Out"])

_CSV: Responses = {200: {"content": {"text/csv": {}}}}


@router.get("/exams/{exam}/agreement")
def get_agreement(facts: Chosen, room: Here) -> messages.Agreement:
    """Where two blind readings differ, and their kappa; only when both are signed."""
    entries = load_entries(room.database, facts.exam)
    if room.way != "blind":
        raise ConflictError(f"this room works as {room.way}: there are no two readings to compare")
    if not both_signed(entries):
        raise ConflictError(f"the readings of {facts.exam} open when both readers have signed")
    a, b = [fold(each) for each in blind_readings(entries).values()][:2]
    found = compare(a, b, events=flagged_events(facts.folder))
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


def _labels(facts: ExamFacts, room: ReadingRoom, who: Reader, entries: list[Entry]) -> Labels:
    """Return one's own labels; those of both and of the consensus where readings are open."""
    events = flagged_events(facts.folder)

    def labels_of(part: list[Entry]) -> Labels:
        return reading_labels(fold(part), exam=facts.exam, events=events)

    if room.way == "blind" and both_signed(entries):
        a, b = [labels_of(each) for each in blind_readings(entries).values()][:2]
        consensus = [entry for entry in entries if entry.role == "consensus"]
        return agreed_labels(a, b, labels_of(consensus) if consensus else None)
    return labels_of(own_reading(entries, way=room.way, reader=who.name, role=who.role))


def _file(content: str, name: str) -> Response:
    # The name is ours: a header made from an exam's name would have to be escaped.
    return Response(
        content,
        media_type="text/csv; charset=utf-8",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
