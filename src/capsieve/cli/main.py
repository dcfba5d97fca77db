"""The ``capsieve`` command: its sub-commands, and how it fails.

Exit codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted. Only click is imported here:
each sub-command's module is loaded when it runs, and heavy libraries when they are needed.
"""

import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from capsieve._version import __version__
from capsieve.errors import CapsieveError

_EXAMPLE = """\b
Example:
  capsieve demo
  capsieve screen exam.mp4 -o results
  capsieve explain frame.png -o panels.png
  capsieve evaluate results --labels labels.csv -o evaluation
"""

# By task: the name, which is also the module below capsieve.cli (but restore is in backup), and the
# line in the overview.
_COMMANDS = {
    "Start": {
        "demo": "Run the whole workflow on synthetic exams.",
    },
    "Screen exams": {
        "screen": "Score every frame of videos, folders or archives.",
        "flag": "Change which frames of screened exams are flagged.",
        "explain": "Show why a frame was flagged or not.",
    },
    "Read exams": {
        "review": "Start the review app.",
        "users": "Add, list and remove users of the review app.",
        "report": "Write the reading report.",
        "backup": "Copy the decisions into one file.",
        "restore": "Restore the decisions of a backup.",
    },
    "Measure and improve": {
        "evaluate": "Compare results with labels.",
        "calibrate": "Choose a threshold or share for a target.",
        "robustness": "Measure the effect of small parameter changes.",
        "search": "Search the paper's parameters.",
        "splits": "Create folds grouped by patient.",
        "train": "Train a detector and export it to ONNX.",
        "model": "Show the card of a model.",
        "parameters": "Print the parameters of the paper's detector.",
        "reproduce": "Repeat the paper's study, on synthetic exams or yours.",
    },
    "Synthetic data": {
        "phantom": "Render synthetic exams with ground truth.",
    },
}
_LEAST_MEMORY = 1_500_000_000  # bytes of address space; most of it is never used
_NAMES = [name for commands in _COMMANDS.values() for name in commands]


class _Failure(click.ClickException):
    """One line on stderr, and exit code 1."""

    def show(self, file: Any = None) -> None:
        from capsieve.report.text import plain

        click.echo(f"capsieve: {plain(self.format_message())}", file=file, err=file is None)


class _Commands(click.Group):
    """A group that imports a sub-command's module only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return _NAMES

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _NAMES:
            return None
        if cmd_name == "restore":
            return import_module("capsieve.cli.backup").restore_command
        return import_module(f"capsieve.cli.{cmd_name}").command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _NAMES and not args[0].startswith("-"):
            close = get_close_matches(args[0], _NAMES, n=1)
            question = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}.{question}")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _refuse_repeated_options(click.Context(command, ctx, name), rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _NAMES))
        for task, commands in _COMMANDS.items():
            with formatter.section(task):
                formatter.write_dl([(name.ljust(width), line) for name, line in commands.items()])

    def invoke(self, ctx: click.Context) -> Any:
        try:
            _check_memory_limit()
            return super().invoke(ctx)
        except CapsieveError as error:
            raise _Failure(" ".join(str(error).split())) from error
        except MemoryError as error:
            raise _Failure(
                "the memory that this process may use is full; raise its limit, or use fewer "
                "workers or smaller files"
            ) from error


def _refuse_repeated_options(ctx: click.Context, args: list[str]) -> None:
    """Refuse an option that is given twice: click would use the last value without a word."""
    try:
        _, _, given = ctx.command.make_parser(ctx).parse_args(list(args))
    except click.UsageError:  # it is raised again when the command runs
        return
    options = (each for each in given if isinstance(each, click.Option))
    for option, count in Counter(options).items():
        if count > 1 and not (option.multiple or option.is_flag):
            raise click.UsageError(f"{option.opts[-1]} is given {count} times; give one value", ctx)


def _check_memory_limit() -> None:
    """Refuse a limit that makes libraries crash, or wait for ever, when they are imported."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_MEMORY:
        raise _Failure(
            f"the memory of this process is limited to {limit / 1e9:.1f} GB (ulimit -v), but "
            f"capsieve needs {_LEAST_MEMORY / 1e9:.1f} GB of address space; raise the limit"
        )


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
        if sys.stdout is not None:  # None if it was closed before the start
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
