"""``capsieve evaluate``: metrics of a detector on labelled frames, with intervals."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import (
    json_option,
    labels_option,
)
from capsieve.cli.settings_options import PathType, settings_options
from capsieve.statistics.options import EvaluationOptions

if TYPE_CHECKING:
    from capsieve.statistics.results import Evaluation


_EXAMPLE = """\b
Example:
  capsieve evaluate results --labels labels.csv -o evaluation
  capsieve evaluate results --labels labels.csv --train-patient 4 -o evaluation
  capsieve evaluate scores.csv --labels labels.csv --threshold 0.5 -o evaluation
  capsieve evaluate results --labels labels.csv --baseline results-red -o comparison
"""


@click.command("evaluate", epilog=_EXAMPLE)
@click.argument("results", type=PathType(), metavar="OUT|SCORES")
@labels_option
@click.option(
    "-o",
    "--out",
    type=PathType(file_okay=False),
    required=True,
    metavar="EVAL",
    help="Folder for report.html, metrics.json, tables/ and figures/.",
)
@settings_options(EvaluationOptions)
@click.option(
    "--baseline",
    type=PathType(),
    metavar="OUT2|SCORES2",
    help="Compare with the scores of another detector for the same frames, at the same share of "
    "frames to read.",
)
@click.option(
    "--regions",
    type=PathType(),
    metavar="PATH",
    help="Outlines of the polyps on the frames: COCO, boxes or masks.",
)
@click.option(
    "--class",
    "polyp_class",
    metavar="polyp=ID",
    help="The class of polyps in boxes without names of classes.",
)
@click.option("--no-galleries", is_flag=True, help="Show no frames in the report.")
@json_option("metrics.json")
def command(
    results: Path,
    labels: Path,
    out: Path,
    settings: EvaluationOptions,
    baseline: Path | None,
    no_galleries: bool,
    as_json: bool,
    **inputs: Any,
) -> None:
    """Evaluate the results in OUT, or the scores of any program, against labels.

    SCORES is a table with the columns exam and frame (or file) and score; if known also head,
    time_s, source, row and col. Higher scores mean polyp.

    The labels have a row per frame: exam and frame, or file; label (polyp, normal, other); and if
    known polyp, patient, head, block, source, finding. Kvasir-Capsule and Capsule Vision 2024 are
    read as downloaded.
    """
    from capsieve.evaluation.evaluate import evaluate
    from capsieve.report.evaluation import metrics_json

    if baseline is not None and baseline.resolve() == results.resolve():
        raise click.BadParameter("it is the same as OUT", param_hint="'--baseline'")
    with interruptible(kept=False):
        evaluation = evaluate(
            results,
            labels,
            out,
            options=settings,
            baseline=baseline,
            galleries=not no_galleries,
            **inputs,
        )
    if as_json:
        click.echo(json.dumps(metrics_json(evaluation), indent=2, allow_nan=False))
        return
    say_evaluation(evaluation)
    click.echo(f"\nReport: {(out / 'report.html').absolute()}")


def say_evaluation(evaluation: "Evaluation") -> None:
    """Print cautions on stderr, and then the main metrics."""
    from capsieve.cli.output import say_cautions
    from capsieve.report import tables
    from capsieve.report.comparison_tables import compared
    from capsieve.report.evaluation import summary, title
    from capsieve.report.evaluation_tables import baseline_warnings

    warnings = (*evaluation.warnings, *baseline_warnings(evaluation))
    say_cautions(evaluation.leaks, warnings, evaluation.problems)
    click.echo(f"{title(evaluation)}\n\n{tables.terminal(summary(evaluation))}")
    if evaluation.comparison is not None:
        click.echo(f"\n{tables.terminal(compared(evaluation.comparison))}")
