"""Checks of how a command failed, without its wording."""

from typing import Any

__all__ = ["assert_failed"]


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
