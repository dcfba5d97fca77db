"""Write entries down: at once, once, and in one order for all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from capsieve.review.decisions.access import check_way_of_writing, own_reading
from capsieve.review.decisions.clock import utc_now
from capsieve.review.decisions.correcting import check_action
from capsieve.review.decisions.database import Database
from capsieve.review.decisions.entries import Entry, NewEntry, canonical, check_entry
from capsieve.review.decisions.fields import check_name
from capsieve.review.decisions.log import entry_rows, entry_with_key
from capsieve.review.decisions.refusals import ConflictError, EntryError
from capsieve.review.decisions.room import room_in
from capsieve.review.decisions.schema import ENTRIES
from capsieve.review.decisions.screenings import note_screening
from capsieve.review.decisions.sql import sa
from capsieve.review.decisions.standing import PERMANENT, Version, version_of
from capsieve.review.decisions.stored import entry_of
from capsieve.review.way import Way

__all__ = ["Writer", "append", "insert_entry", "known_entry", "milestones_of", "open_version"]


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes about which exam.

    Attributes
    ----------
    exam, reader, role
        As in :class:`~capsieve.review.decisions.entries.Entry`.
    screening
        The exam's: a text that changes whenever it is screened anew.
    """

    exam: str
    reader: str
    role: str
    screening: str

    @classmethod
    def checked(cls, exam: str, reader: str, role: str, screening: str) -> "Writer":
        """Return a writer whose names can stand in the database.

        Raises
        ------
        EntryError
            A name is none.
        """
        return cls(
            check_name(exam, "exam"),
            check_name(reader, "reader"),
            role,
            check_name(screening, "screening"),
        )


def append(
    database: Database,
    new: NewEntry,
    *,
    exam: str,
    reader: str,
    role: str,
    screening: str,
    now: Callable[[], str] = utc_now,
) -> Entry:
    """Write an action down; when this returns, it is on the disk.

    Parameters
    ----------
    database
        Where to.
    new
        The action. A key that is known already, with the same action, is the same entry: nothing
        is written, and the entry is returned.
    exam, reader, role
        Who did it, and on which exam.
    screening
        Of the exam as the reader saw it; see :class:`Writer`.
    now
        The clock.

    Raises
    ------
    EntryError
        The action makes no sense.
    ForbiddenError
        It is not this reader's to do.
    ConflictError
        It does not fit what stands: the exam is signed, the entry is undone already, ...
    """
    if new.kind == "sign":
        raise EntryError("a signature freezes a hash that is worked out here; use sign")
    new = check_entry(new)
    writer = Writer.checked(exam, reader, role, screening)
    with database.write() as connection:
        known = known_entry(connection, new, writer)
        if known is not None:
            return known
        way = room_in(connection).way
        stage = open_version(connection, new.kind, writer, way=way)
        version = stage.number + 1 if new.kind == "reopen" else stage.number
        new = _against_what_stands(connection, new, writer, way=way)
        return insert_entry(connection, new, writer, version=version, time=now())


def known_entry(connection: sa.Connection, new: NewEntry, writer: Writer) -> Entry | None:
    """Return the entry that this action was already written down as.

    Raises
    ------
    ConflictError
        The key belongs to another action.
    """
    known = entry_with_key(connection, new.key)
    if known is None:
        return None
    same = (
        (known.exam, known.reader, known.kind, known.undoes)
        == (writer.exam, writer.reader, new.kind, new.undoes)
        and (new.kind == "undo" or known.subject == new.subject)
        # What was worked out while writing was not sent.
        and all(known.content.get(name) == value for name, value in _sent(new).items())
    )
    if not same:
        raise ConflictError(f"the key {new.key!r} belongs to another action; make a new one")
    return known


def _sent(new: NewEntry) -> Mapping[str, Any]:
    if new.kind == "confirm" and new.content["of"] is None:
        return {name: value for name, value in new.content.items() if name != "of"}
    return new.content


def open_version(connection: sa.Connection, kind: str, writer: Writer, *, way: Way) -> Version:
    """Return the version that a new entry belongs to; refuse it where it may not be written.

    Raises
    ------
    ForbiddenError, ConflictError
        See :func:`append`.
    """
    milestones = milestones_of(connection, writer.exam)
    check_way_of_writing(
        kind, milestones, way=way, reader=writer.reader, role=writer.role, exam=writer.exam
    )
    own = own_reading(milestones, way=way, reader=writer.reader, role=writer.role)
    stage = version_of(own)
    if kind == "reopen":
        if stage.signed is None:
            raise ConflictError(f"{writer.exam} is open; only a signed exam is opened again")
    elif stage.signed is not None:
        raise ConflictError(
            f"{writer.exam} was signed by {stage.signed.reader} at {stage.signed.time}; "
            "open it again to change it"
        )
    return stage


def milestones_of(connection: sa.Connection, exam: str) -> list[Entry]:
    """Return the signatures and openings of an exam, and the first entry of everybody, in order.

    Far fewer than all entries, and enough to tell versions and who reads.
    """
    firsts = (
        sa.select(sa.func.min(ENTRIES.c.number))
        .where(ENTRIES.c.exam == exam)
        .group_by(ENTRIES.c.reader, ENTRIES.c.role)
    )
    query = (
        sa.select(ENTRIES)
        .where(
            ENTRIES.c.exam == exam,
            ENTRIES.c.kind.in_(PERMANENT) | ENTRIES.c.number.in_(firsts),
        )
        .order_by(ENTRIES.c.number)
    )
    return [entry_of(tuple(row)) for row in connection.execute(query)]


def insert_entry(
    connection: sa.Connection, new: NewEntry, writer: Writer, *, version: int, time: str
) -> Entry:
    """Write an entry with the next number; the caller holds the lock, and has checked it."""
    last = connection.scalar(sa.select(sa.func.max(ENTRIES.c.number))) or 0
    row = {
        "number": last + 1,
        "key": new.key,
        "exam": writer.exam,
        "version": version,
        "reader": writer.reader,
        "role": writer.role,
        "time": time,
        "kind": new.kind,
        "subject": new.subject,
        "content": canonical(dict(new.content)),
        "undoes": new.undoes,
    }
    connection.execute(ENTRIES.insert().values(row))
    note_screening(
        connection, exam=writer.exam, screening=writer.screening, entry=last + 1, time=time
    )
    return entry_of(tuple(row.values()))


def _against_what_stands(
    connection: sa.Connection, new: NewEntry, writer: Writer, *, way: Way
) -> NewEntry:
    """Check an action against the entries before it; fill in what it refers to."""
    correctable = way == "validated" and writer.role == "pre-reader"
    if new.kind not in ("undo", "confirm") and not correctable:
        return new
    entries = [entry_of(row) for row in entry_rows(connection, writer.exam)]
    own = own_reading(entries, way=way, reader=writer.reader, role=writer.role)
    return check_action(new, own, exam=writer.exam, reader=writer.reader, pre_reader=correctable)
