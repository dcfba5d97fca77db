"""Worker processes."""

import signal
import subprocess
import sys
import threading
import warnings
from contextlib import suppress

import pytest

from capsieve.processes import ignored_warnings, interrupt_blocked

SILENT = """
import os, sys
from capsieve.processes import silence_output
silence_output()
print("to standard output", flush=True)
print("to standard error", file=sys.stderr, flush=True)
os.write(1, b"past Python")
"""

WORKER = """
import os, signal, time
import cv2
from capsieve.processes import prepare_worker
prepare_worker(os.getppid())
signal.raise_signal(signal.SIGINT)
print("works on with", cv2.getNumThreads(), "thread", flush=True)
time.sleep(30)
"""

PARENT = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", sys.argv[1]])
time.sleep(30)
"""


def test_a_silenced_process_prints_nothing():
    done = subprocess.run([sys.executable, "-c", SILENT], capture_output=True, check=True)
    assert done.stdout == done.stderr == b""


def test_a_worker_ignores_ctrl_c_and_ends_with_its_killed_parent():
    command = [sys.executable, "-c", PARENT, WORKER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "works on with 1 thread\n"
        parent.send_signal(signal.SIGKILL)
        # The child holds the other end of the pipe: it ends when the child does.
        rest, _ = parent.communicate(timeout=20)
    assert rest == ""


def test_an_interrupt_is_delayed_to_the_end_of_the_block():
    seen: list[int] = []
    usual = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        with interrupt_blocked():
            signal.raise_signal(signal.SIGINT)
            assert seen == []
        assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, usual)


def test_the_signal_mask_is_restored_after_the_block():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with interrupt_blocked():
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_the_signal_mask_is_restored_after_a_failure():
    with pytest.raises(ZeroDivisionError), interrupt_blocked():
        _ = 1 / 0
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_threads_that_ignore_warnings_leave_the_filters_as_they_were():
    before = list(warnings.filters)
    entered, leave = threading.Barrier(2, timeout=0.2), threading.Event()

    def ignore(first: bool) -> None:
        with ignored_warnings():
            with suppress(threading.BrokenBarrierError):  # both can never be inside
                entered.wait()
            if first:
                leave.wait(1)

    threads = [threading.Thread(target=ignore, args=(first,)) for first in (True, False)]
    for thread in threads:
        thread.start()
    leave.set()
    for thread in threads:
        thread.join()
    assert warnings.filters == before
