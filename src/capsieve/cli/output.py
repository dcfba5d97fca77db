"""Lines that several commands print."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from capsieve.labels import LabelProblem


def announce_compilation() -> None:
    """Print why the first run takes longer, if and when this command compiles kernels."""
    from capsieve.compiling import on_first_compilation

    on_first_compilation(_say_compiling)


def say(text: str, *, err: bool = False) -> None:
    """Print one line; control characters, also bidirectional ones, are replaced."""
    from capsieve.report.text import plain

    click.echo(plain(" ".join(text.split("\n"))), err=err)


def _say_compiling() -> None:
    """Print on stderr why the first run takes longer."""
    click.echo("First run: compiling the program. This takes half a minute, once.", err=True)


def say_cautions(
    leaks: Iterable[str], warnings: Iterable[str], problems: "Iterable[LabelProblem]"
) -> None:
    """Print leaks, warnings and problems of the labels on stderr, one line each."""
    from capsieve.plurals import number_of

    for leak in leaks:
        say(f"capsieve: leak, allowed: {leak}", err=True)
    for warning in warnings:
        say(f"capsieve: {warning[:1].upper()}{warning[1:]}", err=True)
    for problem in problems:
        examples = f" ({'; '.join(problem.examples[:3])})" if problem.examples else ""
        rows, used = number_of(problem.rows, "row"), "used" if problem.used else "not used"
        say(f"capsieve: {rows} of the labels {used}: {problem.what}{examples}", err=True)


def say_why(why: Sequence[str]) -> None:
    """Print the reasons for a decision, the first in bold if stdout is a terminal."""
    first, *rest = why
    click.secho(first, bold=True)
    for line in rest:
        click.echo(line)
