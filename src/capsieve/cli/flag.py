"""``capsieve flag``: flag the frames of screened exams by another rule."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from capsieve.cli.options import ParametersFile, json_option
from capsieve.cli.reader_entries import database_option, exams_with_entries
from capsieve.cli.screen import exams_json, say_found
from capsieve.cli.settings_options import PathType
from capsieve.errors import ParameterError

if TYPE_CHECKING:
    from capsieve.parameters import Parameters

_EXAMPLE = """\b
Example:
  capsieve flag results --read 5%
  capsieve flag results/patient-7 --threshold 40
  capsieve flag results --read 300 -o shorter
  capsieve flag results --parameters calibration/calibrated.toml
"""


@click.command("flag", epilog=_EXAMPLE)
@click.argument("results", type=PathType(), metavar="OUT")
@click.option(
    "--read",
    metavar="SHARE|NUMBER",
    help="Flag the frames with the highest scores: a percentage of the frames, or a number.",
)
@click.option(
    "--threshold", type=float, metavar="SCORE", help="Flag the frames with at least this score."
)
@click.option(
    "--parameters",
    type=ParametersFile(),
    metavar="FILE.toml",
    help="Flag as capsieve calibrate chose; the results then name its calibration frames.",
)
@click.option(
    "-o",
    "--out",
    type=PathType(file_okay=False),
    metavar="OUT2",
    help="Write the results there and leave those in OUT unchanged.",
)
@database_option
@json_option()
def command(
    results: Path,
    read: str | None,
    threshold: float | None,
    parameters: "Parameters | None",
    out: Path | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Change the flags, events and report of finished exams without scoring them again.

    OUT is the folder that capsieve screen -o wrote, or the folder of one exam in it. The
    list of an exam with decisions can only become longer; a signed exam is not changed.
    Write other flags of these exams to another folder with -o.
    """
    from capsieve.screening.flagging import flag
    from capsieve.store.exam import exam_folders

    if sum(given is not None for given in (read, threshold, parameters)) != 1:
        raise click.UsageError("Give one of --read, --threshold and --parameters.")
    begun: dict[str, bool] = {}
    if out is None:
        begun = exams_with_entries(exam_folders(results)[0].absolute().parent, database)
    try:
        exams = flag(
            results,
            read=read,
            threshold=threshold,
            parameters=parameters,
            to=out,
            protected=[exam for exam, signed in begun.items() if signed],
            begun=begun,
        )
    except ParameterError as error:
        raise click.BadParameter(error.args[1], param_hint=f"'--{error.field}'") from error
    if as_json:
        click.echo(exams_json(exams))
    else:
        say_found(exams, out or results)
    if any(exam.error is not None for exam in exams):
        click.get_current_context().exit(1)
