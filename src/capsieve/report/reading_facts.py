"""What the report of a reading shows, gathered from results and decisions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from capsieve.decisions.agreement import Agreement, compare_blind
from capsieve.decisions.database import Database, is_address, open_database, read_workflow
from capsieve.decisions.exam import flagged_events, screening_of, signed_identity
from capsieve.decisions.log import load_entries, missing_entries
from capsieve.decisions.model import Signature
from capsieve.decisions.reading import elsewhere_words
from capsieve.decisions.roles import DATABASE
from capsieve.decisions.signing import check_signatures, to_validate
from capsieve.decisions.viewed import Bitmaps, count_frames, load_viewed, unreadable
from capsieve.decisions.workflow import belongs
from capsieve.errors import FileError
from capsieve.report.reading_choice import Chosen, choose_reading
from capsieve.store.record import RECORD, Record, read_record
from capsieve.user_files import PathLike


@dataclass(frozen=True, slots=True)
class SeenBy:
    """How many frames of an exam were displayed to a reader.

    Attributes
    ----------
    displayed, viewed
        Different frames that were drawn, and those displayed for at least 45 ms.
    """

    reader: str
    role: str
    displayed: int
    viewed: int


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
        What does not hold of each signature, by the number of its entry; empty if it holds.
    missing
        How many entries are gone from the whole log.
    unreadable
        Entries and bitmaps that cannot be read, one sentence each.
    misfits
        Decisions on another screening, or on events that the exam does not have.
    seen
        One for each reader who looked.
    displayed, viewed
        Frames that were displayed to any of them.
    to_validate
        Pre-reader decisions on frames that no validator has displayed.
    agreement
        Of two blind readings, if both are signed; a sentence if they cannot be compared.
    """

    folder: Path
    record: Record
    chosen: Chosen
    problems: Mapping[int, tuple[str, ...]]
    missing: int
    unreadable: tuple[str, ...]
    misfits: tuple[str, ...]
    seen: tuple[SeenBy, ...]
    displayed: int
    viewed: int
    to_validate: int
    agreement: Agreement | str | None


def gather_reading(
    folder: PathLike,
    *,
    database: str | Database | None = None,
    reader: str | None = None,
    account: str = "",
    revision: int | None = None,
) -> ReadingFacts:
    """Gather what is known of the reading of an exam. Nothing is written.

    Parameters
    ----------
    folder
        OUT/EXAM.
    database
        The database, its file or its address; by default the file in OUT.
    reader, account, revision
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
    exam, screening = folder.name, screening_of(record)
    with _decisions(folder, database) as kept:
        if kept is None:
            chosen = choose_reading((), workflow="single", exam=exam, revision=revision)
            return ReadingFacts(folder, record, chosen, {}, 0, (), (), (), 0, 0, 0, None)
        workflow = read_workflow(kept)
        log = load_entries(kept, exam)
        chosen = choose_reading(
            log,
            workflow=workflow,
            exam=exam,
            reader=reader,
            account=account,
            screening=screening,
            revision=revision,
        )
        problems = check_signatures(kept, exam, identity=signed_identity(record))
        bitmaps = _displayed(load_viewed(kept, exam, screening), chosen)
        missing = missing_entries(kept)
    events = flagged_events(folder)
    agreement = None
    if chosen.opened:
        agreement = compare_blind(log, screening=screening, events=events)
    heads = {int(head): counts["found"] for head, counts in record["heads"].items()}
    displayed, viewed = count_frames(bitmaps, heads)
    validators = [each for each in bitmaps if each.role == "validator"]
    return ReadingFacts(
        folder=folder,
        record=record,
        chosen=chosen,
        problems=problems,
        missing=missing,
        unreadable=(*chosen.reading.problems, *unreadable(bitmaps)),
        misfits=elsewhere_words(chosen.reading, events),
        seen=_seen_by(bitmaps, heads),
        displayed=displayed,
        viewed=viewed,
        to_validate=len(to_validate(chosen.reading, validators)),
        agreement=agreement,
    )


def _record(folder: Path) -> Record:
    if folder.is_dir() and not (folder / RECORD).exists():
        names = [each.parent.name for each in sorted(folder.glob(f"*/{RECORD}"))]
        if names:
            raise FileError(f"{folder} holds exams; say which, such as {folder / names[0]}")
    return read_record(folder)


@contextmanager
def _decisions(folder: Path, place: str | Database | None) -> Iterator[Database | None]:
    """Open the decisions; None if there are none, because a report must not create them."""
    if isinstance(place, Database):
        yield place
        return
    where = str(folder.parent / DATABASE) if place is None else place
    if not is_address(where) and not Path(where).exists():
        if place is not None:
            raise FileError(f"there are no decisions in {place}: no such file")
        yield None
        return
    database = open_database(where)
    try:
        yield database
    finally:
        database.close()


def _displayed(present: Sequence[Bitmaps], chosen: Chosen) -> list[Bitmaps]:
    """Return what was displayed to the readers of a reading; of a signed one, what was signed."""
    signature = chosen.reading.signature
    if signature is not None and isinstance(signature.content, Signature):
        return [Bitmaps.of(each) for each in signature.content.viewed]
    return [
        each
        for each in present
        if belongs(each, workflow=chosen.workflow, reader=chosen.reader, role=chosen.role)
    ]


def _seen_by(bitmaps: Sequence[Bitmaps], heads: Mapping[int, int]) -> tuple[SeenBy, ...]:
    who = dict.fromkeys((each.reader, each.role) for each in bitmaps)
    return tuple(
        SeenBy(
            *(reader, role),
            *count_frames(
                [each for each in bitmaps if (each.reader, each.role) == (reader, role)], heads
            ),
        )
        for reader, role in who
    )
