"""Checks of single fields of what a reader sent: one clear sentence each."""

import sys
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from capsieve.review.decisions.refusals import EntryError
from capsieve.review.decisions.subjects import LARGEST_FRAME, LARGEST_HEAD

__all__ = [
    "LONGEST_TEXT",
    "check_choice",
    "check_flag",
    "check_frame",
    "check_head",
    "check_known",
    "check_name",
    "check_number",
    "check_text",
    "check_whole",
]

LONGEST_TEXT = 10_000
"""Letters of a free text."""

_LONGEST_NAME = 255


def check_known(content: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    """Refuse fields that nobody knows: a slip of the pen must not be lost silently."""
    names = tuple(known)
    for name in content:
        if name not in names:
            raise EntryError(f"{what} has no field {name!r}; it has {', '.join(names)}")


def check_whole(value: Any, name: str, *, largest: int) -> int:
    """Return a whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        raise EntryError(f"{name} must be a whole number from 0 to {largest}, not {value!r:.60}")
    return value


def check_head(value: Any) -> int:
    """Return the number of a head."""
    return check_whole(value, "head", largest=LARGEST_HEAD)


def check_frame(value: Any, name: str = "frame") -> int:
    """Return the number of a frame."""
    return check_whole(value, name, largest=LARGEST_FRAME)


def check_number(value: Any, name: str) -> float:
    """Return a finite number from 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise EntryError(f"{name} must be a number, not {value!r:.60}")
    # Compared before it is converted: a whole number can be too large for that.
    if not 0 <= value <= sys.float_info.max:
        raise EntryError(f"{name} must be a finite number from 0, not {value!r:.60}")
    return float(value)


def check_flag(value: Any, name: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise EntryError(f"{name} must be true or false, not {value!r:.60}")
    return value


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str | None:
    """Return one of some words, or None."""
    words = tuple(choices)
    if value is not None and value not in words:
        raise EntryError(f"{name} must be one of {', '.join(words)}, or null, not {value!r:.60}")
    return value


def check_text(value: Any, name: str, *, needed: bool = False) -> str:
    """Return a free text that every database can keep."""
    if not isinstance(value, str):
        raise EntryError(f"{name} must be a text, not {value!r:.60}")
    if len(value) > LONGEST_TEXT:
        raise EntryError(f"{name} is longer than {LONGEST_TEXT} letters; shorten it")
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise EntryError(f"{name} holds letters that cannot be kept; type them anew")
    if needed and not value.strip():
        raise EntryError(f"{name} is empty; write something")
    return value


def check_name(value: Any, name: str) -> str:
    """Return a name on one line: of an exam, a reader, a subject."""
    text = check_text(value, name, needed=True)
    if len(text) > _LONGEST_NAME:
        raise EntryError(f"{name} is longer than {_LONGEST_NAME} letters")
    if any(unicodedata.category(letter) == "Cc" for letter in text):
        raise EntryError(f"{name} holds line breaks or other control letters; take them out")
    return text
