"""Who sees which entries, and who may write what, in the three ways of working.

- single: everybody reads together; all see and write everything but confirmations.
- validated: a pre-reader marks, a validator confirms, corrects and signs. Both see everything.
- blind: two readers, each with a reading of their own. Neither sees anything of the other before
  both have signed; then both readings are open, and stay as they are: what is to be said after
  that is said by the consensus, in a reading of its own.
"""

from collections.abc import Iterable, Mapping, Sequence

from capsieve.review.decisions.agreed import agreed_entries, without_contradicted
from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.refusals import ConflictError, ForbiddenError
from capsieve.review.decisions.standing import version_of
from capsieve.review.way import ROLES, Way

__all__ = [
    "BLIND_READERS",
    "blind_readings",
    "both_signed",
    "check_role",
    "check_way_of_writing",
    "in_reading_of",
    "own_reading",
    "visible",
]

BLIND_READERS = 2
"""How many read an exam blind."""

_REFUSED: Mapping[tuple[str, str], Sequence[str]] = {
    ("single", "reader"): ("confirm",),
    ("validated", "pre-reader"): ("confirm", "sign", "reopen"),
    ("validated", "validator"): (),
    ("blind", "reader"): ("confirm",),
    ("blind", "consensus"): ("confirm",),
}
_WHOSE = {
    "confirm": "only a validator confirms, what a pre-reader marked",
    "sign": "only the validator signs the exam",
    "reopen": "only the validator opens a signed exam again",
}


def check_role(way: Way, role: str) -> None:
    """Refuse a role that the way of working does not have.

    Raises
    ------
    ForbiddenError
        There is no such role.
    """
    if role not in ROLES[way]:
        raise ForbiddenError(
            f"nobody works as {role!r} in this room; its roles are {', '.join(ROLES[way])}"
        )


def in_reading_of(*, way: Way, reader: str, role: str, by: str, by_role: str) -> bool:
    """Whether what `by` wrote is part of the reading that `reader` works on."""
    if way != "blind":
        return True
    return by_role == role and (role == "consensus" or by == reader)


def own_reading(entries: Iterable[Entry], *, way: Way, reader: str, role: str) -> list[Entry]:
    """Return the entries that make up the reading on which somebody works.

    A consensus starts from what both blind readings say alike.
    """
    entries = list(entries)
    own = [
        entry
        for entry in entries
        if in_reading_of(way=way, reader=reader, role=role, by=entry.reader, by_role=entry.role)
    ]
    if way == "blind" and role == "consensus" and both_signed(entries):
        agreed = agreed_entries(*list(blind_readings(entries).values())[:BLIND_READERS])
        own = without_contradicted(agreed, own) + own
    return own


def blind_readings(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return the entries of each reader who reads blind, in the order in which they began."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.role == "reader":
            found.setdefault(entry.reader, []).append(entry)
    return found


def both_signed(entries: Iterable[Entry]) -> bool:
    """Whether both blind readings of an exam are signed; from then on they are open."""
    readings = blind_readings(entries)
    return len(readings) >= BLIND_READERS and all(
        version_of(reading).signed is not None for reading in readings.values()
    )


def visible(entries: Sequence[Entry], *, way: Way, reader: str, role: str) -> list[Entry]:
    """Return what somebody may see of an exam's entries.

    Parameters
    ----------
    entries
        All entries of the exam: whether both have signed is told by all of them.
    way
        How the room works.
    reader, role
        Who wants to see them.
    """
    if way != "blind" or both_signed(entries):
        return list(entries)
    return own_reading(entries, way=way, reader=reader, role=role)


def check_way_of_writing(
    kind: str,
    milestones: Sequence[Entry],
    *,
    way: Way,
    reader: str,
    role: str,
    exam: str,
) -> None:
    """Refuse what a role may not do.

    Parameters
    ----------
    kind
        Of the new entry.
    milestones
        Signatures and openings of the exam, and at least one entry of everybody who wrote.
    way, reader, role, exam
        Who writes, about what.

    Raises
    ------
    ForbiddenError
        It is not theirs to do.
    ConflictError
        It is too early, or too late.
    """
    check_role(way, role)
    if kind in _REFUSED[way, role]:
        raise ForbiddenError(f"{_WHOSE[kind]}; {reader} works here as {role}")
    if way != "blind":
        return
    readings = blind_readings(milestones)
    is_open = both_signed(milestones)
    if role == "consensus":
        if not is_open:
            raise ConflictError(
                f"the consensus on {exam} begins when both readers have signed their readings"
            )
        return
    if reader not in readings and len(readings) >= BLIND_READERS:
        names = " and ".join(sorted(readings)) if is_open else "two others"
        raise ForbiddenError(f"{exam} is read blind by {names}; choose another exam")
    if kind == "reopen" and is_open:
        raise ConflictError(
            f"both readings of {exam} are signed and open to each other, so they stay as they "
            "are; what is to be changed belongs in the consensus"
        )
