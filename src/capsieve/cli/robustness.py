"""``capsieve robustness``: how much results change when a parameter changes a little."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import (
    field_of_view_option,
    full_names_option,
    json_option,
    labels_option,
    layout_option,
    out_folder_option,
    parameters_option,
    quiet_option,
    seed_option_of,
    workers_option,
)

if TYPE_CHECKING:
    from capsieve.engine.robustness_run import Robustness
    from capsieve.screening.settings import FieldChoice

__all__ = ["command", "say_robustness"]

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
@out_folder_option("Folder for robustness.json, .csv, .md and .tex.")
@layout_option
@click.option(
    "--change",
    "percents",
    type=float,
    multiple=True,
    metavar="PERCENT",
    help="How much to change a parameter; may be given several times. By default 10 and -10.",
)
@click.option(
    "--parameter",
    "names",
    multiple=True,
    metavar="NAME",
    help="What to change: a parameter's name or symbol; may be given several times. By default "
    "the paper's seven: sigma1, sigma2, M_L, M_U, S_L, S_U, E_max.",
)
@click.option(
    "--normals",
    type=click.IntRange(1),
    metavar="N",
    help="Analyse only so many normal frames, drawn at random; polyp frames are all kept.",
)
@seed_option_of("Of the draw: the same seed gives the same frames.")
@parameters_option("The base, where it is not the paper's; see capsieve parameters.")
@field_of_view_option
@full_names_option
@workers_option
@json_option("robustness.json")
@quiet_option
def command(
    inputs: tuple[str, ...],
    labels: Path,
    out: Path,
    layout: str | None,
    percents: tuple[float, ...],
    names: tuple[str, ...],
    normals: int | None,
    seed: int,
    parameters_file: Path | None,
    field_of_view: "FieldChoice",
    full_names: bool,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Change each parameter a little, and see how much sensitivity and specificity change.

    INPUT is what capsieve screen takes. Only frames that are labelled polyp or normal are
    analysed, once for all changes together.

    Exit status: 0 when every wanted frame was analysed, 1 when some could not be.
    """
    from capsieve.cli.output import announce_compilation
    from capsieve.cli.progress import exam_progress
    from capsieve.engine.robustness_run import study_robustness
    from capsieve.parameters import Parameters
    from capsieve.report.robustness_files import robustness_content, write_robustness
    from capsieve.statistics.flags import number_of
    from capsieve.statistics.perturbation import CHANGES, PARAMETERS

    parameters = None if parameters_file is None else Parameters.load(parameters_file)
    announce_compilation()
    with interruptible(kept=False), exam_progress(quiet=quiet) as listener:
        study = study_robustness(
            inputs,
            labels,
            layout=layout,
            parameters=parameters,
            names=names or PARAMETERS,
            percents=percents or CHANGES,
            normals=normals,
            seed=seed,
            field_of_view=field_of_view,
            full_names=full_names,
            workers=workers,
            progress=listener,
        )
    write_robustness(study, out)
    if as_json:
        click.echo(json.dumps(robustness_content(study), indent=2, allow_nan=False))
    else:
        say_robustness(study)
        click.echo(f"Wrote {out / 'robustness.json'}, .csv, .md and .tex")
    for name, why in study.failed:
        click.echo(f"capsieve: {name} failed: {' '.join(why.split())}", err=True)
    if study.unscored:
        for name, why in study.unscored[:_SHOWN]:
            click.echo(f"capsieve: {name}: {' '.join(why.split())}", err=True)
        count = number_of(len(study.unscored), "frame")
        click.echo(
            f"capsieve: {count} could not be analysed; robustness.json names every one", err=True
        )
    if not study.complete:
        click.get_current_context().exit(1)


def say_robustness(study: "Robustness") -> None:
    """Print the table, and what to know of it."""
    from capsieve.report.evaluation.cells import interval_text, metric_text
    from capsieve.report.evaluation.table_files import table_text
    from capsieve.report.robustness_files import study_table
    from capsieve.statistics.robustness import base_metrics

    table = study_table(study)
    click.echo(table_text(table))
    click.echo(f"\n{table.caption}")
    for metric in base_metrics(study.base_rates, unit=study.unit):
        words = "; ".join(
            f"{interval.method} {interval_text(interval, metric.unit)}, {interval.why}"
            for interval in metric.intervals
        )
        click.echo(f"{metric.name}, base: {metric_text(metric)}. {words or metric.note}")
    left = study.frames
    click.echo(
        f"Not in the study: {left['other']:,} frames with another finding, "
        f"{left['unlabelled']:,} without a label, "
        f"{left['normal'] - study.normals_drawn:,} normal frames that were not drawn."
    )
    for change in study.changes:
        if change.why:
            click.echo(f"Not possible: {change.symbol} {change.percent:+g} %: {change.why}")
    for problem in study.problems:
        fate = "used nevertheless" if problem.used else "not used"
        click.echo(f"Labels: {problem.what}: {problem.rows:,}, {fate}.")
    for warning in study.warnings:
        click.echo(f"Labels: {warning}")
