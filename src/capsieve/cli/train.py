"""``capsieve train``: train a detector on labelled frames."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import json_option, labels_option, quiet_option
from capsieve.cli.settings_options import PathType, settings_options
from capsieve.training.settings import HOW_TO_CHOOSE, MODELS, TrainSettings

if TYPE_CHECKING:
    from capsieve.training.folds import StepListener
    from capsieve.training.run import TrainingOutcome

_EXAMPLE = """\b
Example:
  capsieve screen exams/ -o results
  capsieve train results --labels labels.csv --model cnn --card texts.toml -o model.onnx
  capsieve screen new/ --detector model.onnx -o new-results
"""


class _Model(click.Choice[str]):
    """A kind of model; if it is missing, the message explains how to choose."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return the advice."""
        return f"{HOW_TO_CHOOSE}."


@click.command("train", epilog=_EXAMPLE)
@click.argument("results", type=PathType(), metavar="OUT")
@labels_option
@click.option(
    "-o",
    "--out",
    type=PathType(),
    required=True,
    metavar="MODEL",
    help="File for the model, NAME.onnx. An interrupted run is continued.",
)
@settings_options(TrainSettings, model=_Model(MODELS))
@json_option()
@quiet_option
def command(
    settings: TrainSettings,
    results: Path,
    labels: Path,
    out: Path,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train a detector on labelled frames of screened exams.

    OUT is the folder that capsieve screen wrote, with any detector. Every frame is scored by a
    model that saw no frame of its patient, block or exam; all figures follow from these scores,
    which are written next to the model as NAME.scores.csv.
    """
    from capsieve.cli.output import announce_compilation
    from capsieve.training.run import train

    announce_compilation()
    with interruptible(overwrite=settings.overwrite), _progress(quiet=quiet) as progress:
        outcome = train(results, labels, out, settings=settings, progress=progress)
    if as_json:
        click.echo(json.dumps(outcome.to_dict(), indent=2, allow_nan=False))
    else:
        _print(outcome)


def _print(outcome: "TrainingOutcome") -> None:
    from capsieve.cli.model import metrics_table
    from capsieve.cli.output import say_cautions
    from capsieve.report import tables

    click.echo(tables.terminal(metrics_table(outcome.card)))
    click.echo(
        f"\nThe threshold is a probability of {outcome.threshold:.3g}, if polyp frames were as "
        "frequent as others."
    )
    say_cautions(outcome.leaks, outcome.warnings, outcome.problems)
    click.echo(f"Out-of-fold scores: {outcome.scores}, folds: {outcome.splits}")
    click.echo(f"To screen with it: capsieve screen ... --detector {outcome.path}")


@contextmanager
def _progress(*, quiet: bool) -> "Iterator[StepListener]":
    """Yield a function that shows the progress: a bar on a terminal, lines elsewhere."""
    from capsieve.cli.progress import EVERY_S, live_bars

    shown: dict[str, Any] = {"what": "", "time": 0.0}

    def lines(what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != shown["what"] or now - shown["time"] >= EVERY_S or done == total:
            shown.update(what=what, time=now)
            click.echo(f"{what}: {done} of {total}", err=True)

    if quiet or not sys.stderr.isatty():
        yield (lambda what, done, total: None) if quiet else lines
        return
    from rich.progress import TimeElapsedColumn

    with live_bars(TimeElapsedColumn()) as bars:

        def bar(what: str, done: int, total: int) -> None:
            if what != shown["what"]:
                if "task" in shown:
                    bars.remove_task(shown["task"])
                shown.update(what=what, task=bars.add_task(what, total=total))
            bars.update(shown["task"], completed=done, total=max(done, total))

        yield bar
