"""Decisions of readers, written to the database next to the results; and their report."""

import itertools
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from capsieve.decisions.database import (
    Database,
    change_workflow,
    open_database,
    read_workflow,
)
from capsieve.decisions.exam import flagged_events, screening_of, signed_identity
from capsieve.decisions.log import Writer, append, last_number, load_entries
from capsieve.decisions.model import (
    Decision,
    Entry,
    Finding,
    Note,
    Reopen,
    Sign,
    Span,
    Spot,
    Undo,
)
from capsieve.decisions.reading import fold
from capsieve.decisions.roles import Workflow
from capsieve.decisions.signing import sign, to_validate
from capsieve.decisions.viewed import add_viewed, load_viewed
from capsieve.decisions.workflow import own_reading, statement
from capsieve.report.reading_facts import ReadingFacts, gather_reading
from capsieve.report.reading_report import ReadingPage, reading_report
from capsieve.store.record import read_record
from capsieve.strict_model import Strict
from support.small_exam import FRAMES

__all__ = [
    "ExamReader",
    "choose_workflow",
    "made_report",
    "polyp",
    "span_of",
    "spans_of",
    "tamper",
    "unique_key",
]

_KEYS = itertools.count(1)


def unique_key() -> str:
    return f"key-{next(_KEYS):08}"


def span_of(first: int, last: int | None = None, head: int = 0) -> Span:
    return Span(head=head, first=first, last=first if last is None else last)


def spans_of(frames: Iterable[int], head: int = 0) -> tuple[Span, ...]:
    """Return runs of consecutive frames."""
    spans: list[list[int]] = []
    for frame in sorted(frames):
        if spans and frame == spans[-1][1] + 1:
            spans[-1][1] = frame
        else:
            spans.append([frame, frame])
    return tuple(span_of(first, last, head) for first, last in spans)


def polyp(name: str, *frames: int, head: int = 0, **more: Any) -> Finding:
    """Return a finding on some frames; the first one is the best."""
    best = Spot(head=head, frame=frames[0])
    if "size" in more:
        more = {"size_on": best} | more
    if "place" in more:
        more["place"] = {name: float(value) for name, value in more["place"].items()}
    return Finding(subject=f"finding:{name}", spans=spans_of(frames, head), best=best, **more)


class ExamReader:
    """A reader of one screened exam. Every action is stored when its method returns."""

    def __init__(self, folder: Path, reader: str = "anna", role: str = "reader") -> None:
        self.folder, self.exam, self.reader, self.role = folder, folder.name, reader, role

    @property
    def writer(self) -> Writer:
        return Writer(self.exam, self.reader, self.role, screening_of(read_record(self.folder)))

    def act(self, *contents: Strict) -> list[Entry]:
        """Store one action."""
        with _database(self.folder) as database:
            return append(database, self.writer, unique_key(), contents)  # pyright: ignore

    def decide(self, subject: str, decision: Any, finding: str | None = None) -> Entry:
        """Decide on an event or a frame, while it is displayed."""
        frame = int(subject.rpartition(":")[2])
        content = Decision(subject=subject, decision=decision, frame=frame, finding=finding)
        return self.act(content)[0]

    def add_finding(self, name: str, *frames: int, **more: Any) -> Entry:
        return self.act(polyp(name, *frames, **more))[0]

    def note(self, text: str, subject: Any = "exam") -> Entry:
        return self.act(Note(subject=subject, text=text))[0]

    def undo(self, action: int) -> Entry:
        return self.act(Undo(action=action))[0]

    def reopen(self, reason: str) -> Entry:
        return self.act(Reopen(reason=reason))[0]

    def see(self, frames: Iterable[int], *, viewed: Iterable[int] = ()) -> None:
        """Store that frames were displayed."""
        with _database(self.folder) as database:
            add_viewed(
                database,
                exam=self.exam,
                reader=self.reader,
                role=self.role,
                screening=self.writer.screening,
                head=0,
                frames=FRAMES,
                displayed=spans_of(frames),
                viewed=spans_of(viewed),
            )

    def sign(self, **reasons: str) -> Entry:
        """Sign what is stored; the names of reasons have _ for -."""
        record = read_record(self.folder)
        with _database(self.folder) as database:
            whose: Any = {
                "workflow": read_workflow(database),
                "reader": self.reader,
                "role": self.role,
            }
            log = load_entries(database, self.exam)
            reading = fold(own_reading(log, **whose))
            offered = [event.subject for event in flagged_events(self.folder)]
            open_events = {each: "left open" for each in offered if each not in reading.decisions}
            given = {name.replace("_", "-"): text for name, text in reasons.items()}
            waiting = []
            if self.role == "validator":
                own = [
                    each
                    for each in load_viewed(database, self.exam, self.writer.screening)
                    if (each.reader, each.role) == (self.reader, self.role)
                ]
                waiting = to_validate(reading, own)
            request = Sign(
                statement=statement(log, **whose, undisplayed=len(waiting)),
                last=last_number(database),
                offered=tuple(offered),
                reasons=open_events | given,
            )
            return sign(
                database,
                self.writer,
                unique_key(),
                request,
                identity=signed_identity(record),
                events=flagged_events(self.folder),
                frames_by_head={0: FRAMES},
            )


def choose_workflow(folder: Path, workflow: Workflow) -> None:
    """Choose the workflow of the results that an exam belongs to."""
    with _database(folder) as database:
        change_workflow(database, workflow)


def made_report(folder: Path, **options: Any) -> tuple[ReadingFacts, ReadingPage]:
    """Return the content of the report on a reading, and its page."""
    facts = gather_reading(folder, **options)
    return facts, reading_report(facts)


def tamper(path: Path, *statements: str | tuple[str, tuple[Any, ...]]) -> None:
    """Change a file of decisions with SQL, without the program and its protection."""
    with closing(sqlite3.connect(path)) as database, database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f"DROP TRIGGER {name}")
        for statement_ in statements:
            words, values = (statement_, ()) if isinstance(statement_, str) else statement_
            assert database.execute(words, values).rowcount == 1


@contextmanager
def _database(folder: Path) -> Iterator[Database]:
    database = open_database(folder.parent / "decisions.sqlite")
    try:
        yield database
    finally:
        database.close()
