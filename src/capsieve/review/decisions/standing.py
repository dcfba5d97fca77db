"""Which entries stand: undo, and undo of undo."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from capsieve.review.decisions.entries import Entry

__all__ = [
    "PERMANENT",
    "Standing",
    "Version",
    "in_order",
    "redoable",
    "stand",
    "undoable",
    "unreadable",
    "version_of",
]

PERMANENT = ("sign", "reopen")
"""Kinds that are never undone: a signed exam is opened again instead."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands of a log.

    Attributes
    ----------
    entries
        All that stand, in order, without the undos.
    numbers
        All that stand, undos among them.
    """

    entries: tuple[Entry, ...]
    numbers: frozenset[int]


@dataclass(frozen=True, slots=True)
class Version:
    """How far a reading has come.

    Attributes
    ----------
    number
        From 1; it grows with each opening after a signature.
    signed
        The signature that freezes it; None while it is open.
    """

    number: int
    signed: Entry | None


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries by number, each once: however often and in whatever order they came."""
    by_number = {entry.number: entry for entry in entries}
    return [by_number[number] for number in sorted(by_number)]


def stand(entries: Sequence[Entry]) -> Standing:
    """Find what stands of entries in order.

    An entry stands unless an undo of it stands. An undo comes after what it takes back, so going
    backwards each is settled before it is needed. What cannot be read does not stand, and takes
    nothing back; signatures and openings do what their kind says.
    """
    undone: set[int] = set()
    readable = [entry for entry in entries if not entry.problem or entry.kind in PERMANENT]
    for entry in reversed(readable):
        if entry.undoes is not None and entry.kind == "undo" and entry.number not in undone:
            undone.add(entry.undoes)
    kept = [entry for entry in readable if entry.number not in undone]
    return Standing(
        tuple(entry for entry in kept if entry.kind != "undo"),
        frozenset(entry.number for entry in kept),
    )


def unreadable(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return a sentence for each entry that cannot be read."""
    return tuple(
        f"entry {entry.number} ({entry.kind[:20]}, by {entry.reader[:60]}, {entry.time[:30]}) "
        f"cannot be read{'' if entry.kind in PERMANENT else ', and counts for nothing'}: "
        f"{entry.problem}"
        for entry in entries
        if entry.problem
    )


def version_of(entries: Iterable[Entry]) -> Version:
    """Find how far a reading has come; only signatures and openings matter."""
    number, signed = 1, None
    for entry in entries:
        if entry.kind == "sign":
            signed = entry
        elif entry.kind == "reopen":
            number, signed = number + 1, None
    return Version(number, signed)


def undoable(
    standing: Standing, *, reader: str, version: int, also: Collection[int] = ()
) -> int | None:
    """Return the reader's latest action of this version that stands.

    Those of earlier versions are not offered, but for the numbers in `also`.
    """
    own = (
        entry.number
        for entry in reversed(standing.entries)
        if entry.reader == reader
        and (entry.version == version or entry.number in also)
        and entry.kind not in PERMANENT
    )
    return next(own, None)


def redoable(
    entries: Sequence[Entry], standing: Standing, *, reader: str, version: int
) -> int | None:
    """Return the reader's latest undo that stands, unless they did something new after it.

    Undoing it does again what it took back. An undo of an undo is no action of its own here: doing
    again goes back step by step, as far as taking back went.
    """
    kinds: Mapping[int, str] = {entry.number: entry.kind for entry in entries}
    for entry in reversed(entries):
        if entry.reader != reader or entry.version != version or entry.problem:
            continue
        if entry.kind != "undo":
            return None
        assert entry.undoes is not None
        if entry.number in standing.numbers and kinds.get(entry.undoes) != "undo":
            return entry.number
    return None
