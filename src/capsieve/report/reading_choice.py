"""Which reading of an exam a report shows, and which revision of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from capsieve.decisions.model import Entry
from capsieve.decisions.reading import Reading, fold, state_of
from capsieve.decisions.roles import Workflow
from capsieve.decisions.workflow import blind_readings, both_signed, own_reading
from capsieve.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Chosen:
    """A reading, and the entries that it was folded from.

    Attributes
    ----------
    workflow
        Of the exams.
    reader, role
        Whose it is in blind work; "" where all readers of the exam share one.
    entries
        Those of this reading up to this revision.
    reading
        What they add up to.
    latest
        The newest revision that there is.
    reopened
        The entry that opened this revision again, if a newer one was begun.
    opened
        Whether both blind readings are signed, and so open to each other.
    """

    workflow: Workflow
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
    workflow: Workflow,
    exam: str,
    reader: str | None = None,
    account: str = "",
    screening: str = "",
    revision: int | None = None,
) -> Chosen:
    """Choose the reading of a report.

    In blind work it is the reading of one: of the reader who is named, or else the consensus, or
    else that of whoever is logged in. What the other reader wrote plays no part in it.

    Parameters
    ----------
    entries
        All entries about the exam.
    workflow
        Of the exams.
    exam
        Its name, for messages.
    reader
        Whose reading; only in blind work.
    account
        Who is logged in on this machine.
    screening
        That the exam has now.
    revision
        Which revision; the newest where it is None.

    Raises
    ------
    ParameterError
        There is no such reading, no such revision, or it must be said whose reading is meant.
    """
    whose, role = _whose(entries, workflow=workflow, exam=exam, reader=reader, account=account)
    own = own_reading(entries, workflow=workflow, reader=whose, role=role)
    latest = state_of(own).revision
    if revision is not None and not 1 <= revision <= latest:
        has = "there is only revision 1" if latest == 1 else f"there are revisions 1 to {latest}"
        raise ParameterError(
            "revision", f"{exam} has no revision {revision} of this reading; {has}"
        )
    chosen = latest if revision is None else revision
    after = (entry for entry in own if entry.kind == "reopen" and entry.revision == chosen + 1)
    return Chosen(
        workflow=workflow,
        reader=whose,
        role=role,
        entries=tuple(entry for entry in own if entry.revision <= chosen),
        reading=fold(own, screening=screening, revision=chosen),
        latest=latest,
        reopened=next(after, None),
        opened=workflow == "blind" and both_signed(entries),
    )


def _whose(
    entries: Sequence[Entry], *, workflow: Workflow, exam: str, reader: str | None, account: str
) -> tuple[str, str]:
    if workflow != "blind":
        if reader is not None:
            raise ParameterError(
                "reader",
                f"the workflow is {workflow}: an exam has one reading, of all its readers; leave "
                "--reader out",
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
