"""Read the log of entries."""

from collections.abc import Sequence

from capsieve.review.decisions.database import Database
from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.schema import ENTRIES
from capsieve.review.decisions.sql import sa
from capsieve.review.decisions.stored import Row, entry_of

__all__ = [
    "changes_after",
    "entry_rows",
    "entry_with_key",
    "exams_with_entries",
    "is_known",
    "last_number",
    "load_entries",
    "missing_entries",
]


def load_entries(database: Database, exam: str, *, after: int = 0) -> list[Entry]:
    """Return the entries of an exam with a larger number, in order.

    Whoever asks again with the largest number that they have seen misses nothing. These are all
    entries; :func:`~capsieve.review.decisions.access.visible` says which of them a reader may see.
    """
    with database.read() as connection:
        return [entry_of(row) for row in entry_rows(connection, exam, after=after)]


def changes_after(database: Database, number: int, *, most: int = 1000) -> list[tuple[int, str]]:
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
    """Return the number of the last entry; 0 where there is none."""
    with database.read() as connection:
        return connection.scalar(sa.select(sa.func.max(ENTRIES.c.number))) or 0


def exams_with_entries(database: Database) -> list[str]:
    """Return the exams that somebody has begun to read."""
    query = sa.select(ENTRIES.c.exam).distinct().order_by(ENTRIES.c.exam)
    with database.read() as connection:
        return list(connection.scalars(query))


def entry_rows(
    connection: sa.Connection,
    exam: str,
    *,
    after: int = 0,
    kinds: Sequence[str] | None = None,
) -> list[Row]:
    """Return the entries of an exam as they are stored, in order."""
    query = sa.select(ENTRIES).where(ENTRIES.c.exam == exam, ENTRIES.c.number > after)
    if kinds is not None:
        query = query.where(ENTRIES.c.kind.in_(kinds))
    return [tuple(row) for row in connection.execute(query.order_by(ENTRIES.c.number))]


def entry_with_key(connection: sa.Connection, key: str) -> Entry | None:
    """Return the entry of a key."""
    row = connection.execute(sa.select(ENTRIES).where(ENTRIES.c.key == key)).first()
    return None if row is None else entry_of(tuple(row))


def is_known(database: Database, key: str) -> bool:
    """Whether an action with this key is written down."""
    with database.read() as connection:
        return entry_with_key(connection, key) is not None


def missing_entries(database: Database) -> int:
    """Return how many numbers are missing before the last one: 0, unless rows were removed."""
    # Numbers start at 1: a row that was given another one must not make up for a missing row.
    query = sa.select(sa.func.count(), sa.func.max(ENTRIES.c.number)).where(ENTRIES.c.number > 0)
    with database.read() as connection:
        count, last = connection.execute(query).one()
    return (last or 0) - count
