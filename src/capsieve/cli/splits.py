"""``capsieve splits``: training and test sets that do not leak."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from capsieve.statistics.labels.label_set import LabelSet
    from capsieve.statistics.split_plan import SplitPlan

__all__ = ["command"]

_EXAMPLE = """\b
Example:
  capsieve splits labels.csv -o splits.csv --test 0.3
  capsieve splits labels.csv -o folds.csv --folds 5 --seed 1
  capsieve splits labels.csv -o fifths.csv --folds 5 --in-order
"""

SCHEMA = 1
"""Version of the JSON object; it grows when a name in it changes its meaning."""

_DEFAULT_TEST = 0.3


def _kind_of_group(context: click.Context, option: click.Parameter, value: str) -> str:
    if value == "frame":
        raise click.BadParameter(
            "frames of one exam resemble each other, so a split by frames puts near-duplicates of "
            "the training frames into the test set. Split by patient, block or exam.",
            ctx=context,
            param=option,
        )
    if value not in ("patient", "block", "exam"):
        raise click.BadParameter(
            f"{value!r} is not one of 'patient', 'block', 'exam'.", ctx=context, param=option
        )
    return value


@click.command("splits", epilog=_EXAMPLE)
@click.argument("labels_path", metavar="LABELS", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="SPLITS",
    help="File for the split: CSV, or Parquet where it ends in .parquet.",
)
@click.option("--folds", type=click.IntRange(2), metavar="K", help="K parts of equal size.")
@click.option(
    "--test",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help=f"Two parts, train and test; {_DEFAULT_TEST} unless --folds is given.",
)
@click.option(
    "--by",
    default="patient",
    show_default=True,
    callback=_kind_of_group,
    metavar="patient|block|exam",
    help="What stays together. Frames whose patient is not known go by blocks.",
)
@click.option(
    "--block-size",
    type=click.IntRange(1),
    metavar="N",
    help="Frames per block, about; 300 by default. A polyp is never cut.",
)
@click.option(
    "--in-order",
    is_flag=True,
    help="Groups that follow each other go into the same part, instead of being dealt out. For "
    "blocks: fewer exams can be in two parts.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, another split.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON, and only that.")
def command(
    labels_path: Path,
    out: Path,
    folds: int | None,
    test: float | None,
    by: Any,
    block_size: int | None,
    in_order: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Split labelled frames by patient or by blocks, never at random.

    LABELS is a file or folder of labels in any layout that capsieve evaluate reads. The split is
    for capsieve evaluate --splits.
    """
    from capsieve.statistics.labels import read_labels
    from capsieve.statistics.split_plan import BLOCK_SIZE, plan_splits
    from capsieve.statistics.splits import write_splits

    if folds is not None and test is not None:
        raise click.UsageError("--folds makes equal parts, --test a part apart: say one.")
    if seed < 0:
        raise click.UsageError("--seed must be 0 or more.")
    if in_order and seed:
        raise click.UsageError("--in-order leaves nothing to chance: leave out --seed.")
    _spare(out)
    labels = read_labels(labels_path)
    plan = plan_splits(
        labels,
        folds=folds,
        test=_DEFAULT_TEST if folds is None and test is None else test,
        by=by,
        block_size=block_size or BLOCK_SIZE,
        in_order=in_order,
        seed=seed,
    )
    write_splits(plan.splits, out)
    _say_problems(labels, plan)
    if as_json:
        click.echo(_json(plan, labels, out))
    else:
        _say_parts(plan)
        click.echo(f"Kept together: every {plan.kind}. Split: {out}")


def _spare(out: Path) -> None:
    """Refuse to write over what is no split: the labels, most of all."""
    from capsieve.errors import FileError
    from capsieve.statistics.splits import read_splits

    if not out.exists():
        return
    try:
        read_splits(out)
    except FileError as error:
        raise FileError(
            f"{out} is there already and is no split; give another name with -o, or remove it"
        ) from error


def _say_problems(labels: "LabelSet", plan: "SplitPlan") -> None:
    for problem in labels.problems:
        examples = f" ({'; '.join(problem.examples)})" if problem.examples else ""
        click.echo(f"capsieve: {problem.rows} rows: {problem.what}{examples}", err=True)
    for warning in (*labels.warnings, *plan.warnings):
        click.echo(f"capsieve: {warning}", err=True)


def _say_parts(plan: "SplitPlan") -> None:
    """Print the parts in aligned columns, names to the left and counts to the right."""
    lines = [[column.label for column in plan.table.columns]]
    lines += [[str(cell) for cell in row] for row in plan.table.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *counts in lines:
        cells = [f"{cell:>{width}}" for cell, width in zip(counts, widths[1:], strict=True)]
        click.echo("  ".join([f"{name:<{widths[0]}}", *cells]))


def _json(plan: "SplitPlan", labels: "LabelSet", out: Path) -> str:
    keys = [column.key for column in plan.table.columns]
    content = {
        "schema": SCHEMA,
        "splits": str(out),
        "kind": plan.kind,
        "parts": [dict(zip(keys, row, strict=True)) for row in plan.table.rows],
        "warnings": [*labels.warnings, *plan.warnings],
        "problems": [
            {
                "what": problem.what,
                "rows": problem.rows,
                "examples": list(problem.examples),
                "used": problem.used,
            }
            for problem in labels.problems
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False)
