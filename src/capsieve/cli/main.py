"""The ``capsieve`` command: its sub-commands, and how it fails.

Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted. Only click is imported here:
each sub-command's module is loaded when it runs, and heavy libraries when they are needed.
"""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from capsieve._version import __version__
from capsieve.errors import CapsieveError

__all__ = ["cli", "main"]

_EXAMPLE = """\b
Example:
  capsieve demo
  capsieve screen exam.mp4 -o results
  capsieve explain frame.png -o panels.png
  capsieve evaluate results --labels labels.csv -o evaluation
"""

# Name, module below capsieve.cli, line in the overview.
_COMMANDS = {
    "calibrate": ("calibrate", "Choose the operating point."),
    "demo": ("demo", "Render, screen and evaluate a synthetic study."),
    "evaluate": ("evaluate", "Evaluate results, or scores of any program, against labels."),
    "explain": ("explain", "Show the steps of the algorithm for a frame, and why it was decided."),
    "flag": ("flag", "Flag the frames of screened exams by another rule."),
    "model": ("model", "Look into a model file: its card, and how it is run."),
    "report": ("report", "Write the report of a reading, as HTML and PDF."),
    "review": ("review", "Read, decide and sign exams in the browser."),
    "robustness": (
        "robustness",
        "Change each parameter a little: how much do the results change?",
    ),
    "screen": ("screen", "Screen whole exams: videos, folders, archives."),
    "train": ("train", "Train a detector on labelled frames, and write it with its card."),
    "search": ("search", "Search parameters of the paper's detector on labelled frames."),
    "splits": ("splits", "Split labelled frames by patient or by blocks, never at random."),
    "phantom": ("phantom", "Render synthetic exams with their truth."),
    "parameters": ("parameters", "Print the parameters of the paper's detector as TOML."),
}


class _Failure(click.ClickException):
    """One line on stderr, and exit code 1."""

    def show(self, file: Any = None) -> None:
        from capsieve.report.text import plain

        click.echo(f"capsieve: {plain(self.format_message())}", file=file, err=file is None)


class _Commands(click.Group):
    """A group that imports a sub-command's module only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"capsieve.cli.{_COMMANDS[cmd_name][0]}")
        return module.command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except CapsieveError as error:
            raise _Failure(" ".join(str(error).split())) from error


@click.group(
    cls=_Commands, epilog=_EXAMPLE, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="capsieve")
def cli() -> None:
    """Screen capsule-endoscopy exams for polyps. Research software, not a medical device."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    _open_closed_streams()
    warnings.showwarning = _show_warning
    try:
        code = cli.main(args=arguments, prog_name="capsieve", standalone_mode=False)
        if sys.stdout is not None:  # None where it was closed before we came
            sys.stdout.flush()
    except click.Abort:  # click's name for Ctrl-C
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        _forget_stdout()
        sys.exit(1)
    except OSError as error:  # printing failed: a full disk behind a redirection
        _forget_stdout()
        click.echo(f"capsieve: cannot print: {error.strerror or error}", err=True)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _open_closed_streams() -> None:
    """Send output to nowhere if a stream is closed: another file would get its number."""
    import os

    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free number
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 for the whole run


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"capsieve: warning: {message}", err=True)


def _forget_stdout() -> None:
    """The reader of the output has closed it: let Python's last flush at exit fail silently."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
