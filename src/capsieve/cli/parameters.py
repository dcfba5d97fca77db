"""``capsieve parameters``: the table of the detector's parameters."""

from pathlib import Path

import click

from capsieve.cli.settings_options import PathType

__all__ = ["command"]

_EXAMPLE = """\b
Example:
  capsieve parameters -o mine.toml
  capsieve explain frame.png --parameters mine.toml
"""


@click.command("parameters", epilog=_EXAMPLE)
@click.option(
    "-o",
    "--out",
    type=PathType(dir_okay=False),
    metavar="FILE.toml",
    help="Write there instead of printing.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(out: Path | None, force: bool) -> None:
    """Print the parameters of the detectors as TOML, with the paper's symbols and meanings.

    Change what you like in the file and give it to other commands with --parameters.
    """
    from capsieve.errors import FileError
    from capsieve.parameters import Parameters

    if out is None:
        click.echo(Parameters().to_toml(), nl=False)
    else:
        if out.exists() and not force:
            raise FileError(f"{out} already exists; choose another name, or add --force")
        Parameters().save(out)
        click.echo(f"Wrote {out}")
