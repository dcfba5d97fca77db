"""Running commands, and checks of how a command failed, without its wording."""

import subprocess
import sys
from typing import Any

from click.testing import CliRunner, Result

from capsieve.cli.main import cli

__all__ = ["assert_failed", "invoke", "run_command"]


def invoke(*arguments: object, **options: Any) -> Result:
    """Run a command line in this process."""
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], **options)


def run_command(*arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run a command line as a process of its own."""
    command = [sys.executable, "-m", "capsieve", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def assert_failed(result: Any, *named: object, code: int = 1) -> None:
    """Check the exit code, that one line is printed, and that it names these fields or paths."""
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    if code == 1:
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert line.startswith("capsieve: ")
    for name in named:
        assert str(name) in result.stderr
