"""``capsieve evaluate``: how good the sieve is, how sure that is, how much reading it saves."""

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
    from capsieve.statistics.evaluation import Evaluation

__all__ = ["command", "say_evaluation"]

_EXAMPLE = """\b
Example:
  capsieve evaluate results --labels labels.csv -o evaluation
  capsieve evaluate results --labels labels.csv --train-patient 4 -o evaluation
  capsieve evaluate results --labels labels.csv --against results-red -o comparison
"""


@click.command("evaluate", epilog=_EXAMPLE)
@click.argument("results", type=click.Path(path_type=Path), metavar="OUT")
@labels_option
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    metavar="EVAL",
    help="Folder for report.html, metrics.json, tables/ and figures/.",
)
@layout_option
@click.option(
    "--regions",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where the polyps lie on the frames: boxes (COCO, YOLO) or masks.",
)
@splits_option
@train_patient_option
@click.option(
    "--specificity",
    type=click.FloatRange(1, 100),  # less is a share that was taken for percent
    default=90.0,
    show_default=True,
    metavar="PERCENT",
    help="The specificity that the operating point must reach where it is chosen.",
)
@click.option("--threshold", type=float, help="Judge this threshold instead of the screened one.")
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="OUT2",
    help="Results of another detector or setting on the same frames, to compare with.",
)
@rounds_option
@seed_option
@reading_speed_option
@click.option(
    "--within",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="A polyp is found in time where it is flagged so soon after its first frame.",
)
@gap_option
@click.option(
    "--shortest",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    metavar="SECONDS",
    help="Alarms that are shorter are not counted.",
)
@allow_leaks_option
@click.option("--no-galleries", is_flag=True, help="Put no pictures of frames into the report.")
@click.option("--json", "as_json", is_flag=True, help="Print metrics.json, and only that.")
def command(
    results: Path,
    labels: Path,
    out: Path,
    layout: str | None,
    regions: Path | None,
    splits: Path | None,
    train_patients: tuple[str, ...],
    specificity: float,
    threshold: float | None,
    against: Path | None,
    rounds: int,
    seed: int,
    reading_speed: float,
    within: float,
    gap: float,
    shortest: float,
    allow_leaks: bool,
    no_galleries: bool,
    as_json: bool,
) -> None:
    """Judge the results in OUT by labels: every table and figure of the paper, with intervals.

    FILE has a row per frame: exam and frame, or file; label (polyp, normal, other); and where known
    polyp, patient, head, block, finding. Kvasir-Capsule and Capsule Vision 2024 are read as they
    come.
    """
    from capsieve.engine.evaluating import evaluate
    from capsieve.report.evaluation.writing import check_folder

    if splits is not None and train_patients:
        raise click.UsageError("--splits and --train-patient both say what to train on: say one.")
    if against is not None and against.resolve() == results.resolve():
        raise click.UsageError("--against names OUT itself: there is nothing to compare.")
    check_folder(out)
    evaluation = evaluate(
        results,
        labels,
        out,
        layout=layout,
        regions=regions,
        splits=splits,
        train_patients=train_patients,
        target_specificity=round(specificity / 100, 12),  # 99.9 / 100 is a little more than 0.999
        threshold=threshold,
        against=against,
        rounds=rounds,
        seed=seed,
        reading_speed=reading_speed,
        within=within,
        gap=gap,
        shortest=shortest,
        allow_leaks=allow_leaks,
        galleries=not no_galleries,
    )
    if as_json:
        click.echo((out / "metrics.json").read_text(encoding="utf-8"), nl=False)
    else:
        say_evaluation(evaluation)
        click.echo(f"To read, open in a browser: {(out / 'report.html').absolute()}")


def say_evaluation(evaluation: "Evaluation") -> None:
    """Print the answers, and on stderr what a careful reader must know."""
    from capsieve.cli.output import say_cautions
    from capsieve.report.evaluation.summary import summary_sentences

    for question, answer in summary_sentences(evaluation):
        click.secho(question, bold=True)
        click.echo(f"  {answer}")
    say_cautions(evaluation.leaks, evaluation.warnings, evaluation.problems)
