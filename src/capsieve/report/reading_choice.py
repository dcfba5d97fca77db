"""Whose reading of an exam is told, and which version of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from capsieve.errors import ParameterError
from capsieve.review.decisions.access import blind_readings, both_signed, own_reading
from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.reading import Reading, fold
from capsieve.review.decisions.standing import version_of
from capsieve.review.way import Way

__all__ = ["Chosen", "choose_reading"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A reading, and the entries that it was folded from.

    Attributes
    ----------
    way
        How the room works.
    reader, role
        Whose it is in blind work; "" where all readers of the exam share one.
    entries
        Those of this reading up to this version.
    reading
        What they add up to.
    latest
        The newest version that there is.
    reopened
        The entry that opened this version again, where a newer one was begun.
    opened
        Whether both blind readings are signed, and so open to each other.
    """

    way: Way
    reader: str
    role: str
    entries: tuple[Entry, ...]
    reading: Reading
    latest: int
    reopened: Entry | None
    opened: bool


def choose_reading(
    entries: Sequence[Entry],
    *,
    way: Way,
    exam: str,
    reader: str | None = None,
    account: str = "",
    version: int | None = None,
) -> Chosen:
    """Choose a reading.

    In blind work it is the reading of one: of the reader who is named, or else the consensus, or
    else that of whoever is logged in. What the other reader wrote plays no part in it.

    Parameters
    ----------
    entries
        All entries about the exam.
    way
        How the room works.
    exam
        Its name, for messages.
    reader
        Whose reading; only in blind work.
    account
        Who is logged in on this machine.
    version
        Which version; the newest where it is None.

    Raises
    ------
    ParameterError
        There is no such reading, no such version, or it must be said whose reading is meant.
    """
    whose, role = _whose(entries, way=way, exam=exam, reader=reader, account=account)
    own = own_reading(entries, way=way, reader=whose, role=role)
    latest = version_of(own).number
    if version is not None and not 1 <= version <= latest:
        has = "there is only version 1" if latest == 1 else f"there are versions 1 to {latest}"
        raise ParameterError("version", f"{exam} has no version {version} of this reading; {has}")
    chosen = latest if version is None else version
    after = (entry for entry in own if entry.kind == "reopen" and entry.version == chosen + 1)
    return Chosen(
        way=way,
        reader=whose,
        role=role,
        entries=tuple(entry for entry in own if entry.version <= chosen),
        reading=fold(own, version=chosen),
        latest=latest,
        reopened=next(after, None),
        opened=way == "blind" and both_signed(entries),
    )


def _whose(
    entries: Sequence[Entry], *, way: Way, exam: str, reader: str | None, account: str
) -> tuple[str, str]:
    if way != "blind":
        if reader is not None:
            raise ParameterError(
                "reader",
                f"this room works as {way}: an exam has one reading, of all its readers together; "
                "leave --reader out",
            )
        return "", ""
    readings = blind_readings(entries)
    opened = both_signed(entries)
    if reader is not None:
        if entries and reader not in readings:
            raise ParameterError("reader", f"{reader} has written nothing about {exam}")
        return reader, "reader"
    if opened and any(entry.role == "consensus" for entry in entries):
        return "", "consensus"
    if account in readings or not entries:
        return account, "reader"
    # The names of those who have not both signed are nobody's business yet.
    names = f": {' or '.join(readings)}" if opened else ""
    raise ParameterError(
        "reader", f"{exam} is read blind; say whose reading is meant, with --reader NAME{names}"
    )
