"""State of the whole process: signals, output, warnings, and the life of workers.

Workers end with their parent, and Ctrl-C and output belong to the parent.
"""

import os
import signal
import threading
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing import resource_tracker


def prepare_worker(parent: int) -> None:
    """Prepare this process to work for the process with the id `parent`.

    OpenCV uses one thread, because every worker has one core. Ctrl-C, which the terminal sends to
    all processes, is ignored: the parent decides. The process ends when its parent is killed.
    """
    import cv2

    cv2.setNumThreads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()


def _exit_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def silence_output(errors: str = os.devnull) -> None:
    """Discard everything that this process prints, also from C libraries.

    What it prints as an error is appended to the file `errors`.
    """
    for stream, path in ((1, os.devnull), (2, errors)):
        file = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.dup2(file, stream)
        os.close(file)


_WARNINGS = threading.RLock()


@contextmanager
def ignored_warnings(message: str = "", category: type[Warning] = Warning) -> Generator[None]:
    """Ignore warnings of a category that begin with `message`, a regular expression.

    Python's filters belong to the process: if threads changed and restored them by turns, all
    warnings could stay ignored. So one thread at a time is in such a block.
    """
    with _WARNINGS, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message, category)
        yield


@contextmanager
def interrupt_blocked() -> Generator[None]:
    """Start processes that never receive Ctrl-C, not even before :func:`prepare_worker` runs.

    Processes and threads that are started in the block inherit the blocked signal. This process
    receives a pending Ctrl-C at the end of the block.
    """
    # Its start unblocks the signal, so it must not be started inside the block.
    resource_tracker.ensure_running()
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)
