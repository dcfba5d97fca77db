"""Entries: one action of one reader each."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from capsieve.review.decisions.contents import check_content
from capsieve.review.decisions.fields import check_name
from capsieve.review.decisions.refusals import EntryError
from capsieve.review.decisions.subjects import LARGEST_FRAME, parse_subject
from capsieve.review.decisions.vocabulary import KINDS

__all__ = ["Entry", "NewEntry", "canonical", "check_entry", "check_key"]

_KEY = re.compile(r"[A-Za-z0-9_.:-]{8,100}")

# What each kind may speak of.
_SUBJECTS = {
    "verdict": ("event", "frame"),
    "finding": ("finding",),
    "landmark": ("landmark",),
    "cleanliness": ("segment",),
    "note": ("exam", "frame"),
    "urgent": ("exam",),
    "confirm": ("event", "frame", "finding"),
    "sign": ("exam",),
    "reopen": ("exam",),
}


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An action as a reader sends it.

    Attributes
    ----------
    key
        Made by the sender, new for each action: sending the same twice is one entry.
    kind
        One of :data:`~capsieve.review.decisions.vocabulary.KINDS`.
    subject
        What it speaks of; see :mod:`~capsieve.review.decisions.subjects`. Empty for an undo.
    content
        What it says, as JSON.
    undoes
        The number of the entry that an undo takes back.
    """

    key: str
    kind: str
    subject: str
    content: Mapping[str, Any]
    undoes: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """An action as it was written down.

    Attributes
    ----------
    number
        From 1, in the order of writing, over all exams of the database.
    key, kind, subject, content, undoes
        As in :class:`NewEntry`; fields of the content that were left open are filled in. An undo
        has the subject of what it takes back.
    exam
        The exam.
    version
        Of the reading, from 1; it grows when a signed reading is opened again.
    reader, role
        Who did it, and as what.
    time
        UTC in ISO 8601, by the clock of whoever wrote it down.
    problem
        Why what is stored cannot be read as an entry; empty where it can. The other fields then
        hold what can be shown: content that is no JSON object stands under "stored".
    """

    number: int
    key: str
    exam: str
    version: int
    reader: str
    role: str
    time: str
    kind: str
    subject: str
    content: Mapping[str, Any]
    undoes: int | None
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "number": self.number,
            "key": self.key,
            "exam": self.exam,
            "version": self.version,
            "reader": self.reader,
            "role": self.role,
            "time": self.time,
            "kind": self.kind,
            "subject": self.subject,
            "content": dict(self.content),
            "undoes": self.undoes,
            "problem": self.problem,
        }


def canonical(value: Any) -> str:
    """Return JSON in its one form: keys sorted, no blanks, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def check_key(key: Any) -> str:
    """Return a key that can stand in the database.

    Raises
    ------
    EntryError
        It is no text of 8 to 100 plain letters.
    """
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise EntryError("the key must be 8 to 100 letters, digits, or one of . : _ -")
    return key


def check_entry(new: NewEntry) -> NewEntry:
    """Return the action with its content complete and in its one form.

    Raises
    ------
    EntryError
        It makes no sense: the first thing that is wrong, in one sentence.
    """
    check_key(new.key)
    if new.kind not in KINDS:
        raise EntryError(f"there is no kind {new.kind!r} of entry; give one of {', '.join(KINDS)}")
    if not isinstance(new.content, Mapping):
        raise EntryError(f"the content of a {new.kind} must be an object")
    if new.kind == "undo":
        return _check_undo(new)
    if new.undoes is not None:
        raise EntryError(f"a {new.kind} undoes nothing; leave undoes out, or send an undo")
    subject = parse_subject(check_name(new.subject, "subject"))
    if subject.kind not in _SUBJECTS[new.kind]:
        wanted = " or ".join(_SUBJECTS[new.kind])
        raise EntryError(f"a {new.kind} speaks of {wanted}, not of {new.subject!r}")
    return replace(new, content=check_content(new.kind, subject, new.content))


def _check_undo(new: NewEntry) -> NewEntry:
    number = new.undoes
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= LARGEST_FRAME:
        raise EntryError("an undo must say in undoes which entry it takes back, by its number")
    if new.content:
        raise EntryError("an undo has no content; leave it empty")
    if not isinstance(new.subject, str):
        raise EntryError("the subject must be a text")
    return new
