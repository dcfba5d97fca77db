"""Which exams have entries of readers: their results must not be replaced."""

from pathlib import Path

import click

from capsieve.errors import FileError

__all__ = ["database_option", "exams_with_entries"]

_DATABASE = "decisions.sqlite"

database_option = click.option(
    "--database",
    metavar="URL",
    help="Database of the readers' decisions: a file, or postgresql://user@host/name. Exams that "
    "have entries there are not changed.  [default: in OUT]",
)


def exams_with_entries(out: Path, database: str | None) -> frozenset[str]:
    """Return the names of the exams that have decisions or a signature.

    Parameters
    ----------
    out
        The folder of all exams.
    database
        File or address of the database; None for the one in `out`.

    Raises
    ------
    FileError
        The given database does not exist, or it cannot be read.
    """
    place = str(out / _DATABASE) if database is None else database
    if "://" not in place and not Path(place).is_file():
        if database is not None:
            raise FileError(f"there is no database {database}; correct --database")
        return frozenset()
    from capsieve.review.decisions import log
    from capsieve.review.decisions.database import open_database

    decisions = open_database(place)
    try:
        return frozenset(log.exams_with_entries(decisions))
    finally:
        decisions.close()
