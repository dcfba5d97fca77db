"""Entries for tests, and a short way to write them."""

from typing import Any

from capsieve.decisions.database import Database, read_workflow
from capsieve.decisions.exam import Event
from capsieve.decisions.log import Writer, append, last_number, load_entries
from capsieve.decisions.model import (
    COLUMNS,
    Decision,
    Entry,
    Note,
    Reopen,
    Sign,
    Undo,
    canonical,
    entry_of,
)
from capsieve.decisions.reading import fold
from capsieve.decisions.signing import sign
from capsieve.decisions.viewed import add_viewed
from capsieve.decisions.workflow import own_reading, statement
from capsieve.strict_model import Strict
from support.readings import spans_of, unique_key

EXAM = "exam-1"
IDENTITY = {"source": "sha256:00", "threshold": 37.5}
EVENTS = (Event(0, 2, (1, 2, 5)), Event(0, 7, (7, 9)), Event(1, 1, (1, 2)))
EVENT, OTHER, THIRD = (event.subject for event in EVENTS)
FRAMES = {0: 100, 1: 100}


def decision(subject: str, word: Any, *, frame: int | None = None, **more: Any) -> Decision:
    shown = int(subject.rpartition(":")[2]) if frame is None else frame
    return Decision(subject=subject, decision=word, frame=shown, **more)


def made(number: int, content: Any, **others: Any) -> Entry:
    """Return an entry as the database would return it."""
    cells: dict[str, Any] = {
        "number": number,
        "action": number,
        "key": f"key-{number:04}",
        "exam": EXAM,
        "revision": 1,
        "reader": "anna",
        "role": "reader",
        "screening": "screening-1",
        "time": f"2026-03-01T12:00:{number % 60:02}.000Z",
        "kind": content.kind,
        "content": canonical(content),
    }
    entry = entry_of(tuple((cells | others)[name] for name in COLUMNS))
    assert not entry.problem
    return entry


def undo(number: int, of: int, **others: Any) -> Entry:
    return made(number, Undo(action=of), **others)


class Hand:
    """Somebody who writes about one exam, with a new key for each action."""

    def __init__(
        self, database: Database, reader: str = "anna", role: str = "reader", exam: str = EXAM
    ) -> None:
        self.database, self.reader, self.role, self.exam = database, reader, role, exam
        self.screening = "screening-1"

    @property
    def writer(self) -> Writer:
        return Writer(self.exam, self.reader, self.role, self.screening)

    def act(self, *contents: Strict, key: str | None = None) -> list[Entry]:
        new: Any = contents
        return append(self.database, self.writer, key or unique_key(), new)

    def decide(self, subject: str, word: Any, **more: Any) -> Entry:
        return self.act(decision(subject, word, **more))[0]

    def note(self, text: str = "fine") -> Entry:
        return self.act(Note(subject="exam", text=text))[0]

    def undo(self, action: int) -> Entry:
        return self.act(Undo(action=action))[0]

    def reopen(self, reason: str = "again") -> Entry:
        return self.act(Reopen(reason=reason))[0]

    def see(self, *frames: int, head: int = 0, viewed: tuple[int, ...] = ()) -> None:
        add_viewed(
            self.database,
            exam=self.exam,
            reader=self.reader,
            role=self.role,
            screening=self.screening,
            head=head,
            frames=FRAMES[head],
            displayed=spans_of(frames, head),
            viewed=spans_of(viewed, head),
        )

    def statement(self, undisplayed: int = 0) -> str:
        return statement(
            load_entries(self.database, self.exam),
            workflow=read_workflow(self.database),
            reader=self.reader,
            role=self.role,
            undisplayed=undisplayed,
        )

    def sign(
        self,
        *,
        key: str | None = None,
        last: int | None = None,
        undisplayed: int = 0,
        statement: str | None = None,
        events: Any = EVENTS,
        without_picture: int = 0,
        **reasons: str,
    ) -> Entry:
        whose: Any = {"reader": self.reader, "role": self.role}
        whose["workflow"] = read_workflow(self.database)
        decided = fold(own_reading(load_entries(self.database, self.exam), **whose)).decisions
        offered = [event.subject for event in events]
        open_events = {subject: "left open" for subject in offered if subject not in decided}
        given = {name.replace("_", "-"): text for name, text in reasons.items()}
        request = Sign(
            statement=statement or self.statement(undisplayed),
            last=last_number(self.database) if last is None else last,
            offered=tuple(offered),
            reasons=open_events | given,
        )
        return sign(
            self.database,
            self.writer,
            key or unique_key(),
            request,
            identity=IDENTITY,
            events=events,
            frames_by_head=FRAMES,
            without_picture=without_picture,
        )
