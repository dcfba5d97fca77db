"""``capsieve calibrate --search``: its options, and the call."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import (
    Decorator,
    field_choice,
    field_of_view_option,
    parameters_option,
    workers_option,
)

if TYPE_CHECKING:
    from capsieve.calibration.target import Target

__all__ = ["SearchOptions", "run_search", "search_options"]

_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--search",
        "wanted",
        is_flag=True,
        help="Search all parameters, not R_P alone. OUT is then what capsieve screen takes: the "
        "exams themselves, one or several.",
    ),
    click.option(
        "--trials",
        type=click.IntRange(1),
        default=30,
        show_default=True,
        metavar="N",
        help="Search: settings to try.",
    ),
    click.option(
        "--objective",
        type=click.Choice(["both", "frames", "polyps"]),
        default="both",
        show_default=True,
        help="Search: whose sensitivity counts.",
    ),
    click.option(
        "--folds",
        type=click.IntRange(2),
        default=5,
        show_default=True,
        metavar="K",
        help="Search: parts that are kept apart, where --splits names none.",
    ),
    click.option(
        "--normals",
        type=click.IntRange(1),
        metavar="N",
        help="Search: take only so many normal frames, drawn at random.",
    ),
    click.option(
        "--minutes",
        type=click.FloatRange(0, min_open=True),
        metavar="N",
        help="Search: try nothing more after this time.",
    ),
    parameters_option("Search: where to begin, if not with the paper's values."),
    field_of_view_option,
    workers_option,
    click.option("--quiet", is_flag=True, help="Search: show no progress."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """What the options of the search say; the names are those of the command line."""

    wanted: bool
    trials: int
    objective: Any
    folds: int
    normals: int | None
    minutes: float | None
    parameters_file: Path | None
    circle: tuple[float, float, float] | str
    workers: int | None
    quiet: bool


def search_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets them as one argument `search`."""
    names = [field.name for field in fields(SearchOptions)]

    @functools.wraps(function)
    def gathered(**values: Any) -> Any:
        options = SearchOptions(**{name: values.pop(name) for name in names})
        _check_usage([name for name in names if name != "wanted"], wanted=options.wanted)
        return function(search=options, **values)

    command: Callable[..., Any] = gathered
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def run_search(
    inputs: tuple[Path, ...],
    labels: Path,
    out: Path,
    options: SearchOptions,
    *,
    target: "Target",
    layout: str | None,
    splits: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Search, write the files, and print what came out."""
    from capsieve.cli.output import say_first_run
    from capsieve.cli.progress import exam_progress
    from capsieve.cli.search_output import say_search
    from capsieve.engine.searching import search
    from capsieve.parameters import Parameters
    from capsieve.report.search_files import write_search

    file = options.parameters_file
    say_first_run()
    with interruptible(), exam_progress(quiet=options.quiet) as listener:
        outcome = search(
            inputs,
            labels,
            out,
            layout=layout,
            splits=splits,
            folds=options.folds,
            target_specificity=target.value,
            objective=options.objective,
            trials=options.trials,
            normals=options.normals,
            seed=seed,
            parameters=None if file is None else Parameters.load(file),
            field_of_view=field_choice(options.circle),
            workers=options.workers,
            seconds=None if options.minutes is None else 60 * options.minutes,
            progress=listener,
        )
    write_search(outcome, out)
    say_search(outcome, out, as_json=as_json)


def _check_usage(of_the_search: list[str], *, wanted: bool) -> None:
    """Refuse options that would do nothing."""
    context = click.get_current_context()
    # Of the operating point alone: a search has its own ways.
    others = ["frames", "sensitivity", "train_patients", "rounds", "reading_speed", "gap"]
    idle = [*others, "allow_leaks"] if wanted else of_the_search
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name in idle and source is click.core.ParameterSource.COMMANDLINE:
            which = "does nothing with" if wanted else "is an option of"
            raise click.UsageError(f"{option.opts[-1]} {which} --search.")
