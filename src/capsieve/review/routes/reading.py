"""The log of a reading, and what it adds up to."""

import base64
from collections.abc import Callable
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Request, Response
from numpy.typing import NDArray
from pydantic import TypeAdapter

from capsieve.decisions.exam import flagged_events, screening_of, signed_identity
from capsieve.decisions.log import Writer, append, is_known, load_entries
from capsieve.decisions.model import ConflictError, Entry, EntryError, Sign
from capsieve.decisions.reading import displaced, elsewhere_words, fold
from capsieve.decisions.signing import sign, to_validate
from capsieve.decisions.viewed import Bitmaps, add_viewed, count_frames, load_viewed, unreadable
from capsieve.decisions.workflow import belongs, both_signed, own_reading, statement, visible
from capsieve.report.reading_text import findings_by_time
from capsieve.report.timeline_scale import read_times
from capsieve.review import messages
from capsieve.review.catalogue import ExamFacts
from capsieve.review.frames_there import check_contents
from capsieve.review.refusals import OtherReaderError
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
from capsieve.store.record import read_record

__all__ = ["router"]

router = APIRouter(tags=["Reading"])

_VIEW = TypeAdapter(messages.ReadingView)


@router.get("/exams/{exam}/reading", response_model=messages.ReadingView, responses=UNCHANGED)
def get_reading(
    request: Request,
    facts: Chosen,
    room: Here,
    who: Who,
    reader: Annotated[
        str | None, Query(max_length=255, description="Whose blind reading; one's own by default.")
    ] = None,
) -> Response:
    """What the entries add up to: one's own reading, or if both have signed another's."""
    log = load_entries(room.database, facts.exam)
    whose = who if reader is None or room.workflow != "blind" else Reader(reader, "reader")
    if whose != who and not both_signed(log):
        raise ConflictError(
            f"the reading of {whose.name} is visible when both readers of {facts.exam} have signed"
        )
    own = own_reading(log, workflow=room.workflow, reader=whose.name, role=whose.role)
    asker = who.name if whose == who else ""
    reading = fold(own, reader=asker, screening=facts.screening)
    with reading_results():
        events = flagged_events(facts.folder)
        findings = findings_by_time(reading.findings, read_times(facts.folder))
    bitmaps = [
        each
        for each in load_viewed(room.database, facts.exam, facts.screening)
        if belongs(each, workflow=room.workflow, reader=whose.name, role=whose.role)
    ]
    displayed, viewed = count_frames(bitmaps, facts.frames_by_head)
    waiting = []
    if who.role == "validator" and reading.state != "signed":
        mine = [each for each in bitmaps if (each.reader, each.role) == (who.name, who.role)]
        waiting = to_validate(reading, mine)
    problems = (
        *reading.problems,
        *elsewhere_words(reading, events),
        *unreadable(bitmaps),
    )
    view = messages.ReadingView(
        **{name: getattr(reading, name) for name in type(reading).model_fields}
        | {"findings": tuple(findings), "problems": problems},
        exam=facts.exam,
        seen=messages.Seen(displayed=displayed, viewed=viewed, of=facts.frames),
        readers=list(dict.fromkeys(each.reader for each in reading.entries)),
        statement=statement(
            log,
            workflow=room.workflow,
            reader=whose.name,
            role=whose.role,
            undisplayed=len(waiting),
        ),
        to_validate=[messages.Waiting(entry=entry, frame=frame) for entry, frame in waiting],
        misfits=list(
            {
                each.number: each for each in (*reading.elsewhere, *displaced(reading, events))
            }.values()
        ),
    )
    return unless_known(request, _VIEW, view)


@router.get("/exams/{exam}/entries")
def get_entries(
    facts: Chosen,
    room: Here,
    who: Who,
    after: Annotated[int, Query(ge=0, description="The last number that is known.")] = 0,
) -> list[Entry]:
    """The entries that this reader may see, in order."""
    log = load_entries(room.database, facts.exam)  # all: whether both have signed decides
    shown = visible(log, workflow=room.workflow, reader=who.name, role=who.role)
    return [entry for entry in shown if entry.number > after]


@router.post("/exams/{exam}/entries")
def post_action(facts: Chosen, room: Here, who: Who, action: messages.Action) -> list[Entry]:
    """Store an action: all of its entries or none. The answer comes when it is on the disk."""
    _check_reader(who, action)
    new = not is_known(room.database, action.key)
    if new and action.screening != facts.screening:
        raise _screened_again(facts)
    writer = Writer(facts.exam, who.name, who.role, action.screening)
    if any(isinstance(entry, Sign) for entry in action.entries):
        return [_signed(facts, room, writer, action)]
    if new:
        with reading_results():
            check_contents(facts, action.entries, room.frames)
    return append(room.database, writer, action.key, action.entries)


@router.post("/exams/{exam}/viewed")
def post_viewed(facts: Chosen, room: Here, who: Who, sent: messages.SentFrames) -> messages.Done:
    """Store which frames were displayed; sending it twice changes nothing."""
    _check_reader(who, sent)
    if sent.screening != facts.screening:
        raise _screened_again(facts)
    if sent.head not in facts.frames_by_head:
        raise EntryError(f"the exam {facts.exam} has no head {sent.head}")
    add_viewed(
        room.database,
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
def get_viewed(facts: Chosen, room: Here, who: Who) -> dict[int, messages.ViewedFrames]:
    """Which frames were displayed to this reader, for each head."""
    own = {
        each.head: each
        for each in load_viewed(room.database, facts.exam, facts.screening)
        if (each.reader, each.role) == (who.name, who.role)
    }
    return {
        head: messages.ViewedFrames(
            frames=frames,
            displayed=_base64(own.get(head), frames, lambda each: each.displayed),
            viewed=_base64(own.get(head), frames, lambda each: each.viewed),
        )
        for head, frames in facts.frames_by_head.items()
    }


def _base64(
    found: Bitmaps | None, frames: int, which: Callable[[Bitmaps], NDArray[np.bool_]]
) -> str:
    bits = np.zeros(frames, bool)
    if found is not None:
        known = which(found)[:frames]
        bits[: known.size] = known
    return base64.b64encode(np.packbits(bits, bitorder="little").tobytes()).decode("ascii")


def _signed(facts: ExamFacts, room: ReadingRoom, writer: Writer, action: messages.Action) -> Entry:
    """Sign: the hash is computed from what is stored."""
    [request, *others] = action.entries
    if others or not isinstance(request, Sign):
        raise EntryError("a signature is an action of its own")
    with reading_results():
        record = read_record(facts.folder)
        events = flagged_events(facts.folder)
    if screening_of(record) != facts.screening:  # just now, while this was asked for
        raise _screened_again(facts)
    return sign(
        room.database,
        writer,
        action.key,
        request,
        identity=signed_identity(record),
        events=events,
        frames_by_head=facts.frames_by_head,
    )


def _check_reader(who: Reader, sent: messages.Action | messages.SentFrames) -> None:
    """Refuse what a page sends in a session of somebody else, who logged in meanwhile.

    Raises
    ------
    OtherReaderError
        The page was opened by another, or in another role.
    """
    if sent.reader != who.name:
        raise OtherReaderError(
            f"this window was opened by {sent.reader}; log in again as {sent.reader}"
        )
    if sent.role != who.role:
        raise OtherReaderError(
            f"this window was opened by {who.name} as {sent.role}; log in again as {sent.role}"
        )


def _screened_again(facts: ExamFacts) -> ConflictError:
    return ConflictError(
        f"the exam {facts.exam} was screened again after this page was opened; open it again"
    )
