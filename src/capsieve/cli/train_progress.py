"""The progress of ``capsieve train``: first exams, then fits."""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.progress import EVERY_S, exam_progress, live_bars

if TYPE_CHECKING:
    from capsieve.screening.settings import Listener, Progress

__all__ = ["TrainProgress", "train_progress"]


@contextmanager
def train_progress(*, quiet: bool = False) -> "Iterator[TrainProgress]":
    """Yield what listens to the screening, and what is told of the fits."""
    with ExitStack() as stack:
        yield TrainProgress(stack, quiet=quiet)


class TrainProgress:
    """Shows one thing at a time: a terminal bears a single live display.

    Parameters
    ----------
    stack
        Closes what is shown last.
    quiet
        Show nothing.
    """

    def __init__(self, stack: ExitStack, *, quiet: bool) -> None:
        self._stack = stack
        self._quiet = quiet
        self._exams: Listener | None = None
        self._bars: Any = None
        self._last = time.monotonic()
        self._said = ""

    def listen(self, progress: "Progress") -> None:
        """Take the progress of the screening."""
        if self._exams is None:
            self._exams = self._stack.enter_context(exam_progress(quiet=self._quiet))
        self._exams(progress)

    def tell(self, what: str, done: int, total: int) -> None:
        """Take what is done, steps done and steps to do."""
        if self._exams is not None:
            self._stack.close()  # the bars of the exams
            self._exams = None
        if self._quiet:
            return
        if sys.stderr.isatty():
            self._bar(what, done, total)
        elif what != self._said or time.monotonic() - self._last >= EVERY_S:
            self._said, self._last = what, time.monotonic()
            click.echo(f"{what}: {done} of {total}", err=True)

    def _bar(self, what: str, done: int, total: int) -> None:
        if self._bars is None:
            from rich.progress import TimeElapsedColumn

            self._bars = self._stack.enter_context(live_bars(TimeElapsedColumn()))
            self._task: Any = None
        if what != self._said:
            self._said = what
            if self._task is not None:
                self._bars.remove_task(self._task)
            self._task = self._bars.add_task(what, total=total)
        self._bars.update(self._task, completed=done, total=max(done, total))
