"""What a reader hears of as it happens."""

from capsieve.review.decisions.access import both_signed, in_reading_of
from capsieve.review.decisions.database import Database
from capsieve.review.decisions.schema import ENTRIES
from capsieve.review.decisions.sql import sa
from capsieve.review.decisions.standing import PERMANENT
from capsieve.review.decisions.writing import milestones_of
from capsieve.review.way import Way

__all__ = ["Heard", "heard_after"]

Heard = list[tuple[int, str]]
"""Number and exam of entries, in order."""


def heard_after(
    database: Database, number: int, *, way: Way, reader: str, role: str, most: int = 1000
) -> tuple[Heard, int, bool]:
    """Return what is new for a reader: all of it, but in blind work nothing that tells of another.

    How much another does, and when, tells what they think of an exam. So before both have signed, a
    reader hears of their own entries, and that somebody signed or opened a reading again.

    Parameters
    ----------
    number
        The last number that was looked at.
    way
        How the room works.
    reader, role
        Who listens.
    most
        Entries that are looked at together.

    Returns
    -------
    heard, last, more
        What may be heard; the last number that was looked at, heard or not; whether there is more.
    """
    query = (
        sa.select(
            ENTRIES.c.number, ENTRIES.c.exam, ENTRIES.c.reader, ENTRIES.c.role, ENTRIES.c.kind
        )
        .where(ENTRIES.c.number > number)
        .order_by(ENTRIES.c.number)
        .limit(most)
    )
    with database.read() as connection:
        rows = connection.execute(query).all()
        open_exams: dict[str, bool] = {}
        heard: Heard = []
        for found, exam, by, by_role, kind in rows:
            own = in_reading_of(way=way, reader=reader, role=role, by=by, by_role=by_role)
            if not own and kind not in PERMANENT:
                if exam not in open_exams:
                    open_exams[exam] = both_signed(milestones_of(connection, exam))
                if not open_exams[exam]:
                    continue
            heard.append((found, exam))
    return heard, rows[-1][0] if rows else number, len(rows) == most
