"""``capsieve search``: other parameters of the paper's detector, compared on held-out folds."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capsieve.cli.field_of_view import FieldOfViewType
from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import json_option, labels_option, out_folder_option, quiet_option
from capsieve.cli.robustness import say_incomplete
from capsieve.cli.settings_options import settings_options
from capsieve.evaluation.settings import SearchSettings

if TYPE_CHECKING:
    from capsieve.evaluation.search import Search


_EXAMPLE = """\b
Example:
  capsieve search exams/ --labels labels.csv -o search
  capsieve search exams/ --labels labels.csv --normals 2000 --splits folds.csv -o search
  capsieve screen new/ -o screened --parameters search/best.toml
"""


@click.command("search", epilog=_EXAMPLE)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@labels_option
@out_folder_option("Folder for search.json, settings.csv, best.toml and the scores.")
@settings_options(SearchSettings, field_of_view=FieldOfViewType("auto", "whole"))
@json_option("search.json")
@quiet_option
def command(
    settings: SearchSettings,
    inputs: tuple[str, ...],
    labels: Path,
    out: Path,
    as_json: bool,
    quiet: bool,
) -> None:
    """Search parameters of the paper's detector for exams like these.

    INPUT is what capsieve screen takes. All frames labelled polyp or normal are scored once with
    quasi-random settings. Each fold is flagged with the setting and R_P that the other folds
    choose; the metrics are those of these held-out folds, next to the printed parameters. An
    interrupted search is continued.

    Exit status: 0 if every chosen frame was analysed, 1 if some could not be.
    """
    from capsieve.cli.output import announce_compilation
    from capsieve.cli.progress import exam_progress
    from capsieve.evaluation.search import search, search_content

    announce_compilation()
    with interruptible(overwrite=settings.overwrite), exam_progress(quiet=quiet) as listener:
        outcome = search(inputs, labels, out, settings=settings, progress=listener)
    if as_json:
        click.echo(json.dumps(search_content(outcome), indent=2, allow_nan=False))
    else:
        _say(outcome, out)
    say_incomplete(outcome.run)


def _say(outcome: "Search", out: Path) -> None:
    from capsieve.cli.output import say, say_cautions
    from capsieve.evaluation.search import comparison_table
    from capsieve.report import tables

    table = comparison_table(outcome)
    click.echo(tables.terminal(table))
    click.echo()
    say(table.caption)
    settings = [chosen.setting for chosen in outcome.folds.values()]
    say(f"Settings that the folds chose: {', '.join(map(str, settings))} (0: printed parameters).")
    best = outcome.best
    say(f"Choice on all frames: setting {best.setting}, R_P = {best.radius_threshold}.")
    say(
        f"To screen with it: capsieve screen ... --parameters {shlex.quote(str(out / 'best.toml'))}"
    )
    say_cautions((), (), outcome.run.problems)
