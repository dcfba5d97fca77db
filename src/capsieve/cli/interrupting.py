"""Work that can be interrupted, by Ctrl-C or by SIGTERM."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def interruptible(*, kept: bool = True, overwrite: bool = False) -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C while the block runs, and print how to continue.

    Clusters end a run by SIGTERM. Python would exit without closing files or ending workers.

    Parameters
    ----------
    kept
        The same command continues the work; otherwise it starts again.
    overwrite
        ``--overwrite`` was given: with it the same command would remove the finished work.
    """
    usual = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        again = f"the same command{' without --overwrite' if overwrite else ''} continues the work"
        left = again if kept else "nothing was kept, and the same command starts again"
        click.echo(f"Interrupted; {left}.", err=True)
        raise
    finally:
        signal.signal(signal.SIGTERM, usual)
