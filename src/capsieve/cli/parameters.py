"""``capsieve parameters``: the table of the detector's parameters."""

from pathlib import Path
from typing import Literal

import click

from capsieve.cli.settings_options import PathType

_EXAMPLE = """\b
Example:
  capsieve parameters -o mine.toml
  capsieve explain frame.png --parameters mine.toml
  capsieve explain frame.png --parameters inferred
"""


@click.command("parameters", epilog=_EXAMPLE)
@click.option(
    "--preset",
    type=click.Choice(["printed", "inferred"]),
    default="printed",
    show_default=True,
    help="The paper's equations as printed, or as inferred from its figures.",
)
@click.option(
    "-o",
    "--out",
    type=PathType(dir_okay=False),
    metavar="FILE.toml",
    help="Write there instead of printing.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
def command(preset: Literal["printed", "inferred"], out: Path | None, overwrite: bool) -> None:
    """Print the parameters of the detectors as TOML, with the paper's symbols and meanings.

    Change what you like in the file and give it to other commands with --parameters, which also
    accepts the name of a preset.
    """
    from capsieve.errors import FileError
    from capsieve.parameters import PRESETS

    if out is None:
        click.echo(PRESETS[preset].to_toml(), nl=False)
    else:
        if out.exists() and not overwrite:
            raise FileError(f"{out} already exists; choose another name, or add --overwrite")
        PRESETS[preset].save(out)
        click.echo(f"Wrote {out}")
