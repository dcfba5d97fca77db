"""``capsieve backup`` and ``capsieve restore``: copies of the decisions."""

from pathlib import Path

import click

from capsieve.cli.options import json_option
from capsieve.cli.settings_options import PathType
from capsieve.decisions.roles import DATABASE, is_address

_BACKUP = """\b
Example:
  capsieve backup results -o decisions-2026-03-01.backup
  capsieve backup results --database postgresql://capsieve@db/reading -o decisions.backup
"""
_RESTORE = """\b
Example:
  capsieve restore decisions-2026-03-01.backup -o results
  capsieve restore decisions.backup -o results --database postgresql://capsieve@db/reading
"""

_database_option = click.option(
    "--database",
    metavar="URL",
    help="Database of the decisions: a file, or postgresql://user@host/name.  "
    f"[default: OUT/{DATABASE}]",
)


@click.command("backup", epilog=_BACKUP)
@click.argument("results", type=PathType(), metavar="OUT")
@click.option(
    "-o",
    "--out",
    type=PathType(dir_okay=False),
    metavar="FILE",
    required=True,
    help="Write the copy there; the file must not exist.",
)
@_database_option
@json_option()
def command(results: Path, out: Path, database: str | None, as_json: bool) -> None:
    """Copy all decisions into one file, also while the app is running.

    OUT is the folder of capsieve screen. The copy is consistent and is checked. Copying
    decisions.sqlite alone loses the entries in its write-ahead log.
    """
    from capsieve.decisions.backup import backup

    _say(out, backup(database or str(results / DATABASE), out), as_json=as_json)


@click.command("restore", epilog=_RESTORE)
@click.argument("file", type=PathType(dir_okay=False), metavar="FILE")
@click.option(
    "-o",
    "--out",
    type=PathType(file_okay=False),
    metavar="OUT",
    required=True,
    help="The folder of capsieve screen that the decisions are about.",
)
@_database_option
@json_option()
def restore_command(file: Path, out: Path, database: str | None, as_json: bool) -> None:
    """Copy the decisions of a backup into a database without entries.

    FILE was written by capsieve backup, from SQLite or PostgreSQL, and can be restored into either.
    """
    from capsieve.decisions.backup import restore

    place = database or str(out / DATABASE)
    _say(place, restore(file, place), as_json=as_json)


def _say(place: object, copied: object, *, as_json: bool) -> None:
    from dataclasses import asdict

    from capsieve.decisions.backup import Copied

    assert isinstance(copied, Copied)
    if as_json:
        import json

        click.echo(json.dumps({"written": str(place)} | asdict(copied), indent=2))
        return
    entries = f"{copied.entries} {'entry' if copied.entries == 1 else 'entries'}"
    exams = f"{copied.exams} {'exam' if copied.exams == 1 else 'exams'}"
    click.echo(f"Wrote {_without_password(str(place))}: {entries} about {exams}.")


def _without_password(place: str) -> str:
    from capsieve.decisions.database import sa

    return sa.make_url(place).render_as_string() if is_address(place) else place
