"""What readers said, and what they say now."""

import base64
from typing import Annotated, Any

from fastapi import APIRouter, Query

from capsieve.review import messages
from capsieve.review.catalogue import ExamFacts, screening_of
from capsieve.review.decisions.access import both_signed, own_reading, visible
from capsieve.review.decisions.entries import Entry, NewEntry
from capsieve.review.decisions.log import is_known, load_entries
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.refusals import ConflictError, EntryError
from capsieve.review.decisions.screenings import load_foreign
from capsieve.review.decisions.sealing import sign
from capsieve.review.decisions.seen import add_seen
from capsieve.review.decisions.writing import append
from capsieve.review.exam_events import signed_identity
from capsieve.review.frames_there import check_speaks_of, check_there
from capsieve.review.refusals import OtherReaderError
from capsieve.review.room import ReadingRoom
from capsieve.review.routes.given import Chosen, Here, Who, reading_results
from capsieve.review.sessions import Reader

__all__ = ["router"]

router = APIRouter(tags=["Reading"])


@router.get("/exams/{exam}/reading")
def get_reading(
    facts: Chosen,
    room: Here,
    who: Who,
    reader: Annotated[
        str | None, Query(max_length=255, description="Whose, in a room that is read blind.")
    ] = None,
) -> messages.Reading:
    """What the entries add up to: one's own reading, or where both have signed another's."""
    entries = load_entries(room.database, facts.exam)
    whose = who if reader is None or room.way != "blind" else Reader(reader, "reader")
    if whose != who and not both_signed(entries):
        raise ConflictError(
            f"the reading of {whose.name} opens when both readers of {facts.exam} have signed"
        )
    own = own_reading(entries, way=room.way, reader=whose.name, role=whose.role)
    foreign = load_foreign(room.database, own, exam=facts.exam, screening=facts.screening)
    reading = fold(own, reader=who.name if whose == who else None, foreign=foreign)
    seen = room.seen.looked_at(facts.exam, way=room.way, reader=whose.name, role=whose.role)
    said = reading.to_json()
    return messages.Reading.model_validate(
        said
        | {
            "exam": facts.exam,
            "problems": [*said["problems"], *seen.problems],
            "seen": {"frames": min(seen.frames, facts.frames), "of": facts.frames},
        }
    )


@router.get("/exams/{exam}/entries")
def get_entries(
    facts: Chosen,
    room: Here,
    who: Who,
    after: Annotated[int, Query(ge=0, description="The last number that is known.")] = 0,
) -> list[messages.Entry]:
    """The entries that this reader may see, in order."""
    entries = load_entries(room.database, facts.exam)  # all: whether both have signed decides
    shown = visible(entries, way=room.way, reader=who.name, role=who.role)
    return [_entry(entry) for entry in shown if entry.number > after]


@router.post("/exams/{exam}/entries")
def post_entry(facts: Chosen, room: Here, who: Who, action: messages.Action) -> messages.Entry:
    """Write an action down. The answer comes when it is on the disk."""
    _check_reader(who, action)
    # What was written before the exam was screened anew is written, also if it is sent again.
    if _is_old(facts, action) and not is_known(room.database, action.key):
        raise _screened_anew(facts)
    if action.kind == "sign":
        return _entry(_signed(facts, room, who, action))
    if not _is_old(facts, action):
        with reading_results():
            check_speaks_of(facts, action)
    new = NewEntry(action.key, action.kind, action.subject, action.content, action.undoes)
    return _entry(
        append(
            room.database,
            new,
            exam=facts.exam,
            reader=who.name,
            role=who.role,
            screening=facts.screening,
        )
    )


@router.post("/exams/{exam}/seen")
def post_seen(facts: Chosen, room: Here, who: Who, batch: messages.SeenFrames) -> messages.Done:
    """Note which frames stood on the screen, and for how long."""
    _check_reader(who, batch)
    if _is_old(facts, batch):
        raise _screened_anew(facts)
    for pair in batch.frames:
        check_there(facts, batch.head, pair[:1])
    add_seen(
        room.database,
        exam=facts.exam,
        reader=who.name,
        role=who.role,
        key=batch.key,
        head=batch.head,
        frames=batch.frames,
    )
    return messages.Done()


@router.get("/exams/{exam}/seen")
def get_seen(facts: Chosen, room: Here, who: Who) -> dict[int, messages.Seen]:
    """How long every frame stood on this reader's screen, for each head."""
    found = room.seen.milliseconds(
        facts.exam, reader=who.name, role=who.role, frames_by_head=facts.frames_by_head
    )
    return {
        head: messages.Seen(
            milliseconds=base64.b64encode(shown.astype("<f4").tobytes()).decode("ascii")
        )
        for head, shown in found.items()
    }


def _signed(facts: ExamFacts, room: ReadingRoom, who: Reader, action: messages.Action) -> Entry:
    """Sign: the hash is worked out here, over what is stored."""
    statement, last = _statement(action)
    with reading_results():
        identity = signed_identity(facts.folder)
    if screening_of(identity) != facts.screening:  # just now, while this was asked for
        raise _screened_anew(facts)
    return sign(
        room.database,
        exam=facts.exam,
        reader=who.name,
        role=who.role,
        key=action.key,
        statement=statement,
        identity=identity,
        screening=facts.screening,
        frames=facts.frames,
        last=last,
    )


def _check_reader(who: Reader, sent: messages.Action | messages.SeenFrames) -> None:
    """Refuse what a page sends in a session of somebody else, who logged in meanwhile.

    Raises
    ------
    OtherReaderError
        The page was opened by another, or in another role.
    """
    if sent.reader not in (None, who.name):
        raise OtherReaderError(
            f"this window was opened by {sent.reader}; log in again as {sent.reader}"
        )
    if sent.role not in (None, who.role):
        raise OtherReaderError(
            f"this window was opened by {who.name} as {sent.role}; log in again as {sent.role}"
        )


def _is_old(facts: ExamFacts, sent: messages.Action | messages.SeenFrames) -> bool:
    """Whether a page speaks of another screening than the exam's."""
    return sent.screening not in (None, facts.screening)


def _screened_anew(facts: ExamFacts) -> ConflictError:
    return ConflictError(
        f"the exam {facts.exam} was screened anew after this page was opened; open it again"
    )


def _statement(action: messages.Action) -> tuple[str, int]:
    if action.subject != "exam" or action.undoes is not None:
        raise EntryError("a signature speaks of the exam, and undoes nothing")
    unknown = sorted(action.content.keys() - {"statement", "last"})
    if unknown:
        raise EntryError(
            f"a signature has no field {unknown[0]!r}; it has statement, and last: the last entry "
            "that the signer saw"
        )
    last: Any = action.content.get("last")
    if isinstance(last, bool) or not isinstance(last, int):
        raise EntryError("a signature needs last: the number of the last entry that was seen")
    statement: Any = action.content.get("statement")
    if not isinstance(statement, str):
        raise EntryError("a signature needs a statement")
    return statement, last


def _entry(entry: Entry) -> messages.Entry:
    return messages.Entry.model_validate(entry.to_json())
