"""Work that may be stopped: Ctrl-C and a kill end it the same way, tidily."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click

__all__ = ["interruptible"]


@contextmanager
def interruptible(*, kept: bool = True, overwrite: bool = False) -> Iterator[None]:
    """Take SIGTERM for Ctrl-C while the work goes on, and say what a stop leaves.

    A cluster or a shutdown ends a run by SIGTERM. Python would then leave without closing a file
    or ending a worker; as a KeyboardInterrupt it goes the way of every other end.

    Parameters
    ----------
    kept
        The same command goes on from what is done; otherwise it begins again.
    overwrite
        ``--overwrite`` was given: with it the same command would remove what is done.
    """
    usual = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        again = f"the same command{' without --overwrite' if overwrite else ''} goes on from here"
        left = again if kept else "nothing was kept, and the same command begins again"
        click.echo(f"Interrupted; {left}.", err=True)
        raise
    finally:
        signal.signal(signal.SIGTERM, usual)
