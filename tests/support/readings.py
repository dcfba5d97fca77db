"""Decisions of readers, written to the database next to the results; and their report."""

import itertools
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from capsieve.report.reading_facts import ReadingFacts, gather_reading
from capsieve.report.reading_report import ReadingPage, reading_report
from capsieve.review.catalogue import screening_of
from capsieve.review.decisions.database import Database, open_database
from capsieve.review.decisions.entries import Entry, NewEntry
from capsieve.review.decisions.log import last_number
from capsieve.review.decisions.room import Room, change_room
from capsieve.review.decisions.sealing import sign
from capsieve.review.decisions.seen import add_seen
from capsieve.review.decisions.writing import append
from capsieve.review.exam_events import signed_identity
from capsieve.review.way import Way
from support.small_exam import FRAMES

__all__ = ["ExamReader", "choose_workflow", "made_report", "tamper"]

_KEYS = itertools.count(1)


class ExamReader:
    """A reader of one exam. Every action is stored when its method returns."""

    def __init__(self, folder: Path, reader: str = "anna", role: str = "reader") -> None:
        self.folder = folder
        self.who: dict[str, Any] = {"exam": folder.name, "reader": reader, "role": role}

    def write(self, kind: str, subject: str, *, undoes: int | None = None, **content: Any) -> Entry:
        new = NewEntry(_key(), kind, subject, content, undoes)
        with _database(self.folder) as database:
            return append(database, new, screening=_screening(self.folder), **self.who)

    def add_finding(self, name: str, *frames: int, **more: Any) -> Entry:
        content = {"head": 0, "frames": list(frames), "best_frame": frames[0]} | more
        return self.write("finding", f"finding:{name}", **content)

    def see(self, frames: Iterable[int], milliseconds: float = 500.0) -> None:
        """Store that frames were displayed."""
        shown = [[frame, milliseconds] for frame in frames]
        with _database(self.folder) as database:
            add_seen(database, key=_key(), head=0, frames=shown, **self.who)

    def sign(self) -> Entry:
        with _database(self.folder) as database:
            return sign(
                database,
                key=_key(),
                statement="I have read this exam.",
                identity=signed_identity(self.folder),
                screening=_screening(self.folder),
                frames=FRAMES,
                last=last_number(database),
                **self.who,
            )


def choose_workflow(folder: Path, workflow: Way) -> None:
    """Choose the workflow of the results that an exam belongs to."""
    with _database(folder) as database:
        change_room(database, Room(way=workflow), reader="anna")


def made_report(folder: Path, **options: Any) -> tuple[ReadingFacts, ReadingPage]:
    """Return the content of the report on a reading, and its page."""
    facts = gather_reading(folder, **options)
    return facts, reading_report(facts)


def tamper(path: Path, *statements: str) -> None:
    """Change a file of decisions with SQL, without the program and its protection."""
    with closing(sqlite3.connect(path)) as database, database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert database.execute(statement).rowcount == 1


@contextmanager
def _database(folder: Path) -> Iterator[Database]:
    database = open_database(folder.parent / "decisions.sqlite")
    try:
        yield database
    finally:
        database.close()


def _screening(folder: Path) -> str:
    return screening_of(signed_identity(folder))


def _key() -> str:
    return f"key-{next(_KEYS):08}"
