"""What two blind readings say alike: the consensus starts from it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.standing import in_order, stand
from capsieve.review.decisions.subjects import parse_subject

__all__ = ["AGREED", "agreed_entries", "without_contradicted"]

AGREED = "both readers"
"""Role of what two blind readers say alike."""

_COMPARED: Mapping[str, tuple[str, ...]] = {
    "verdict": ("verdict",),
    "landmark": ("head", "frame"),
    "cleanliness": ("grade",),
    "urgent": ("urgent",),
}


def agreed_entries(first: Sequence[Entry], second: Sequence[Entry]) -> list[Entry]:
    """Return the entries of the first reading that the second confirms, as entries of both.

    Decisions, landmarks and grades agree if they are equal; findings if they are seen on a common
    frame of a head. Notes are not compared.
    """
    own, other = _latest(first), _latest(second)
    findings = [entry for (kind, _), entry in other.items() if kind == "finding"]
    agreed = [
        entry
        for (kind, subject), entry in own.items()
        if (kind == "finding" and any(_meet(entry, each) for each in findings))
        or (kind in _COMPARED and _says(entry) == _says(other.get((kind, subject))))
    ]
    readers = " and ".join(dict.fromkeys(log[0].reader for log in (first, second)))
    return [replace(entry, reader=readers, role=AGREED, version=1) for entry in in_order(agreed)]


def without_contradicted(agreed: Sequence[Entry], consensus: Sequence[Entry]) -> list[Entry]:
    """Return the agreed entries without findings in events that the consensus did not accept.

    The findings are of the accepted event; a consensus that rejects it or is unsure says of its
    frames what the event says.
    """
    refused = [
        parse_subject(subject)
        for (kind, subject), entry in _latest(consensus).items()
        if kind == "verdict" and entry.content["verdict"] != "accept"
    ]
    return [
        entry
        for entry in agreed
        if entry.kind != "finding"
        or not any(
            event.kind == "event"
            and event.head == entry.content["head"]
            and any(event.first <= frame <= event.last for frame in entry.content["frames"])
            for event in refused
        )
    ]


def _latest(log: Iterable[Entry]) -> dict[tuple[str, str], Entry]:
    """Return the last standing entry about each subject that says something, by kind."""
    latest = {(entry.kind, entry.subject): entry for entry in stand(in_order(log)).entries}
    return {
        key: entry
        for key, entry in latest.items()
        if "removed" not in entry.content and entry.content.get("verdict", "") is not None
    }


def _says(entry: Entry | None) -> list[Any] | None:
    return None if entry is None else [entry.content.get(name) for name in _COMPARED[entry.kind]]


def _meet(one: Entry, other: Entry) -> bool:
    same_head = one.content["head"] == other.content["head"]
    return same_head and not set(one.content["frames"]).isdisjoint(other.content["frames"])
