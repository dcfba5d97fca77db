"""``capsieve train``: a detector that learns from labelled frames."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import (
    allow_leaks_option,
    field_of_view_option,
    full_names_option,
    json_option,
    labels_option,
    layout_option,
    quiet_option,
    rounds_option,
    seed_option_of,
    workers_option,
)

if TYPE_CHECKING:
    from capsieve.engine.training_card import CardTexts
    from capsieve.engine.training_outcome import TrainingOutcome
    from capsieve.screening.settings import FieldChoice

__all__ = ["command", "say_training"]

_EXAMPLE = """\b
Example:
  capsieve train exams/ --labels labels.csv -o model.onnx
  capsieve train exams/ --labels labels.csv --model cnn --card texts.toml -o model.onnx
  capsieve model show model.onnx
  capsieve screen new/ --detector model.onnx -o results
"""


@click.command("train", epilog=_EXAMPLE)
@click.argument("inputs", nargs=-1, required=True, metavar="FRAMES...")
@labels_option
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="MODEL",
    help="File for the model, NAME.onnx. NAME.onnx.work keeps the work: an interrupted run goes "
    "on there.",
)
@click.option(
    "--model",
    type=click.Choice(["svm", "forest", "cnn"]),
    default="svm",
    show_default=True,
    help="What to train: a model on features of the frame (svm, forest) or a network (cnn).",
)
@layout_option
@click.option(
    "--splits",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Folds that judge each other, from capsieve splits --folds.",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    metavar="K",
    help="Folds of whole patients, blocks or exams, where --splits names none.",
)
@seed_option_of("The same seed gives the same model.")
@click.option(
    "--specificity",
    type=click.FloatRange(1, 100, max_open=True),  # less is a share that was taken for percent
    default=90.0,
    show_default=True,
    metavar="PERCENT",
    help="The specificity that the model's threshold must reach out of fold.",
)
@click.option(
    "--nested/--not-nested",
    default=None,
    help="Fit once more without each pair of folds, so that the calibration of a fold has not seen "
    "it; by default for models on features.",
)
@click.option(
    "--one-source",
    is_flag=True,
    help="All frames are of one device: their folders tell no sources apart.",
)
@allow_leaks_option
@rounds_option
@field_of_view_option
@full_names_option
@workers_option
@click.option(
    "--work",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Where trainings on the same frames share their work; MODEL.work by default.",
)
@click.option("--overwrite", is_flag=True, help="Remove the work of earlier runs first.")
@click.option("--data-name", metavar="TEXT", help="Card: what the data are called.")
@click.option("--licence", metavar="TEXT", help="Card: the licence of the data.")
@click.option("--citation", metavar="TEXT", help="Card: how to cite the data.")
@click.option(
    "--card",
    "card_file",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="Card: name, intended_use, limits, and [[data]] with source, name, licence, citation.",
)
@json_option()
@quiet_option
def command(
    inputs: tuple[str, ...],
    labels: Path,
    out: Path,
    model: str,
    layout: str | None,
    splits: Path | None,
    folds: int,
    seed: int,
    specificity: float,
    nested: bool | None,
    one_source: bool,
    allow_leaks: bool,
    rounds: int,
    field_of_view: "FieldChoice",
    full_names: bool,
    workers: int | None,
    work: Path | None,
    overwrite: bool,
    data_name: str | None,
    licence: str | None,
    citation: str | None,
    card_file: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train a detector on labelled FRAMES, judge it out of fold, and write it with its card.

    FRAMES are exams as capsieve screen takes them. Patients, blocks or exams are kept apart: every
    figure is of frames that the model which scored them never saw.
    """
    from capsieve.cli.output import announce_compilation
    from capsieve.cli.train_progress import train_progress
    from capsieve.engine.training import train

    _check_usage(splits)
    texts = _texts(data_name, licence, citation, card_file)
    announce_compilation()
    with interruptible(overwrite=overwrite), train_progress(quiet=quiet) as shown:
        outcome = train(
            inputs,
            labels,
            out,
            model=model,
            layout=layout,
            splits=splits,
            folds=folds,
            seed=seed,
            target_specificity=round(specificity / 100, 12),
            nested=nested,
            one_source=one_source,
            allow_leaks=allow_leaks,
            rounds=rounds,
            field_of_view=field_of_view,
            workers=workers,
            full_names=full_names,
            work=work,
            overwrite=overwrite,
            card=texts,
            progress=shown.listen,
            tell=shown.tell,
        )
    if as_json:
        click.echo(json.dumps(outcome.to_dict(), indent=2, allow_nan=False))
    else:
        say_training(outcome, labels)


def say_training(outcome: "TrainingOutcome", labels: Path) -> None:
    """Print the figures, and on stderr what a careful reader must know."""
    from capsieve.cli.output import say_cautions
    from capsieve.report.evaluation.table_files import table_text
    from capsieve.report.formats import plain

    table = outcome.table()
    click.echo(f"{table_text(table)}\n\n{plain(table.caption)}")
    click.echo(
        f"Flags frames from a probability of {outcome.threshold:.3g} on, if polyp frames were as "
        "frequent as others."
    )
    say_cautions(outcome.leaks, outcome.warnings, outcome.problems)
    click.echo(
        f"Every table: capsieve evaluate {outcome.out_of_fold} --labels {labels} "
        f"--splits {outcome.splits} -o evaluation"
    )
    click.echo(f"To screen with it: capsieve screen ... --detector {outcome.path}")


def _check_usage(splits: Path | None) -> None:
    context = click.get_current_context()
    source = context.get_parameter_source("folds")
    if splits is not None and source is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--splits and --folds both say what the folds are: say one.")


def _texts(
    name: str | None, licence: str | None, citation: str | None, file: Path | None
) -> "CardTexts":
    from capsieve.engine.training_card import CardTexts, DataTexts, read_card_texts

    given = {"name": name, "licence": licence, "citation": citation}
    said = {key: value for key, value in given.items() if value is not None}
    if file is not None:
        if said:
            raise click.UsageError("--card and --data-name, --licence or --citation: say one.")
        return read_card_texts(file)
    return CardTexts(data=(DataTexts(**said),) if said else ())
