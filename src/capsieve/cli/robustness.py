"""``capsieve robustness``: the effect of small changes of parameters."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capsieve.cli.field_of_view import FieldOfViewType
from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import (
    ParametersFile,
    json_option,
    labels_option,
    out_folder_option,
    quiet_option,
)
from capsieve.cli.settings_options import settings_options
from capsieve.evaluation.settings import RobustnessSettings

if TYPE_CHECKING:
    from capsieve.evaluation.labelled_run import LabelledRun
    from capsieve.evaluation.robustness import Robustness


_EXAMPLE = """\b
Example:
  capsieve robustness exams/ --labels labels.csv -o robustness
  capsieve robustness exams/ --labels labels.csv --normals 4000 --seed 1 -o robustness
  capsieve robustness exams/ --labels labels.csv --parameter R_P --change 5 --change 20 -o r
"""

_SHOWN = 5  # frames that could not be analysed, by name


@click.command("robustness", epilog=_EXAMPLE)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@labels_option
@out_folder_option("Folder for the tables, the figure and robustness.json.")
@settings_options(
    RobustnessSettings,
    field_of_view=FieldOfViewType("auto", "whole"),
    parameters=ParametersFile(),
)
@json_option("robustness.json")
@quiet_option
def command(
    settings: RobustnessSettings,
    inputs: tuple[str, ...],
    labels: Path,
    out: Path,
    as_json: bool,
    quiet: bool,
) -> None:
    """Change each parameter a little, and compare sensitivity and specificity.

    INPUT is what capsieve screen takes. Only frames labelled polyp or normal are analysed, once for
    all changes together. An interrupted run is continued.

    Exit status: 0 if every chosen frame was analysed, 1 if some could not be.
    """
    from capsieve.cli.output import announce_compilation
    from capsieve.cli.progress import exam_progress
    from capsieve.evaluation.robustness import robustness_content, study_robustness

    announce_compilation()
    with interruptible(overwrite=settings.overwrite), exam_progress(quiet=quiet) as listener:
        study = study_robustness(inputs, labels, out, settings=settings, progress=listener)
    if as_json:
        click.echo(json.dumps(robustness_content(study), indent=2, allow_nan=False))
    else:
        _say(study, out)
    say_incomplete(study.run)


def say_incomplete(run: "LabelledRun") -> None:
    """Print on stderr which exams and frames could not be analysed; end with 1 if there are any."""
    from capsieve.cli.output import say

    for name, why in run.failed:
        say(f"capsieve: {name} failed: {why}", err=True)
    for name, why in run.unscored[:_SHOWN]:
        say(f"capsieve: {name}: {why}", err=True)
    if len(run.unscored) > _SHOWN:
        say(f"capsieve: {len(run.unscored):,} frames could not be analysed", err=True)
    if not run.complete:
        click.get_current_context().exit(1)


def _say(study: "Robustness", out: Path) -> None:
    from capsieve.cli.output import say, say_cautions
    from capsieve.evaluation.robustness import robustness_table
    from capsieve.report import tables, text
    from capsieve.report.words import preset_words

    table = robustness_table(study)
    click.echo(tables.terminal(table))
    click.echo()
    say(f"Base: the paper {preset_words(study.base.preset)}. {table.caption}")
    for metric in study.metrics.values():
        say(f"{metric.name} of the base: {text.metric(metric)} ({text.counts(metric)})")
        for each in metric.intervals:
            caution = f", {each.why}" if each.why and each.low is not None else ""
            say(f"  {each.method}: {text.interval(each, metric.unit)}{caution}")
    counts = study.run.counts
    say(
        f"Not analysed: {counts['other']:,} frames with another finding, "
        f"{counts['unlabelled']:,} without a label."
    )
    for change in study.changes:
        if change.why:
            say(f"Not possible: {change.symbol} {text.signed(change.percent)} %: {change.why}")
    say(f"Wrote {out / 'robustness.json'}, .csv, .tex and .png")
    say_cautions((), study.labels.warnings, study.run.problems)
