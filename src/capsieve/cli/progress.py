"""Progress of a command: one bar over all its stages on a terminal, lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import Progress as LiveBars
    from rich.progress import ProgressColumn

    from capsieve.screening.settings import Listener, Progress

EVERY_S = 5.0
"""Seconds between two lines, if stderr is not a terminal."""

Show = Callable[[str, float, str], None]
"""Takes the stage, the fraction of the whole work that is done, and further text."""


class Bar:
    """The progress through stages, each with a weight: its part of the whole time."""

    def __init__(self, stages: Mapping[str, float], show: Show) -> None:
        self._stages = stages
        self._show = show
        self._stage = ""

    def start(self, stage: str, fraction: float = 0.0) -> None:
        """Show that a stage starts, and that those before it are done."""
        self._stage = stage
        self.update(fraction)

    def update(self, fraction: float, words: str = "") -> None:
        """Show the fraction of the stage that is done."""
        names = list(self._stages)
        before = sum(self._stages[name] for name in names[: names.index(self._stage)])
        done = before + min(max(fraction, 0.0), 1.0) * self._stages[self._stage]
        self._show(self._stage, done / sum(self._stages.values()), words)


@contextmanager
def progress_bar(stages: Mapping[str, float], *, quiet: bool = False) -> Iterator[Bar]:
    """Yield a bar over stages with these weights, shown from the start; if quiet, nothing is."""
    if quiet:
        yield Bar(stages, lambda stage, fraction, words: None)
    elif sys.stderr.isatty():
        from rich.progress import TextColumn, TimeElapsedColumn

        with live_bars(TextColumn("{task.fields[words]}", markup=False), count=False) as bars:
            bars.columns = (*bars.columns[:-1], TimeElapsedColumn(), bars.columns[-1])
            task = bars.add_task(next(iter(stages)), total=1.0, words="")

            def show(stage: str, fraction: float, words: str) -> None:
                bars.update(task, description=stage, completed=fraction, words=words)

            yield Bar(stages, show)
            bars.update(task, completed=1.0, words="")
    else:
        yield Bar(stages, _lines())


def _lines() -> Show:
    from capsieve.report.text import plain

    last = time.monotonic()

    def show(stage: str, fraction: float, words: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < EVERY_S:
            return
        last = now
        with suppress(OSError):  # a full disk or a closed pipe does not stop the work
            line = f"{stage}: {100 * fraction:.0f} %{f', {words}' if words else ''}"
            click.echo(plain(line), err=True)

    return show


@contextmanager
def stage_progress(
    stages: Mapping[str, float], *, quiet: bool = False
) -> Iterator[Callable[[str, float], None]]:
    """Yield a function that takes a stage and the fraction of it that is done."""
    with progress_bar(stages, quiet=quiet) as bar:

        def listen(stage: str, fraction: float) -> None:
            bar.start(stage, fraction)

        yield listen


@contextmanager
def frame_progress(
    what: str, total: int, *, quiet: bool = False
) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of frames finished since its last call."""
    with progress_bar({what: 1.0}, quiet=quiet) as bar:
        bar.start(what)
        yield frame_counter(bar, total)


def frame_counter(bar: Bar, total: int) -> Callable[[int], None]:
    """Return a function that takes the number of frames finished since its last call."""
    rate, finished = _Rate(), 0

    def advance(count: int) -> None:
        nonlocal finished
        finished += count
        fraction = finished / max(total, 1)
        bar.update(fraction, f"{finished:,} of {total:,} frames{rate.words(finished, fraction)}")

    return advance


@contextmanager
def exam_progress(what: str = "Scoring frames", *, quiet: bool = False) -> "Iterator[Listener]":
    """Yield a listener for :func:`capsieve.screen`, with one bar over all exams."""
    with progress_bar({what: 1.0}, quiet=quiet) as bar:
        bar.start(what)
        yield exam_listener(bar)


def exam_listener(bar: Bar) -> "Listener":
    """Return a listener for :func:`capsieve.screen` that shows the progress over all exams."""
    rate = _Rate()
    exams: dict[int, Progress] = {}

    def listen(progress: "Progress") -> None:
        exams[progress.number] = progress
        done = [each.done / each.total if each.total else 1.0 for each in exams.values()]
        fraction = sum(done) / progress.exams
        new = sum(each.done - each.resumed for each in exams.values())  # not of an earlier run
        frames = sum(each.done for each in exams.values())
        which = f"exam {progress.number} of {progress.exams}, " if progress.exams > 1 else ""
        words = f"{which}{frames:,} frames{rate.words(new, fraction)}"
        bar.update(fraction, words if fraction < 1 else f"{frames:,} frames, writing results")

    return listen


class _Rate:
    """Frames per second and the time left, since the first frames were finished.

    The time before is that of reading files, starting processes and compiling.
    """

    def __init__(self) -> None:
        self._start: tuple[float, int, float] | None = None

    def words(self, frames: int, fraction: float) -> str:
        now = time.monotonic()
        if self._start is None:
            if frames:
                self._start = now, frames, fraction
            return ""
        began, first, before = self._start
        seconds, new = now - began, fraction - before
        if seconds <= 0 or frames <= first or new <= 0:
            return ""
        left = _duration(seconds * (1 - fraction) / new)
        return f", {(frames - first) / seconds:.3g} frames/s, {left} left"


def _duration(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60:02d} s"


def live_bars(last: "ProgressColumn", *, count: bool = True) -> "LiveBars":
    """Return bars on stderr: description, bar, count (or percentage), and a last column."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as LiveBars

    what = TextColumn("{task.description}", markup=False)
    number = MofNCompleteColumn() if count else TaskProgressColumn()
    return LiveBars(what, BarColumn(), number, last, console=Console(stderr=True))
