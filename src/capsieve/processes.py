"""How a process that works for another one behaves."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

__all__ = ["interrupt_blocked", "prepare_worker", "silence_output"]


def prepare_worker(parent: int) -> None:
    """Prepare this process to work for the process `parent`.

    It has a core of its own: OpenCV's threads would only get in the way. Ctrl-C goes to the whole
    group of processes; the parent decides what it means.
    """
    import cv2

    cv2.setNumThreads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()


def _leave_with(parent: int) -> None:
    """End this process when its parent is killed: a pool would let it wait for ever."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def silence_output() -> None:
    """Let nothing that this process prints reach the terminal, which belongs to its parent."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


@contextmanager
def interrupt_blocked() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, not even before they can say so themselves.

    Processes and threads that are started meanwhile never see the signal; this process gets it at
    the end of the block.
    """
    resource_tracker.ensure_running()  # it would lift the block if it were started below
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)
