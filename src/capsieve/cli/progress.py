"""A progress bar on a terminal, plain lines every few seconds elsewhere."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import accumulate
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress as LiveBars
    from rich.progress import ProgressColumn

    from capsieve.screening.settings import Listener, Progress

__all__ = ["EVERY_S", "exam_progress", "frame_progress", "live_bars", "stage_progress"]

EVERY_S = 5.0
"""Seconds between two lines, if stderr is not a terminal."""

_RECENT_S = 60.0  # what is left is estimated from the last minute: finished stages took no time

Show = Callable[[str, int, int, str], None]
"""Takes the task, the units done, all units, and further text such as the rate."""


@contextmanager
def frame_progress(
    what: str, total: int, *, quiet: bool = False
) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of frames finished since its last call."""
    with _display(quiet=quiet) as show:
        rate = _Rate()
        finished = 0

        def advance(count: int) -> None:
            nonlocal finished
            finished += count
            show(what, finished, total, rate.words(finished, total))

        yield advance


@contextmanager
def exam_progress(*, quiet: bool = False) -> "Iterator[Listener]":
    """Yield a listener for :func:`capsieve.screen`."""
    with _display(quiet=quiet) as show:
        rates: dict[int, _Rate] = {}

        def listen(progress: "Progress") -> None:
            rate = rates.setdefault(progress.number, _Rate())
            count = f"{progress.number} of {progress.exams} " if progress.exams > 1 else ""
            words = rate.words(progress.done, progress.total, before=progress.resumed)
            show(f"Exam {count}{progress.exam}", progress.done, progress.total, words)

        yield listen


@contextmanager
def stage_progress(
    stages: Mapping[str, float], *, quiet: bool = False
) -> Iterator[Callable[[str, float], None]]:
    """Yield a function that takes a stage and its finished fraction; there is one bar for all.

    `stages` are the stages in their order with their usual parts of the time.
    """
    whole = sum(stages.values())
    before = dict(zip(stages, accumulate(stages.values(), initial=0.0), strict=False))
    recent: deque[tuple[float, float]] = deque()  # times and percentages

    with _display(quiet=quiet, unit="%") as show:

        def listen(stage: str, fraction: float) -> None:
            now, done = time.monotonic(), 100 * (before[stage] + fraction * stages[stage]) / whole
            recent.append((now, done))
            while recent[0][0] < now - _RECENT_S:
                recent.popleft()
            since, gained = now - recent[0][0], done - recent[0][1]
            left = f", {_duration((100 - done) * since / gained)} left" if gained > 0 else ""
            show("Study", int(done), 100, stage + left)

        yield listen


class _Rate:
    """Frames per second since the start, and the time that is left."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def words(self, finished: int, total: int, *, before: int = 0) -> str:
        count = finished - before  # those of an earlier run took no time
        if count <= 0:
            return ""
        rate = count / max(time.monotonic() - self._started, 1e-9)
        return f"{rate:.0f} frames/s, {_duration((total - finished) / rate)} left"


def _duration(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60:02d} s"


@contextmanager
def _display(*, quiet: bool, unit: str = "frames") -> Iterator[Show]:
    if quiet:
        yield lambda what, done, total, words: None
    elif sys.stderr.isatty():
        yield from _bar()
    else:
        yield from _lines(unit)


def live_bars(last: "ProgressColumn") -> "LiveBars":
    """Return bars on stderr: what, the bar, how many of how many, and a last column."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as LiveBars

    what = TextColumn("{task.description}", markup=False)
    return LiveBars(what, BarColumn(), MofNCompleteColumn(), last, console=Console(stderr=True))


def _bar() -> Iterator[Show]:
    from rich.progress import TaskID, TextColumn

    tasks: dict[str, TaskID] = {}
    with live_bars(TextColumn("{task.fields[words]}", markup=False)) as progress:

        def show(what: str, done: int, total: int, words: str) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total, words="")
            progress.update(tasks[what], completed=done, total=max(done, total), words=words)
            if done >= total and len(tasks) > 1:  # a thousand exams are not a thousand bars
                progress.remove_task(tasks.pop(what))

        yield show


def _lines(unit: str) -> Iterator[Show]:
    from capsieve.report.text import plain

    last = time.monotonic()

    def show(what: str, done: int, total: int, words: str) -> None:
        nonlocal last
        now = time.monotonic()
        if done and now - last >= EVERY_S:
            last = now
            tail = f", {words}" if words else ""
            with suppress(OSError):  # a full disk or a closed pipe does not stop the work
                click.echo(plain(f"{what}: {done} of {total} {unit}{tail}"), err=True)

    yield show
