"""``capsieve splits``: training and test sets that do not leak."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from capsieve.cli.options import json_option, label_format_option
from capsieve.cli.settings_options import PathType, settings_options
from capsieve.labels.splits import SplitOptions

_EXAMPLE = """\b
Example:
  capsieve splits labels.csv -o splits.csv --test 30
  capsieve splits labels.csv -o folds.csv --folds 5 --seed 1
  capsieve splits labels.csv -o folds.csv --folds 5 --in-order
"""

SCHEMA = 2
"""Version of the JSON object; it grows when a name in it changes its meaning."""


@click.command("splits", epilog=_EXAMPLE)
@click.argument("labels_path", metavar="LABELS", type=PathType())
@click.option(
    "-o",
    "--out",
    type=PathType(dir_okay=False),
    required=True,
    metavar="SPLITS",
    help="File for the split: CSV, or Parquet if it ends in .parquet.",
)
@label_format_option
@settings_options(SplitOptions)
@json_option()
def command(
    labels_path: Path,
    out: Path,
    label_format: str | None,
    settings: SplitOptions,
    as_json: bool,
) -> None:
    """Split labelled frames by patient, exam or block, never at random.

    LABELS is a file or folder in any format that capsieve evaluate reads. The split is for capsieve
    evaluate --splits.
    """
    from capsieve.atomic_write import check_replaceable
    from capsieve.cli.output import say_cautions
    from capsieve.labels import SPLITS, plan_splits, read_labels, write_splits
    from capsieve.report import tables

    check_replaceable(out, columns=SPLITS.names)
    labels = read_labels(labels_path, label_format=label_format)
    plan = plan_splits(labels, settings)
    write_splits(plan.splits, out)
    if as_json:
        keys = [column.key for column in plan.table.columns]
        outcome = {
            "schema": SCHEMA,
            "splits": str(out),
            "kind": plan.kind,
            "parts": [dict(zip(keys, row, strict=True)) for row in plan.table.rows],
            "warnings": [*labels.warnings, *plan.warnings],
            "problems": [asdict(problem) for problem in labels.problems],
        }
        click.echo(json.dumps(outcome, indent=2, allow_nan=False))
        return
    say_cautions((), (*labels.warnings, *plan.warnings), labels.problems)
    click.echo(tables.terminal(plan.table, title=False))
    click.echo(f"\nKept together: every {plan.kind}. Split: {out}")
