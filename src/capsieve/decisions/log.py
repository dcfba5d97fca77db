"""Read the log of entries, and append actions to it: each once, and in one order for all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from capsieve.decisions.database import ENTRIES, Database, sa, workflow_in
from capsieve.decisions.model import (
    COLUMNS,
    ConflictError,
    Entry,
    EntryError,
    Request,
    Row,
    canonical,
    check_key,
    check_name,
    entry_of,
    utc_now,
)
from capsieve.decisions.reading import PERMANENT, state_of
from capsieve.decisions.roles import Workflow
from capsieve.decisions.workflow import belongs, check_action
from capsieve.strict_model import Strict

_MOST = 1000  # changes per request


@dataclass(frozen=True, slots=True)
class Writer:
    """The exam, reader, role and screening of an action."""

    exam: str
    reader: str
    role: str
    screening: str

    def __post_init__(self) -> None:
        for name in ("exam", "reader", "screening"):
            check_name(getattr(self, name), name)


def append(
    database: Database,
    writer: Writer,
    key: str,
    contents: Sequence[Request],
    *,
    now: Callable[[], str] = utc_now,
) -> list[Entry]:
    """Store an action of one or more entries; when this returns, it is on the disk.

    Parameters
    ----------
    key
        Made by the sender, new for each action. If it is known with the same action, nothing is
        stored, and the entries that were stored before are returned.
    contents
        The entries of the action; all of them are stored, or none.

    Raises
    ------
    EntryError
        The action makes no sense.
    ForbiddenError
        This reader may not do it.
    ConflictError
        It does not fit the log: the exam is signed, the action is undone already, ...
    """
    if any(content.kind == "sign" for content in contents):
        raise EntryError("a signature has a hash that is computed here; use sign")
    check_key(key)
    with database.write() as connection:
        known = known_action(connection, writer, key, contents)
        if known:
            return known
        workflow = workflow_in(connection)
        # In one reading of all readers, only an undo depends on more than signatures.
        simple = workflow == "single" and all(content.kind != "undo" for content in contents)
        kinds = PERMANENT if simple else ()
        revision = check_action(
            contents,
            [entry_of(row) for row in entry_rows(connection, writer.exam, kinds=kinds)],
            workflow=workflow,
            reader=writer.reader,
            role=writer.role,
            exam=writer.exam,
            number=next_number(connection),
        )
        return insert_entries(connection, writer, key, contents, revision=revision, time=now())


def known_action(
    connection: sa.Connection, writer: Writer, key: str, contents: Sequence[Any]
) -> list[Entry]:
    """Return the entries that an action with this key was stored as; none if it is new.

    Raises
    ------
    ConflictError
        The key belongs to another action.
    """
    known = _with_key(connection, key)
    if not known:
        return []
    same = (known[0].exam, known[0].reader) == (writer.exam, writer.reader) and (
        [_compared(each.content) for each in known] == [_compared(each) for each in contents]
    )
    if not same:
        raise ConflictError(f"the key {key!r} belongs to another action; make a new one")
    return known


def _compared(content: Any) -> Any:
    """Return the content without the fields that are added to a stored signature."""
    if content is not None and content.kind == "sign":
        return content.statement, content.last, content.reasons
    return content


def _with_key(connection: sa.Connection, key: str) -> list[Entry]:
    first = sa.select(ENTRIES.c.action).where(ENTRIES.c.key == key).scalar_subquery()
    query = sa.select(ENTRIES).where(ENTRIES.c.action == first).order_by(ENTRIES.c.number)
    return [entry_of(tuple(row)) for row in connection.execute(query)]


def insert_entries(
    connection: sa.Connection,
    writer: Writer,
    key: str,
    contents: Sequence[Strict],
    *,
    revision: int,
    time: str,
) -> list[Entry]:
    """Store checked entries with the next numbers, under the lock of the caller."""
    action = next_number(connection)
    rows: list[Row] = [
        (
            action + place,
            action,
            f"{key}/{place + 1}" if place else key,
            writer.exam,
            revision,
            writer.reader,
            writer.role,
            writer.screening,
            time,
            content.kind,  # pyright: ignore[reportAttributeAccessIssue]
            canonical(content),
        )
        for place, content in enumerate(contents)
    ]
    for row in rows:  # one by one: SQLite's trigger looks at the rows before
        connection.execute(ENTRIES.insert().values(dict(zip(COLUMNS, row, strict=True))))
    return [entry_of(row) for row in rows]


def next_number(connection: sa.Connection) -> int:
    """Return the number of the next entry, under the lock of the caller."""
    return (connection.scalar(sa.select(sa.func.max(ENTRIES.c.number))) or 0) + 1


def load_entries(database: Database, exam: str, *, after: int = 0) -> list[Entry]:
    """Return the entries of an exam with a larger number, in order.

    A caller that asks again with the largest number it got misses nothing. These are all entries;
    :func:`~capsieve.decisions.workflow.visible` returns those that a reader may see.
    """
    with database.read() as connection:
        return [entry_of(row) for row in entry_rows(connection, exam, after=after)]


def entry_rows(
    connection: sa.Connection, exam: str, *, after: int = 0, kinds: Sequence[str] = ()
) -> list[Row]:
    """Return the stored rows of an exam, in order; all kinds by default."""
    query = sa.select(ENTRIES).where(ENTRIES.c.exam == exam, ENTRIES.c.number > after)
    if kinds:
        query = query.where(ENTRIES.c.kind.in_(kinds))
    return [tuple(row) for row in connection.execute(query.order_by(ENTRIES.c.number))]


def is_known(database: Database, key: str) -> bool:
    """Return whether an action with this key is stored."""
    with database.read() as connection:
        return bool(_with_key(connection, key))


def changes_after(database: Database, number: int, *, most: int = _MOST) -> list[tuple[int, str]]:
    """Return number and exam of entries with a larger number, in order."""
    query = (
        sa.select(ENTRIES.c.number, ENTRIES.c.exam)
        .where(ENTRIES.c.number > number)
        .order_by(ENTRIES.c.number)
        .limit(most)
    )
    with database.read() as connection:
        return [(found, exam) for found, exam in connection.execute(query)]


def last_number(database: Database) -> int:
    """Return the number of the last entry; 0 if there is none."""
    with database.read() as connection:
        return next_number(connection) - 1


def exams_with_entries(database: Database) -> dict[str, bool]:
    """Return the exams that have entries, and whether a reading of them is signed."""
    query = sa.select(ENTRIES.c.exam).distinct().order_by(ENTRIES.c.exam)
    with database.read() as connection:
        workflow = workflow_in(connection)
        return {
            exam: _is_signed([entry_of(row) for row in entry_rows(connection, exam)], workflow)
            for exam in connection.scalars(query).all()
        }


def _is_signed(log: Sequence[Entry], workflow: Workflow) -> bool:
    whose = {(entry.reader, entry.role) for entry in log}
    readings = (
        [entry for entry in log if belongs(entry, workflow=workflow, reader=reader, role=role)]
        for reader, role in whose
    )
    return any(state_of(reading).signature is not None for reading in readings)


def missing_entries(database: Database) -> int:
    """Return how many numbers are missing before the last one: 0, unless rows were removed."""
    # Numbers start at 1: a row that was given another number must not make up for a missing one.
    query = sa.select(sa.func.count(), sa.func.max(ENTRIES.c.number)).where(ENTRIES.c.number > 0)
    with database.read() as connection:
        count, last = connection.execute(query).one()
    return (last or 0) - count
