"""Entries for tests, and a short way to write them."""

import itertools
import sqlite3
from pathlib import Path
from typing import Any

from capsieve.review.decisions.database import Database
from capsieve.review.decisions.entries import Entry, NewEntry, check_entry
from capsieve.review.decisions.log import last_number
from capsieve.review.decisions.sealing import sign
from capsieve.review.decisions.writing import append

EXAM = "exam-1"
IDENTITY = {"source": "sha256:00", "threshold": 37.5}
_KEYS = itertools.count(1)
FINDING: dict[str, Any] = {"head": 0, "frames": [11, 12], "best_frame": 12}


def made(number: int, kind: str, subject: str, content: Any = None, **others: Any) -> Entry:
    """Return an entry as the database would hold it, with its content completed."""
    undoes = others.pop("undoes", None)
    if content is None:
        content = {}
    if kind not in ("sign", "confirm"):
        content = check_entry(NewEntry(f"key-{number:04}", kind, subject, content, undoes)).content
    fields = {"exam": EXAM, "version": 1, "reader": "anna", "role": "reader"} | others
    time = f"2026-03-01T12:00:{number % 60:02}.000Z"
    return Entry(
        number=number,
        key=f"key-{number:04}",
        time=time,
        kind=kind,
        subject=subject,
        content=content,
        undoes=undoes,
        **fields,
    )


def verdict(number: int, subject: str, word: str | None, **others: Any) -> Entry:
    """Return a verdict."""
    return made(number, "verdict", subject, {"verdict": word}, **others)


def undo(number: int, of: int, **others: Any) -> Entry:
    """Return an undo."""
    return made(number, "undo", "", undoes=of, **others)


class Hand:
    """Somebody who writes about one exam, with a new key for each action."""

    def __init__(
        self, database: Database, reader: str = "anna", role: str = "reader", exam: str = EXAM
    ) -> None:
        self.database = database
        self.screening = "screening-1"
        self.who: dict[str, Any] = {"exam": exam, "reader": reader, "role": role}

    def key(self) -> str:
        return f"key-{next(_KEYS):08}"

    def write(self, kind: str, subject: str, content: Any = None, **others: Any) -> Entry:
        new = NewEntry(
            others.pop("key", None) or self.key(), kind, subject, content or {}, **others
        )
        return append(self.database, new, screening=self.screening, **self.who)

    def say(self, subject: str, word: str | None) -> Entry:
        return self.write("verdict", subject, {"verdict": word})

    def undo(self, number: int) -> Entry:
        return self.write("undo", "", undoes=number)

    def sign(self, **others: Any) -> Entry:
        settings: dict[str, Any] = {
            "key": self.key(),
            "statement": "I have read this exam.",
            "identity": IDENTITY,
            "screening": self.screening,
            "frames": 100,
            "last": last_number(self.database),
        }
        return sign(self.database, **(settings | others), **self.who)


def tamper(database: Database, *statements: str | tuple[str, tuple[Any, ...]]) -> None:
    """Change the file behind capsieve's back, as somebody could who owns it."""
    other = sqlite3.connect(Path(database.where))
    for (name,) in other.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall():
        other.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        words, values = (statement, ()) if isinstance(statement, str) else statement
        assert other.execute(words, values).rowcount == 1
    other.commit()
    other.close()
