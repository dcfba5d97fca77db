"""On which screening of an exam entries were made.

An exam can be screened anew under its name. Its events are others then, and what readers decided
before speaks of frames that they saw with the old ones. So the log notes where the screening
changed; entries between two notes were made on the screening of the first.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from capsieve.review.decisions.database import Database
from capsieve.review.decisions.entries import Entry
from capsieve.review.decisions.schema import SCREENINGS
from capsieve.review.decisions.sql import sa
from capsieve.review.decisions.stored import stored_number, stored_text

__all__ = ["load_foreign", "made_elsewhere", "note_screening"]


def note_screening(
    connection: sa.Connection, *, exam: str, screening: str, entry: int, time: str
) -> None:
    """Note that an entry was made on another screening than the one before it, where it was.

    Parameters
    ----------
    exam, screening
        The exam, and a text that changes whenever it is screened anew.
    entry, time
        Number and time of the entry, which is written already.
    """
    noted = _noted(connection, exam)
    if noted and noted[-1][1] == screening:
        return
    last = connection.scalar(sa.select(sa.func.max(SCREENINGS.c.number))) or 0
    row = {"number": last + 1, "exam": exam, "screening": screening, "entry": entry, "time": time}
    connection.execute(SCREENINGS.insert().values(row))


def made_elsewhere(
    connection: sa.Connection, entries: Iterable[Entry], *, exam: str, screening: str
) -> frozenset[int]:
    """Return the numbers of entries that were made on another screening of the exam.

    Entries of databases that did not note it yet are not among them: nothing is known of those.
    """
    return _elsewhere(_noted(connection, exam), entries, screening)


def load_foreign(
    database: Database, entries: Iterable[Entry], *, exam: str, screening: str
) -> frozenset[int]:
    """Return the same as :func:`made_elsewhere`, outside of a transaction."""
    with database.read() as connection:
        return made_elsewhere(connection, entries, exam=exam, screening=screening)


def _noted(connection: sa.Connection, exam: str) -> list[tuple[int, str]]:
    """Return from which entry on each screening was read, in order.

    A note that was damaged hides no entry: it is one of a screening that no exam has.
    """
    query = (
        sa.select(SCREENINGS.c.entry, SCREENINGS.c.screening)
        .where(SCREENINGS.c.exam == exam)
        .order_by(SCREENINGS.c.number)
    )
    found = [
        (stored_number(entry) or 0, stored_text(screening))
        for entry, screening in connection.execute(query)
    ]
    return sorted(found, key=lambda note: note[0])


def _elsewhere(
    noted: Sequence[tuple[int, str]], entries: Iterable[Entry], screening: str
) -> frozenset[int]:
    firsts = [first for first, _ in noted]
    found: set[int] = set()
    for entry in entries:
        place = bisect_right(firsts, entry.number)
        if place and noted[place - 1][1] != screening:
            found.add(entry.number)
    return frozenset(found)
