"""Decisions of a reading that were made on another screening of the exam."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.standing import PERMANENT

__all__ = ["foreign_among", "foreign_words"]

# What a kind says when it says nothing, beside what was removed.
_NOTHING = {
    "verdict": ("verdict", None),
    "cleanliness": ("grade", None),
    "urgent": ("urgent", False),
}


def foreign_among(
    decisions: Iterable[Entry], answers: Mapping[int, Entry], foreign: Collection[int]
) -> list[Entry]:
    """Return the entries that count in a reading, and were made on another screening.

    Parameters
    ----------
    decisions
        Entries that count: what was taken back, or said anew since, is not among them.
    answers
        Of a validator, by the number of the decision.
    foreign
        Numbers of entries that were made on another screening.
    """
    found: list[Entry] = []
    for entry in decisions:
        if entry.kind in PERMANENT or _says_nothing(entry):
            continue
        answer = answers.get(entry.number)
        found += [each for each in (entry, answer) if each and each.number in foreign]
    return found


def foreign_words(entries: Sequence[Entry], *, signed: bool) -> str:
    """Return what is to be done about them, in one sentence; nothing where there are none.

    Parameters
    ----------
    entries
        From :func:`foreign_among`.
    signed
        Whether the reading is signed: then nothing is to be done before it is opened again.
    """
    if not entries:
        return ""
    whose = ", ".join(dict.fromkeys(entry.reader for entry in entries))
    one = len(entries) == 1
    what = "one decision was" if one else f"{len(entries)} decisions were"
    then = (
        "what was signed is that screening, and not the one that is here now"
        if signed
        else f"take {'it' if one else 'them'} back, or decide anew, before the exam is signed"
    )
    return f"{what} made on another screening of this exam, by {whose}; {then}"


def _says_nothing(entry: Entry) -> bool:
    if "removed" in entry.content:
        return True
    name, nothing = _NOTHING.get(entry.kind, ("", None))
    return bool(name) and entry.content[name] is nothing
