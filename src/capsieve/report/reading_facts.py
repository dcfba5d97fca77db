"""The content of the report of a reading: reading, revision, signatures and displayed frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from capsieve.decisions.model import Entry, Signature
from capsieve.decisions.reading import Reading, elsewhere_words, fold, state_of
from capsieve.decisions.roles import DATABASE, Workflow, is_address
from capsieve.decisions.workflow import belongs, blind_readings, both_signed, own_reading
from capsieve.errors import FileError, ParameterError
from capsieve.store.record import RECORD, Record, read_record
from capsieve.user_files import PathLike

if TYPE_CHECKING:
    from capsieve.decisions.agreement import Agreement
    from capsieve.decisions.database import Database
    from capsieve.decisions.progress import Progress


@dataclass(frozen=True, slots=True)
class SeenBy:
    """How many frames of an exam were displayed to a reader, and for at least 45 ms."""

    reader: str
    role: str
    displayed: int
    viewed: int


@dataclass(frozen=True, slots=True)
class ReadingFacts:
    """A reading of an exam.

    Attributes
    ----------
    folder, record
        The screened exam.
    workflow
        Of all exams.
    reader, role
        Of a blind reading; "" if the readers of the exam share one.
    entries, reading
        Entries of this reading up to this revision, and their sum.
    latest
        The newest revision.
    reopened
        The entry that reopened this revision, if there is a newer one.
    problems
        Of each signature, by the number of its entry; empty if it is valid.
    missing
        How many entries are missing from the log of all exams.
    unreadable
        A message for each entry and bitmap that cannot be read.
    misfits
        A message for each decision on another screening or on an event that the exam lacks.
    seen
        One for each reader of this reading.
    progress
        What was offered, decided and displayed to any of them; None without decisions.
    to_validate
        Pre-reader decisions on frames that no validator has displayed.
    agreement
        Of two blind readings if both are signed; a text if they cannot be compared.
    """

    folder: Path
    record: Record
    workflow: Workflow = "single"
    reader: str = ""
    role: str = ""
    entries: tuple[Entry, ...] = ()
    reading: Reading = field(default_factory=Reading)
    latest: int = 1
    reopened: Entry | None = None
    problems: Mapping[int, tuple[str, ...]] | None = None
    missing: int = 0
    unreadable: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()
    seen: tuple[SeenBy, ...] = ()
    progress: "Progress | None" = None
    to_validate: int = 0
    agreement: "Agreement | str | None" = None

    def invalid(self, signature: Entry) -> tuple[str, ...]:
        """Return the problems of a signature; one that was not checked is not valid."""
        return (self.problems or {}).get(signature.number, ("the signature could not be checked",))

    @property
    def cautions(self) -> list[str]:
        """Why the report is not reliable, one message each; usually none.

        Signatures of earlier revisions do not count, because a later one has replaced them. If the
        signature is valid, no entry of this reading is missing.
        """
        signature = self.reading.signature
        invalid = () if signature is None else self.invalid(signature)
        found = [f"the signature is not valid: {each}" for each in invalid]
        found += [*self.unreadable, *self.misfits]
        if self.missing and (signature is None or invalid):
            found.append(
                f"{self.missing} entries are missing from the log of decisions; their exams are "
                "unknown"
            )
        return found


def gather_reading(
    folder: PathLike,
    *,
    database: "str | Database | None" = None,
    reader: str | None = None,
    account: str = "",
    revision: int | None = None,
) -> ReadingFacts:
    """Gather the content of the report of a reading; nothing is written.

    In blind work it is the reading of the named reader, or else the consensus, or else that of the
    account. Nothing that the other reader wrote is part of it.

    Parameters
    ----------
    folder
        OUT/EXAM.
    database
        Open, or its file or address; by default the file in OUT. Without one the
        exam is unread, and SQLAlchemy is not needed.
    reader
        Name of a blind reader.
    account
        Who is logged in.
    revision
        Its number; the newest by default.

    Raises
    ------
    FileError
        There is no such exam, or its decisions cannot be read.
    ParameterError
        There is no such reading or revision, or the reader must be named.
    """
    folder = Path(folder).resolve()
    record = _record(folder)
    place = str(folder.parent / DATABASE) if database is None else database
    if isinstance(place, str) and not is_address(place) and not Path(place).exists():
        if database is not None:
            raise FileError(f"there are no decisions in {place}: no such file")
        if revision not in (None, 1):
            raise _no_revision(folder.name, revision, 1)
        return ReadingFacts(folder, record)
    from capsieve.decisions.database import open_database

    stored = open_database(place) if isinstance(place, str) else place
    try:
        return _gather(stored, folder, record, reader, account, revision)
    finally:
        if stored is not database:
            stored.close()


def _record(folder: Path) -> Record:
    if folder.is_dir() and not (folder / RECORD).exists():
        names = [each.parent.name for each in sorted(folder.glob(f"*/{RECORD}"))]
        if names:
            raise FileError(
                f"{folder} is a folder of exams; give the folder of one exam, such as "
                f"{folder / names[0]}"
            )
    return read_record(folder)


def _gather(
    stored: "Database",
    folder: Path,
    record: Record,
    reader: str | None,
    account: str,
    revision: int | None,
) -> ReadingFacts:
    from capsieve.decisions.agreement import compare_blind, events_to_decide
    from capsieve.decisions.database import read_workflow
    from capsieve.decisions.exam import (
        flagged_events,
        listed_frames,
        screening_of,
        signed_identity,
    )
    from capsieve.decisions.log import load_entries, missing_entries
    from capsieve.decisions.progress import make_progress
    from capsieve.decisions.signing import check_signatures, to_validate
    from capsieve.decisions.viewed import Bitmaps, count_frames, load_viewed, unreadable

    exam, screening = folder.name, screening_of(record)
    workflow, log = read_workflow(stored), load_entries(stored, exam)
    whose, role = _whose(log, workflow=workflow, exam=exam, reader=reader, account=account)
    own = own_reading(log, workflow=workflow, reader=whose, role=role)
    latest = state_of(own).revision
    chosen = latest if revision is None else revision
    if not 1 <= chosen <= latest:
        raise _no_revision(exam, revision, latest)
    reading = fold(own, screening=screening, revision=chosen)
    signature = None if reading.signature is None else reading.signature.content
    if isinstance(signature, Signature):  # what had been displayed when it was signed
        bitmaps = [Bitmaps.of(each) for each in signature.viewed]
    else:
        bitmaps = [
            each
            for each in load_viewed(stored, exam, screening)
            if belongs(each, workflow=workflow, reader=whose, role=role)
        ]
    heads = {int(head): counts["found"] for head, counts in record["heads"].items()}
    by_reader: dict[tuple[str, str], list[Bitmaps]] = {}
    for each in bitmaps:
        by_reader.setdefault((each.reader, each.role), []).append(each)
    events, frame_counts = flagged_events(folder), record["frame_counts"]
    progress = make_progress(
        reading,
        bitmaps,
        events=events,
        offered=events_to_decide(log, reading, events, role=role),
        to_read=listed_frames(folder),
        without_picture=frame_counts["found"] - frame_counts["decoded"],
    )
    opened = workflow == "blind" and both_signed(log)
    return ReadingFacts(
        folder=folder,
        record=record,
        workflow=workflow,
        reader=whose,
        role=role,
        entries=tuple(entry for entry in own if entry.revision <= chosen),
        reading=reading,
        latest=latest,
        reopened=next(
            (each for each in own if each.kind == "reopen" and each.revision == chosen + 1), None
        ),
        problems=check_signatures(stored, exam, identity=signed_identity(record)),
        missing=missing_entries(stored),
        unreadable=(*reading.problems, *unreadable(bitmaps)),
        misfits=elsewhere_words(reading, events),
        seen=tuple(SeenBy(*who, *count_frames(of, heads)) for who, of in by_reader.items()),
        progress=progress,
        to_validate=len(
            to_validate(reading, [each for each in bitmaps if each.role == "validator"])
        ),
        agreement=compare_blind(log, screening=screening, events=events) if opened else None,
    )


def _no_revision(exam: str, revision: int | None, latest: int) -> ParameterError:
    has = "there is only revision 1" if latest == 1 else f"there are revisions 1 to {latest}"
    return ParameterError("revision", f"{exam} has no revision {revision} of this reading; {has}")


def _whose(
    log: Sequence[Entry], *, workflow: Workflow, exam: str, reader: str | None, account: str
) -> tuple[str, str]:
    """Return reader and role of a reading; "" if all readers of the exam share it."""
    if workflow != "blind":
        if reader is not None:
            raise ParameterError(
                "reader",
                f"the workflow is {workflow}: an exam has one reading, of all its readers; leave "
                "--reader out",
            )
        return "", ""
    readings, opened = blind_readings(log), both_signed(log)
    if reader is not None:
        if log and reader not in readings:
            raise ParameterError("reader", f"{reader} has written nothing about {exam}")
        return reader, "reader"
    if opened and any(entry.role == "consensus" for entry in log):
        return "", "consensus"
    if account in readings or not log:
        return account, "reader"
    names = f": {' or '.join(readings)}" if opened else ""  # hidden before
    raise ParameterError(
        "reader", f"{exam} is read blind; name the reader with --reader NAME{names}"
    )
