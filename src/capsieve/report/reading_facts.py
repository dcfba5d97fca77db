"""Everything that the report of a reading tells, gathered from the results and the decisions."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from capsieve.errors import FileError
from capsieve.report.reading_choice import Chosen, choose_reading
from capsieve.review.catalogue import screening_of
from capsieve.review.decisions.access import blind_readings
from capsieve.review.decisions.agreement import Agreement, compare
from capsieve.review.decisions.database import Database, open_database
from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.log import load_entries, missing_entries
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.room import read_room
from capsieve.review.decisions.screenings import load_foreign
from capsieve.review.decisions.sealing import check_signatures
from capsieve.review.decisions.seen import Batch, add_up, load_seen, own_seen, unreadable_batches
from capsieve.review.exam_events import flagged_events, signed_identity
from capsieve.review.room import DATABASE
from capsieve.store.record import RECORD, Record, read_record

__all__ = ["ReadingFacts", "SeenBy", "gather_reading"]


@dataclass(frozen=True, slots=True)
class SeenBy:
    """How much of an exam stood on the screen of one reader.

    Attributes
    ----------
    reader, role
        Who.
    frames
        How many different frames, of those that the exam has.
    seconds
        How long, over all frames; frames of two heads that stood side by side count each.
    """

    reader: str
    role: str
    frames: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ReadingFacts:
    """What is known of a reading.

    Attributes
    ----------
    folder, record
        The screened exam.
    chosen
        The reading.
    problems
        What does not hold of each signature, by the number of its entry; empty where it holds.
    missing
        How many entries are gone from the whole log.
    unreadable
        Entries and batches of frames seen that cannot be read, one sentence each.
    elsewhere
        What to know where decisions were made on another screening of the exam; else "".
    seen
        One for each reader who looked.
    frames_seen
        Frames that any of them saw.
    agreement
        Of two blind readings, where both are signed.
    pair
        The names of the two, in the order of the agreement.
    """

    folder: Path
    record: Record
    chosen: Chosen
    problems: Mapping[int, tuple[str, ...]]
    missing: int
    unreadable: tuple[str, ...]
    elsewhere: str
    seen: tuple[SeenBy, ...]
    frames_seen: int
    agreement: Agreement | None
    pair: tuple[str, str] | None


def gather_reading(
    folder: str | os.PathLike[str],
    *,
    database: str | Database | None = None,
    reader: str | None = None,
    account: str = "",
    version: int | None = None,
) -> ReadingFacts:
    """Gather what is known of the reading of an exam. Nothing is written.

    Parameters
    ----------
    folder
        OUT/EXAM.
    database
        Where decisions are kept, or they themselves, which stay open; by default in OUT.
    reader, account, version
        See :func:`~capsieve.report.reading_choice.choose_reading`.

    Raises
    ------
    FileError
        There is no such exam, or its decisions cannot be read.
    ParameterError
        There is no such reading.
    """
    folder = Path(folder).resolve()
    record = _record(folder)
    exam = folder.name
    with _decisions(folder, database) as kept:
        if kept is None:
            chosen = choose_reading((), way="single", exam=exam, version=version)
            return ReadingFacts(folder, record, chosen, {}, 0, (), "", (), 0, None, None)
        way = read_room(kept).way
        entries = load_entries(kept, exam)
        chosen = choose_reading(
            entries, way=way, exam=exam, reader=reader, account=account, version=version
        )
        checks = check_signatures(kept, exam, identity=signed_identity(folder))
        batches = _covered(load_seen(kept, exam), chosen)
        missing = missing_entries(kept)
        foreign = load_foreign(kept, chosen.entries, exam=exam, screening=screening_of(record))
    agreement, pair = _agreement(folder, entries) if chosen.opened else (None, None)
    heads = {int(head): counts["found"] for head, counts in record["heads"].items()}
    return ReadingFacts(
        folder=folder,
        record=record,
        chosen=chosen,
        problems={number: check.problems for number, check in checks.items()},
        missing=missing,
        unreadable=(*chosen.reading.problems, *unreadable_batches(batches)),
        elsewhere=fold(chosen.entries, foreign=foreign).foreign,
        seen=_seen_by(batches, heads),
        frames_seen=_counted(batches, heads)[0],
        agreement=agreement,
        pair=pair,
    )


def _record(folder: Path) -> Record:
    if folder.is_dir() and not (folder / RECORD).exists():
        names = [each.parent.name for each in sorted(folder.glob(f"*/{RECORD}"))]
        if names:
            raise FileError(f"{folder} holds exams; say which, such as {folder / names[0]}")
    return read_record(folder)


@contextmanager
def _decisions(folder: Path, place: str | Database | None) -> Iterator[Database | None]:
    """Open the decisions; None where nobody has begun, for a report must not begin them."""
    if isinstance(place, Database):
        yield place
        return
    where = str(folder.parent / DATABASE) if place is None else place
    if "://" not in where and not Path(where).exists():
        if place is not None:
            raise FileError(f"there are no decisions in {place}: no such file")
        yield None
        return
    database = open_database(where)
    try:
        yield database
    finally:
        database.close()


def _covered(batches: Sequence[Batch], chosen: Chosen) -> list[Batch]:
    """Return what was seen up to this version; under a signature, just what it covers."""
    own = own_seen(batches, way=chosen.way, reader=chosen.reader, role=chosen.role)
    reading = chosen.reading
    through = None if reading.signature is None else reading.signature.seen_through
    if through is not None:
        return [batch for batch in own if batch.number <= through]
    return [batch for batch in own if batch.version <= reading.version]


def _seen_by(batches: Sequence[Batch], heads: Mapping[int, int]) -> tuple[SeenBy, ...]:
    who = dict.fromkeys((batch.reader, batch.role) for batch in batches)
    return tuple(
        SeenBy(
            reader,
            role,
            *_counted(
                [batch for batch in batches if (batch.reader, batch.role) == (reader, role)], heads
            ),
        )
        for reader, role in who
    )


def _counted(batches: Sequence[Batch], heads: Mapping[int, int]) -> tuple[int, float]:
    """Return how many frames of the exam were seen, and for how many seconds in all.

    Frames that the exam lacks are left out: they are of another screening under the same name.
    """
    shown = [
        milliseconds
        for head, of_head in add_up(batches).items()
        for frame, milliseconds in of_head.items()
        if frame < heads.get(head, 0) and milliseconds > 0
    ]
    return len(shown), sum(shown) / 1000.0


def _agreement(folder: Path, entries: Sequence[Entry]) -> tuple[Agreement, tuple[str, str]]:
    (one, first), (other, second) = list(blind_readings(entries).items())[:2]
    return compare(fold(first), fold(second), events=flagged_events(folder)), (one, other)
