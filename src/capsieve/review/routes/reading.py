"""What readers said, and what they say now."""

import base64
from typing import Annotated, Any

from fastapi import APIRouter, Query

from capsieve.review import messages
from capsieve.review.catalogue import ExamFacts
from capsieve.review.decisions.access import own_reading, visible
from capsieve.review.decisions.entries import Entry, NewEntry
from capsieve.review.decisions.log import load_entries
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.refusals import ConflictError, EntryError
from capsieve.review.decisions.sealing import sign
from capsieve.review.decisions.seen import (
    add_seen,
    add_up,
    count_seen,
    load_seen,
    own_seen,
    seen_array,
)
from capsieve.review.decisions.writing import append
from capsieve.review.exam_events import signed_identity
from capsieve.review.frames_there import check_speaks_of, check_there
from capsieve.review.room import ReadingRoom
from capsieve.review.routes.given import Chosen, Here, Who
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
    whose = who if reader in (None, who.name) or room.way != "blind" else Reader(reader, "reader")
    if whose is not who:
        shown = visible(entries, way=room.way, reader=who.name, role=who.role)
        if len(shown) != len(entries):
            raise ConflictError(
                f"the reading of {whose.name} opens when both readers of {facts.exam} have signed"
            )
    own = own_reading(entries, way=room.way, reader=whose.name, role=whose.role)
    reading = fold(own, reader=who.name if whose is who else None).to_json()
    seen = own_seen(
        load_seen(room.database, facts.exam), way=room.way, reader=whose.name, role=whose.role
    )
    looked_at = count_seen(add_up(seen))
    return messages.Reading.model_validate(
        reading
        | {
            "exam": facts.exam,
            "seen": {"frames": min(looked_at, facts.frames), "of": facts.frames},
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
    if action.kind == "sign":
        return _entry(_signed(facts, room, who, action))
    check_speaks_of(facts, action)
    new = NewEntry(action.key, action.kind, action.subject, action.content, action.undoes)
    return _entry(append(room.database, new, exam=facts.exam, reader=who.name, role=who.role))


@router.post("/exams/{exam}/seen")
def post_seen(facts: Chosen, room: Here, who: Who, batch: messages.SeenFrames) -> messages.Done:
    """Note which frames stood on the screen, and for how long."""
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
    batches = [
        batch
        for batch in load_seen(room.database, facts.exam)
        if (batch.reader, batch.role) == (who.name, who.role)
    ]
    total = add_up(batches)
    return {
        head: messages.Seen(
            milliseconds=base64.b64encode(
                seen_array(total.get(head, {}), frames).astype("<f4").tobytes()
            ).decode("ascii")
        )
        for head, frames in facts.frames_by_head.items()
    }


def _signed(facts: ExamFacts, room: ReadingRoom, who: Reader, action: messages.Action) -> Entry:
    """Sign: the hash is worked out here, over what is stored."""
    statement, last = _statement(action)
    return sign(
        room.database,
        exam=facts.exam,
        reader=who.name,
        role=who.role,
        key=action.key,
        statement=statement,
        identity=signed_identity(facts.folder),
        frames=facts.frames,
        last=last,
    )


def _statement(action: messages.Action) -> tuple[str, int | None]:
    if action.subject != "exam" or action.undoes is not None:
        raise EntryError("a signature speaks of the exam, and undoes nothing")
    unknown = sorted(action.content.keys() - {"statement", "last"})
    if unknown:
        raise EntryError(
            f"a signature has no field {unknown[0]!r}; it has statement, and last: the last entry "
            "that the signer saw"
        )
    last: Any = action.content.get("last")
    if last is not None and (isinstance(last, bool) or not isinstance(last, int)):
        raise EntryError("last must be the number of an entry")
    statement: Any = action.content.get("statement")
    if not isinstance(statement, str):
        raise EntryError("a signature needs a statement")
    return statement, last


def _entry(entry: Entry) -> messages.Entry:
    return messages.Entry.model_validate(entry.to_json())
