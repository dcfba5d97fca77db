"""Routes for the entries of a reading, and what they add up to."""

import base64
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from numpy.typing import NDArray
from pydantic import TypeAdapter

from capsieve.decisions.agreement import events_to_decide
from capsieve.decisions.exam import (
    flagged_events,
    listed_frames,
    screening_of,
    signed_identity,
)
from capsieve.decisions.log import Writer, append, is_known, load_entries
from capsieve.decisions.model import ConflictError, Entry, EntryError, Sign
from capsieve.decisions.progress import make_progress
from capsieve.decisions.reading import displaced, elsewhere_words, fold
from capsieve.decisions.signing import sign, to_validate
from capsieve.decisions.viewed import add_viewed, load_viewed, together, unreadable
from capsieve.decisions.workflow import belongs, both_signed, own_reading, statement, visible
from capsieve.report.reading_text import findings_by_time
from capsieve.report.timeline_scale import read_times
from capsieve.review import messages
from capsieve.review.action_checks import check_contents
from capsieve.review.catalogue import ExamFacts
from capsieve.review.errors import OtherReaderError, reading_results
from capsieve.review.sessions import Reader
from capsieve.review.state import UNCHANGED, Chosen, Here, State, Who, unless_known
from capsieve.review.summaries import reader_states
from capsieve.store.record import read_record

router = APIRouter(tags=["Reading"])

_VIEW = TypeAdapter(messages.ReadingView)
_Reader = Annotated[
    str | None, Query(max_length=255, description="Whose blind reading; one's own by default.")
]
_After = Annotated[int, Query(ge=0, description="The last number that is known.")]


@router.get("/exams/{exam}/reading", response_model=messages.ReadingView, responses=UNCHANGED)
def get_reading(
    request: Request, facts: Chosen, app: Here, who: Who, reader: _Reader = None
) -> Response:
    """What the entries add up to: one's own reading, or another's if both have signed."""
    log = load_entries(app.database, facts.exam)
    whose = who if reader is None or app.workflow != "blind" else Reader(reader, "reader")
    if whose != who and not both_signed(log):
        raise ConflictError(
            f"the reading of {whose.name} is visible when both readers of {facts.exam} have signed"
        )
    return unless_known(request, _VIEW, _view(facts, app, log, who, whose))


def _view(
    facts: ExamFacts, app: State, log: list[Entry], who: Reader, whose: Reader
) -> messages.ReadingView:
    reading_of: Any = {"workflow": app.workflow, "reader": whose.name, "role": whose.role}
    reading = fold(
        own_reading(log, **reading_of),
        reader=who.name if whose == who else "",
        screening=facts.screening,
    )
    with reading_results():
        events, listed = flagged_events(facts.folder), listed_frames(facts.folder)
        findings = findings_by_time(reading.findings, read_times(facts.folder))
    viewed = load_viewed(app.database, facts.exam, facts.screening)
    bitmaps = [each for each in viewed if belongs(each, **reading_of)]
    waiting = []
    if who.role == "validator" and reading.state != "signed":
        mine = [each for each in bitmaps if (each.reader, each.role) == (who.name, who.role)]
        waiting = to_validate(reading, mine)
    offered = events_to_decide(log, reading, events, role=whose.role)
    progress = make_progress(
        reading,
        bitmaps,
        events=events,
        offered=offered,
        to_read=listed,
        without_picture=facts.without_picture,
    )
    misfits = (*reading.elsewhere, *displaced(reading, events))
    parts = {name: getattr(reading, name) for name in type(reading).model_fields}
    parts["findings"] = tuple(findings)
    parts["problems"] = (
        *reading.problems,
        *elsewhere_words(reading, events),
        *unreadable(bitmaps),
    )
    return messages.ReadingView(
        **parts,
        exam=facts.exam,
        progress=progress,
        offered=[event.subject for event in offered],
        readers=list(dict.fromkeys(each.reader for each in reading.entries)),
        states=list(reader_states(log, reading.state, workflow=app.workflow, reader=who)),
        statement=statement(log, **reading_of, undisplayed=len(waiting)),
        to_validate=[messages.Waiting(entry=entry, frame=frame) for entry, frame in waiting],
        misfits=list({each.number: each for each in misfits}.values()),
    )


