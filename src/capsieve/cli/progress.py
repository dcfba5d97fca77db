"""A progress bar on a terminal, plain lines every few seconds elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

__all__ = ["frame_progress"]

_EVERY_S = 5.0


@contextmanager
def frame_progress(
    what: str, total: int, *, quiet: bool = False
) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of frames finished since its last call."""
    if quiet:
        yield lambda count: None
    elif sys.stderr.isatty():
        yield from _bar(what, total)
    else:
        yield from _lines(what, total)


def _bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    started, finished = time.monotonic(), 0
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total, rate="")

        def advance(count: int) -> None:
            nonlocal finished
            finished += count
            rate = finished / max(time.monotonic() - started, 1e-9)
            progress.update(task, advance=count, rate=f"{rate:.0f} frames/s")

        yield advance


def _lines(what: str, total: int) -> Iterator[Callable[[int], None]]:
    started = last = time.monotonic()
    finished = 0

    def advance(count: int) -> None:
        nonlocal last, finished
        finished += count
        now = time.monotonic()
        if now - last >= _EVERY_S:
            last = now
            rate = finished / (now - started)
            left = (total - finished) / rate
            click.echo(
                f"{what}: {finished} of {total} frames, {rate:.0f} frames/s, {left:.0f} s left",
                err=True,
            )

    yield advance
