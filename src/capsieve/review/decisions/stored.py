"""Rows of the database as entries; what cannot be read is told, and takes nothing else with it.

A disk, somebody's hand or a newer version can leave a row that makes no sense here. It becomes an
entry with a `problem`: it is shown and told, and it counts for nothing. Only a signature, and the
opening of a signed exam, still do what their kind says: a damaged signature must not make a signed
exam look open.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from capsieve.review.decisions.entries import Entry, NewEntry, canonical, check_entry
from capsieve.review.decisions.fields import check_known, check_name, check_whole
from capsieve.review.decisions.refusals import EntryError
from capsieve.review.decisions.subjects import LARGEST_FRAME
from capsieve.review.way import ROLES

__all__ = [
    "Row",
    "check_signature",
    "entry_of",
    "parse_json",
    "parse_object",
    "stored_number",
    "stored_text",
]

Row = tuple[Any, ...]
"""The columns of a row as they are stored, in the order of the table."""

_HASH = re.compile(r"[0-9a-f]{64}")
_PARTS = ("identity", "entries", "seen")
_COUNTS = ("seen_frames", "frames", "entries", "seen_through")
_ROLES = tuple(sorted({role for roles in ROLES.values() for role in roles}))


class _Columns(NamedTuple):
    number: Any
    key: Any
    exam: Any
    version: Any
    reader: Any
    role: Any
    time: Any
    kind: Any
    subject: Any
    content: Any
    undoes: Any


def entry_of(row: Row) -> Entry:
    """Return an entry from its columns; its `problem` says why it cannot be read, if it cannot."""
    columns = _Columns(*row)
    problem, content = "", None
    try:
        content = parse_object(columns.content)
        _check(columns, content)
    except EntryError as error:
        problem = str(error)
    return Entry(
        number=columns.number,
        key=stored_text(columns.key),
        exam=stored_text(columns.exam),
        version=stored_number(columns.version) or 1,
        reader=stored_text(columns.reader),
        role=stored_text(columns.role),
        time=stored_text(columns.time),
        kind=stored_text(columns.kind),
        subject=stored_text(columns.subject),
        content={"stored": stored_text(columns.content)} if content is None else content,
        undoes=stored_number(columns.undoes),
        problem=problem,
    )


def parse_json(text: Any) -> Any:
    """Return what a stored text says as JSON, as only capsieve writes it: no NaN, no half letters.

    Raises
    ------
    EntryError
        It is no such JSON.
    """
    try:
        said = json.loads(text)
        canonical(said).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise EntryError(f"what is stored is no JSON ({type(error).__name__})") from error
    return said


def parse_object(text: Any) -> dict[str, Any]:
    """Return the JSON object that a stored text is.

    Raises
    ------
    EntryError
        It is none.
    """
    said = parse_json(text)
    if not isinstance(said, dict):
        raise EntryError("what is stored is no object")
    return said


def _check(row: _Columns, content: Mapping[str, Any]) -> None:
    """Refuse what capsieve would not have written."""
    for name in ("exam", "reader", "time", "subject"):
        check_name(getattr(row, name), name)
    if row.role not in _ROLES:
        raise EntryError(f"nobody works as {row.role!r:.60}")
    for name in ("number", "version"):
        if check_whole(getattr(row, name), name, largest=LARGEST_FRAME) < 1:
            raise EntryError(f"{name} must be a whole number from 1")
    if row.kind == "sign":
        if row.subject != "exam" or row.undoes is not None:
            raise EntryError("a signature speaks of the exam, and undoes nothing")
        check_signature(content)
        return
    new = NewEntry(row.key, row.kind, row.subject, content, row.undoes)
    if check_entry(new).content != content or content.get("of", row.number) is None:
        raise EntryError("fields are missing that are filled in when it is written")
    if row.undoes is not None and row.undoes >= row.number:
        raise EntryError("it takes back an entry that comes after it")


def check_signature(content: Mapping[str, Any]) -> None:
    """Refuse the content of a signature that lacks something, or has it in another form.

    Raises
    ------
    EntryError
        The first thing that is wrong.
    """
    what = "a signature"
    check_known(content, ("statement", *_COUNTS, "parts", "hash"), what)
    if not isinstance(content.get("statement"), str):
        raise EntryError("a signature needs a statement")
    for name in _COUNTS:
        check_whole(content.get(name), name, largest=LARGEST_FRAME)
    parts = content.get("parts")
    if not isinstance(parts, Mapping):
        raise EntryError("a signature needs the hashes of its parts")
    check_known(parts, _PARTS, "the parts of a signature")
    for value in (content.get("hash"), *(parts.get(name) for name in _PARTS)):
        if not isinstance(value, str) or not _HASH.fullmatch(value):
            raise EntryError("a hash of a signature is missing, or is not one of 64 digits")


def stored_text(value: Any) -> str:
    """Return a cell as a text that can be shown and sent, whatever stands there."""
    text = value if isinstance(value, str) else repr(value)
    return text.encode("utf-8", "backslashreplace").decode()


def stored_number(value: Any) -> int | None:
    """Return a cell as a whole number; None where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
