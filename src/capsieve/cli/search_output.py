"""What ``capsieve calibrate --search`` prints."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from capsieve.engine.searching import SearchOutcome

__all__ = ["say_search"]


def say_search(outcome: "SearchOutcome", out: Path, *, as_json: bool = False) -> None:
    """Print the comparison, and on stderr what a careful reader must know."""
    from capsieve.report.evaluation.table_files import table_text
    from capsieve.report.formats import plain
    from capsieve.report.search_files import PARAMETERS_FILE, comparison_table, search_content

    if as_json:
        click.echo(json.dumps(search_content(outcome), indent=2, allow_nan=False))
    else:
        table = comparison_table(outcome)
        click.echo(f"{table_text(table)}\n\n{plain(table.caption)}")
        why = outcome.judgement.differences[0].intervals[0].why
        if why:
            click.echo(f"The intervals: {plain(why)}.")
        click.echo(f"To screen with it: capsieve screen ... --parameters {out / PARAMETERS_FILE}")
    for warning in outcome.warnings:
        click.echo(f"capsieve: {plain(warning[:1].upper() + warning[1:])}", err=True)
    for problem in outcome.problems:
        click.echo(f"capsieve: labels: {plain(problem)}", err=True)
    if outcome.frames.get("unscored"):
        count = outcome.frames["unscored"]
        click.echo(f"capsieve: {count:,} frames could not be analysed", err=True)
    if not outcome.complete:
        click.echo(
            f"capsieve: time was up after {len(outcome.trials)} trials; the same command goes on",
            err=True,
        )
