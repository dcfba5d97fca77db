"""``capsieve calibrate``: choose the operating point."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import (
    json_option,
    labels_option,
    out_folder_option,
)
from capsieve.cli.settings_options import PathType, settings_options
from capsieve.evaluation.settings import CalibrationOptions

if TYPE_CHECKING:
    from capsieve.evaluation.calibrate import Calibration


_EXAMPLE = """\b
Example:
  capsieve calibrate results --labels labels.csv -o calibration
  capsieve calibrate results --labels labels.csv --train-patient 4 -o calibration
  capsieve calibrate results --labels labels.csv --sensitivity 80 --splits folds.csv -o calibration
  capsieve screen new/ -o screened --parameters calibration/calibrated.toml
"""


@click.command("calibrate", epilog=_EXAMPLE)
@click.argument("results", type=PathType(), metavar="OUT|SCORES")
@labels_option
@out_folder_option(
    "Folder for calibration.json, calibrated.toml and calibrated.frames.txt.", "CALIBRATION"
)
@settings_options(CalibrationOptions)
@json_option("calibration.json")
def command(
    settings: CalibrationOptions,
    results: Path,
    labels: Path,
    out: Path,
    as_json: bool,
) -> None:
    """Choose the threshold, or the share to read, that reaches a target.

    OUT is the folder of capsieve screen, SCORES a table of scores of any program. Give one target:
    --specificity or --sensitivity. For results of capsieve screen calibrated.toml is written, for
    --parameters of capsieve screen and capsieve flag. It names a file with the hashes of the
    calibration frames, so capsieve evaluate can recognise them.
    """
    from capsieve.evaluation.calibrate import calibrate, calibration_content

    with interruptible(kept=False):
        calibration = calibrate(results, labels, out, options=settings)
    if as_json:
        click.echo(json.dumps(calibration_content(calibration), indent=2, allow_nan=False))
    else:
        _say(calibration, out)


def _say(calibration: "Calibration", out: Path) -> None:
    from capsieve.cli.output import say, say_cautions
    from capsieve.evaluation.calibrate import PARAMETERS_FILE, calibration_table
    from capsieve.report import tables, text

    value = calibration.rule.option.partition(" ")[2]
    say(f"{calibration.name} = {value}. {calibration.reason}")
    interval = calibration.stability
    shown = text.interval(interval, "share" if calibration.rule.is_list else "score")
    say(f"Chosen again on bootstrap samples ({interval.method}): {shown}.")
    click.echo(f"\n{tables.terminal(calibration_table(calibration), title=False)}\n")
    intervals = [
        each.interval for each in calibration.metrics if each.interval and each.interval.why
    ]
    for why in dict.fromkeys(each.why for each in intervals if each.low is None):
        say(f"{text.DASH}: no interval, {why}.")
    for why in dict.fromkeys(each.why for each in intervals if each.low is not None):
        say(f"Intervals: {why}.")
    say_cautions(calibration.leaks, calibration.warnings, calibration.problems)
    if calibration.choice is not None:
        detector = calibration.choice.detector
        options = [] if detector == "paper" else ["--detector", detector]
        options += ["--parameters", str(out / PARAMETERS_FILE)]
        say(f"To screen with it: capsieve screen ... {shlex.join(options)}")
    else:  # scores of another program
        say(f"To evaluate with it: capsieve evaluate ... {calibration.rule.option}")