@router.get("/exams/{exam}/entries")
def get_entries(facts: Chosen, app: Here, who: Who, after: _After = 0) -> list[Entry]:
    """The entries that this reader may see, in order."""
    log = load_entries(app.database, facts.exam)  # all: whether both have signed decides
    shown = visible(log, workflow=app.workflow, reader=who.name, role=who.role)
    return [entry for entry in shown if entry.number > after]


@router.post("/exams/{exam}/entries")
def post_action(facts: Chosen, app: Here, who: Who, action: messages.Action) -> list[Entry]:
    """Store an action: all of its entries or none. The answer comes when it is on the disk."""
    _check_reader(who, action)
    new = not is_known(app.database, action.key)
    if new and action.screening != facts.screening:
        raise _screened_again(facts)
    writer = Writer(facts.exam, who.name, who.role, action.screening)
    if any(isinstance(entry, Sign) for entry in action.entries):
        return [_sign(facts, app, writer, action)]
    if new:
        with reading_results():
            check_contents(facts, action.entries, app.frames)
    return append(app.database, writer, action.key, action.entries)


def _sign(facts: ExamFacts, app: State, writer: Writer, action: messages.Action) -> Entry:
    [request, *others] = action.entries
    if others or not isinstance(request, Sign):
        raise EntryError("a signature is an action of its own")
    with reading_results():
        record = read_record(facts.folder)
        events = flagged_events(facts.folder)
    if screening_of(record) != facts.screening:  # just now, during this request
        raise _screened_again(facts)
    entry = sign(
        app.database,
        writer,
        action.key,
        request,
        identity=signed_identity(record),
        events=events,
        frames_by_head=facts.frames_by_head,
        without_picture=facts.without_picture,
    )
    app.access.log(
        "signature",
        reader=writer.reader,
        role=writer.role,
        exam=facts.exam,
        revision=entry.revision,
        entry=entry.number,
    )
    return entry


@router.post("/exams/{exam}/viewed")
def post_viewed(facts: Chosen, app: Here, who: Who, sent: messages.SentFrames) -> messages.Done:
    """Store which frames were displayed; sending it twice changes nothing."""
    _check_reader(who, sent)
    if sent.screening != facts.screening:
        raise _screened_again(facts)
    if sent.head not in facts.frames_by_head:
        raise EntryError(f"the exam {facts.exam} has no head {sent.head}")
    add_viewed(
        app.database,
        exam=facts.exam,
        reader=who.name,
        role=who.role,
        screening=facts.screening,
        head=sent.head,
        frames=facts.frames_by_head[sent.head],
        displayed=sent.displayed,
        viewed=sent.viewed,
    )
    return messages.Done()


@router.get("/exams/{exam}/viewed")
def get_viewed(facts: Chosen, app: Here, who: Who) -> dict[int, messages.ViewedFrames]:
    """Which frames were displayed to this reader, for each head."""
    viewed = load_viewed(app.database, facts.exam, facts.screening)
    own = [each for each in viewed if (each.reader, each.role) == (who.name, who.role)]
    return {
        head: messages.ViewedFrames(
            frames=facts.frames_by_head[head],
            displayed=_base64(displayed),
            viewed=_base64(seen),
        )
        for head, (displayed, seen) in together(own, facts.frames_by_head).items()
    }


def _base64(bits: NDArray[np.bool_]) -> str:
    return base64.b64encode(np.packbits(bits, bitorder="little").tobytes()).decode("ascii")


def _check_reader(who: Reader, sent: messages.Action | messages.SentFrames) -> None:
    """Refuse what a page sends in the session of another reader, who logged in meanwhile."""
    if (sent.reader, sent.role) != (who.name, who.role):
        role = "" if sent.reader != who.name else f" as {sent.role}"
        raise OtherReaderError(
            f"this window was opened by {sent.reader}{role}; log in again as "
            f"{sent.role if role else sent.reader}"
        )


def _screened_again(facts: ExamFacts) -> ConflictError:
    return ConflictError(
        f"the exam {facts.exam} was screened again after this page was opened; open it again"
    )
