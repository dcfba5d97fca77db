"""Which exams have entries of readers: their results must not be replaced."""

from pathlib import Path

import click

from capsieve.decisions.roles import DATABASE, is_address
from capsieve.errors import FileError

database_option = click.option(
    "--database",
    metavar="URL",
    help="Database of the readers' decisions: a file, or postgresql://user@host/name. Exams that "
    "have entries there are protected.  [default: in OUT]",
)


def exams_with_entries(out: Path, database: str | None) -> dict[str, bool]:
    """Return the exams that have decisions, and whether a reading of them is signed.

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
    place = str(out / DATABASE) if database is None else database
    if not is_address(place) and not Path(place).is_file():
        if database is not None:
            raise FileError(f"there is no database {database}; correct --database")
        return {}
    from capsieve.decisions import log
    from capsieve.decisions.database import open_database

    decisions = open_database(place)
    try:
        return log.exams_with_entries(decisions)
    finally:
        decisions.close()
