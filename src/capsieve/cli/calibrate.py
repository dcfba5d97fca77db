"""``capsieve calibrate``: the operating point."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capsieve.cli.options import (
    allow_leaks_option,
    gap_option,
    labels_option,
    layout_option,
    reading_speed_option,
    rounds_option,
    seed_option,
    splits_option,
    train_patient_option,
)

if TYPE_CHECKING:
    from capsieve.calibration.outcome import Calibration
    from capsieve.calibration.target import Target

__all__ = ["command", "say_calibration"]

_EXAMPLE = """\b
Example:
  capsieve calibrate results --labels labels.csv -o calibration
  capsieve calibrate results --labels labels.csv --train-patient 4 -o calibration
  capsieve calibrate results --labels labels.csv --frames 400 --splits folds.csv -o calibration
  capsieve screen new/ -o screened --parameters calibration/calibrated.toml
"""

_PERCENT = click.FloatRange(1, 100)  # less is a share that was taken for percent
_DEFAULT_SPECIFICITY = 90.0


@click.command("calibrate", epilog=_EXAMPLE)
@click.argument("results", type=click.Path(path_type=Path), metavar="OUT")
@labels_option
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="CALIBRATION",
    help="Folder for calibration.json, .csv, .md and .tex, and calibrated.toml.",
)
@click.option(
    "--specificity",
    type=_PERCENT,
    metavar="PERCENT",
    help=f"Not to be flagged of the normal frames, at least; {_DEFAULT_SPECIFICITY:g} where no "
    "target is given.",
)
@click.option(
    "--frames",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="To read per exam, at most, in the mean.",
)
@click.option(
    "--sensitivity", type=_PERCENT, metavar="PERCENT", help="To be found of the polyps, at least."
)
@layout_option
@splits_option
@train_patient_option
@rounds_option
@seed_option
@reading_speed_option
@gap_option
@allow_leaks_option
@click.option("--json", "as_json", is_flag=True, help="Print calibration.json, and only that.")
def command(
    results: Path,
    labels: Path,
    out: Path,
    specificity: float | None,
    frames: float | None,
    sensitivity: float | None,
    layout: str | None,
    splits: Path | None,
    train_patients: tuple[str, ...],
    rounds: int,
    seed: int,
    reading_speed: float,
    gap: float,
    allow_leaks: bool,
    as_json: bool,
) -> None:
    """Choose the threshold of the results in OUT that reaches a target, and tell what it costs.

    One target of --specificity, --frames and --sensitivity; --specificity 90, as in the paper,
    where none is given. For the paper's detector calibrated.toml is written, for capsieve screen
    --parameters; the threshold of another detector is passed to capsieve screen as --threshold.
    """
    from capsieve.calibration.files import PARAMETERS_FILE, calibration_json, check_folder
    from capsieve.engine.calibrating import calibrate

    if splits is not None and train_patients:
        raise click.UsageError("--splits and --train-patient both say what to train on: say one.")
    target = _target(specificity, frames, sensitivity)
    check_folder(out)
    calibration = calibrate(
        results,
        labels,
        out,
        target=target,
        layout=layout,
        splits=splits,
        train_patients=train_patients,
        rounds=rounds,
        seed=seed,
        reading_speed=reading_speed,
        gap=gap,
        allow_leaks=allow_leaks,
    )
    if as_json:
        click.echo(calibration_json(calibration), nl=False)
    else:
        say_calibration(calibration)
        if calibration.detector == "paper":
            options = f"--parameters {shlex.quote(str(out / PARAMETERS_FILE))}"
        else:
            name = shlex.quote(calibration.detector)
            options = f"--detector {name} --threshold {calibration.threshold:.12g}"
        click.echo(f"To screen with it: capsieve screen ... {options}")


def say_calibration(calibration: "Calibration") -> None:
    """Print the choice and the table, and on stderr what a careful reader must know."""
    from capsieve.calibration.tables import figures_table, interval_notes
    from capsieve.cli.output import say_cautions
    from capsieve.report.evaluation.table_files import table_text
    from capsieve.report.text import plain

    click.echo(f"{calibration.scale.name} = {calibration.threshold:g}. {plain(calibration.how)}\n")
    click.echo(table_text(figures_table(calibration)))
    click.echo("")
    for note in interval_notes(calibration):
        click.echo(plain(note))
    say_cautions(calibration.leaks, calibration.warnings, calibration.problems)


def _target(specificity: float | None, frames: float | None, sensitivity: float | None) -> "Target":
    from capsieve.calibration.target import Target

    given = [value for value in (specificity, frames, sensitivity) if value is not None]
    if len(given) > 1:
        raise click.UsageError(
            "--specificity, --frames and --sensitivity each fix the threshold: say one."
        )
    if frames is not None:
        return Target("frames", frames)
    # 99.9 / 100 is a little more than 0.999
    if sensitivity is not None:
        return Target("sensitivity", round(sensitivity / 100, 12))
    percent = _DEFAULT_SPECIFICITY if specificity is None else specificity
    return Target("specificity", round(percent / 100, 12))
