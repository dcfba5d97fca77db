"""Sign a reading in the database, and check signatures there."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from capsieve.review.decisions.access import in_reading_of, own_reading
from capsieve.review.decisions.clock import utc_now
from capsieve.review.decisions.database import Database
from capsieve.review.decisions.entries import Entry, NewEntry, check_entry
from capsieve.review.decisions.fields import check_whole
from capsieve.review.decisions.log import entry_rows
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.refusals import ConflictError
from capsieve.review.decisions.room import room_in
from capsieve.review.decisions.schema import ENTRIES
from capsieve.review.decisions.screenings import made_elsewhere
from capsieve.review.decisions.seen import (
    add_up,
    batches_of,
    count_seen,
    parsed_batches,
    seen_rows,
    unreadable_batches,
)
from capsieve.review.decisions.signing import Verification, signed_content, verify
from capsieve.review.decisions.sql import sa
from capsieve.review.decisions.standing import unreadable
from capsieve.review.decisions.stored import Row, entry_of
from capsieve.review.decisions.subjects import LARGEST_FRAME
from capsieve.review.decisions.writing import Writer, insert_entry, known_entry, open_version
from capsieve.review.way import Way

__all__ = ["check_signatures", "sign"]

_READER, _ROLE = 4, 5  # the same place in entries and in the ledger


def sign(
    database: Database,
    *,
    exam: str,
    reader: str,
    role: str,
    key: str,
    statement: str,
    identity: Mapping[str, Any],
    screening: str,
    frames: int,
    last: int,
    now: Callable[[], str] = utc_now,
) -> Entry:
    """Freeze a reading; when this returns, the signature is on the disk.

    What is hashed is read under the lock under which the signature is written: nothing can come
    between.

    Parameters
    ----------
    key
        As in :class:`~capsieve.review.decisions.entries.NewEntry`.
    statement
        What the signer states, in words.
    identity
        What the exam was, as JSON: hashes of the source, settings of the screening, versions.
    screening
        The exam's now; see :class:`~capsieve.review.decisions.writing.Writer`.
    frames
        How many frames the exam has.
    last
        The last entry that the signer saw (`Reading.last`; 0 for none); where there are newer
        ones, nothing is signed.

    Raises
    ------
    EntryError
        The statement is empty, or a number makes no sense.
    ForbiddenError
        It is not this reader's to sign.
    ConflictError
        It is signed already, has newer entries, decisions on another screening, findings that a
        validator has yet to confirm, or rows that cannot be read.
    """
    new = check_entry(NewEntry(key, "sign", "exam", {"statement": statement}))
    check_whole(frames, "frames", largest=LARGEST_FRAME)
    check_whole(last, "last", largest=LARGEST_FRAME)
    writer = Writer.checked(exam, reader, role, screening)
    parsed = parsed_batches(database, writer.exam)  # it takes long, and others wait for the lock
    with database.write() as connection:
        known = known_entry(connection, new, writer)
        if known is not None:
            return known
        way = room_in(connection).way
        stage = open_version(connection, "sign", writer, way=way)
        all_rows = entry_rows(connection, exam)
        own = own_reading(map(entry_of, all_rows), way=way, reader=reader, role=role)
        foreign = made_elsewhere(connection, own, exam=exam, screening=screening)
        _refuse_unready(own, way=way, last=last, foreign=foreign)
        rows = _frozen(all_rows, way=way, reader=reader, role=role)
        ledger = _frozen(seen_rows(connection, exam), way=way, reader=reader, role=role)
        batches = batches_of(ledger, parsed)
        _refuse_unreadable((*unreadable(own), *unreadable_batches(batches)))
        own_batches = [
            batch
            for batch in batches
            if in_reading_of(way=way, reader=reader, role=role, by=batch.reader, by_role=batch.role)
        ]
        time = now()
        number = (connection.scalar(sa.select(sa.func.max(ENTRIES.c.number))) or 0) + 1
        content = signed_content(
            statement=statement,
            identity=identity,
            entries=rows,
            seen=ledger,
            seen_frames=count_seen(add_up(own_batches)),
            frames=frames,
            signer=(number, key, exam, stage.number, reader, role, time),
        )
        new = replace(new, content=content)
        return insert_entry(connection, new, writer, version=stage.number, time=time)


def _refuse_unready(own: Sequence[Entry], *, way: Way, last: int, foreign: Collection[int]) -> None:
    reading = fold(own, foreign=foreign)
    if reading.last > last:
        raise ConflictError("the reading was changed meanwhile; look at it again before signing")
    if reading.foreign:
        raise ConflictError(reading.foreign)
    if way == "validated":
        waiting = [
            finding.id
            for finding in reading.findings
            if finding.role == "pre-reader" and finding.confirmed is None
        ]
        if waiting:
            raise ConflictError(
                f"confirm or refuse all findings of the pre-reader before signing: "
                f"{', '.join(waiting[:5])}{', ...' * (len(waiting) > 5)}"
            )


def _refuse_unreadable(problems: Sequence[str]) -> None:
    """Refuse to sign what nobody can read: the signature would say that somebody had."""
    if problems:
        raise ConflictError(
            f"a reading is signed when all of it can be read, and {problems[0]}; update capsieve, "
            "or bring the database back from a copy"
        )


def _frozen(rows: Sequence[Row], *, way: Way, reader: str, role: str) -> list[Row]:
    """Return the rows that a signature covers: the own reading; for a consensus, all of them."""
    if role == "consensus":
        return list(rows)
    return [
        row
        for row in rows
        if in_reading_of(way=way, reader=reader, role=role, by=row[_READER], by_role=row[_ROLE])
    ]


def check_signatures(
    database: Database, exam: str, *, identity: Mapping[str, Any] | None
) -> dict[int, Verification]:
    """Check every signature of an exam, by the number of its entry.

    Parameters
    ----------
    identity
        What the exam is now, as it was given when signing; None where it cannot be read. A version
        that was signed before another screening is told to differ.
    """
    with database.read() as connection:
        way = room_in(connection).way
        rows = entry_rows(connection, exam)
        ledger = seen_rows(connection, exam)
    found: dict[int, Verification] = {}
    for row in rows:
        number, reader, role, kind = row[0], row[_READER], row[_ROLE], row[7]
        if kind == "sign":
            found[number] = verify(
                row,
                entries=_frozen(rows, way=way, reader=reader, role=role),
                seen=_frozen(ledger, way=way, reader=reader, role=role),
                identity=identity,
            )
    return found
