"""Readings of the small exam: somebody who writes, and what their report says."""

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from capsieve.report.reading_facts import ReadingFacts, gather_reading
from capsieve.report.reading_report import ReadingPage, reading_report
from capsieve.review.catalogue import screening_of
from capsieve.review.decisions.database import open_database
from capsieve.review.decisions.entries import Entry, NewEntry
from capsieve.review.decisions.log import last_number
from capsieve.review.decisions.room import Room, change_room
from capsieve.review.decisions.sealing import sign
from capsieve.review.decisions.seen import add_seen
from capsieve.review.decisions.writing import append
from capsieve.review.exam_events import signed_identity
from capsieve.review.way import Way
from support.small_exam import FRAMES

__all__ = ["Scribe", "choose_way", "made_report"]

_KEYS = itertools.count(1)


class Scribe:
    """Somebody who writes about one exam; each action is on the disk when it returns."""

    def __init__(self, folder: Path, reader: str = "anna", role: str = "reader") -> None:
        self.folder = folder
        self.who: dict[str, Any] = {"exam": folder.name, "reader": reader, "role": role}

    @property
    def screening(self) -> str:
        return screening_of(signed_identity(self.folder))

    def write(self, kind: str, subject: str, *, undoes: int | None = None, **content: Any) -> Entry:
        database = open_database(self.folder.parent / "decisions.sqlite")
        try:
            new = NewEntry(_key(), kind, subject, content, undoes)
            return append(database, new, screening=self.screening, **self.who)
        finally:
            database.close()

    def find(self, name: str, *frames: int, **said: Any) -> Entry:
        content = {"head": 0, "frames": list(frames), "best_frame": frames[0]} | said
        return self.write("finding", f"finding:{name}", **content)

    def look(self, frames: Iterable[int], milliseconds: float = 500.0) -> None:
        database = open_database(self.folder.parent / "decisions.sqlite")
        try:
            shown = [[frame, milliseconds] for frame in frames]
            add_seen(database, key=_key(), head=0, frames=shown, **self.who)
        finally:
            database.close()

    def sign(self) -> Entry:
        database = open_database(self.folder.parent / "decisions.sqlite")
        try:
            return sign(
                database,
                key=_key(),
                statement="I have read this exam.",
                identity=signed_identity(self.folder),
                screening=self.screening,
                frames=FRAMES,
                last=last_number(database),
                **self.who,
            )
        finally:
            database.close()


def choose_way(folder: Path, way: Way) -> None:
    """Choose how people work in the room of an exam."""
    database = open_database(folder.parent / "decisions.sqlite")
    try:
        change_room(database, Room(way=way), reader="anna")
    finally:
        database.close()


def made_report(folder: Path, **options: Any) -> tuple[ReadingFacts, ReadingPage]:
    """Return what is known of a reading, and its page."""
    facts = gather_reading(folder, **options)
    return facts, reading_report(facts)


def _key() -> str:
    return f"key-{next(_KEYS):08}"
