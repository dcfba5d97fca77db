"""Compilation of the detectors' code in the background, before a reader asks for evidence.

Without compiled code in the cache, as after an installation or an upgrade, the loops of a detector
take a minute to compile. A separate process does that: in the server it would delay the frames,
which share the interpreter. The server then loads the compiled code from the cache.
"""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.frames import FieldOfView
from capsieve.review.catalogue import ExamFacts
from capsieve.store.record import read_record

__all__ = ["Warming", "exam_of_each_kind", "go_through"]

_REST = 3.0  # seconds after the start; meanwhile the page is opened
_LOOK_EVERY = 0.2
_MOST_KINDS = 3
_MOST_LOOKED_AT = 50  # exams; a centre has thousands, and most by the same detector
_SIZE = 400  # more than detectors work on: the frame is made smaller, as frames of capsules are


class Warming:
    """Compiles detectors in the background. Threads may share it.

    Without :meth:`begin` it does nothing, and :meth:`wait` returns immediately.
    """

    def __init__(self) -> None:
        self._done = threading.Event()
        self._done.set()
        self._hurry = threading.Event()
        self._ending = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, folders: Callable[[], Iterable[Path]]) -> None:
        """Start after a short delay, for the page to open.

        Parameters
        ----------
        folders
            Returns exams; their detectors are compiled.
        """
        self._done.clear()
        threading.Thread(target=self._work, args=(folders,), name="warming", daemon=True).start()

    def wait(self, wanted: Callable[[], bool]) -> bool:
        """Wait until all detectors are compiled; return whether the result is still wanted."""
        while not self._done.is_set():
            self._hurry.set()
            if not wanted():
                return False
            self._done.wait(_LOOK_EVERY)
        return True

    def close(self) -> None:
        """Stop the work without waiting for its end."""
        self._ending.set()
        self._hurry.set()
        if self._process is not None:
            self._process.kill()

    def _work(self, folders: Callable[[], Iterable[Path]]) -> None:
        from capsieve.compiling import is_compiled

        # The same error occurs again, and is reported, when a reader asks for evidence.
        with suppress(Exception):
            self._hurry.wait(_REST)
            chosen = [] if self._ending.is_set() else list(folders())
            if chosen and not is_compiled("evidence"):
                self._compile(chosen)
            if not self._ending.is_set():
                go_through(chosen)
        self._done.set()

    def _compile(self, folders: Iterable[Path]) -> None:
        """Fill the cache in another process."""
        with suppress(OSError), _process(folders) as self._process:
            if self._ending.is_set():  # set before the process existed
                self._process.kill()
            self._process.wait()


def exam_of_each_kind(exams: Iterable[ExamFacts]) -> list[Path]:
    """Return the folders of a few exams that were screened by different detectors."""
    kinds: dict[str, Path] = {}
    for facts in islice(exams, _MOST_LOOKED_AT):
        with suppress(FileError):  # the list of exams shows the error
            record = read_record(facts.folder)
            kinds.setdefault(str(record["detector"].get("name")), facts.folder)
        if len(kinds) == _MOST_KINDS:
            break
    return list(kinds.values())


def go_through(folders: Iterable[Path]) -> None:
    """Compute the evidence of a synthetic frame with the detectors of exams.

    The paper's detector is always included: others use its loops when they find a polyp.
    """
    from capsieve.detectors import parameters_of, rule_parameter
    from capsieve.paper.detector import PaperDetector
    from capsieve.review.evidence_detector import screening_detector
    from capsieve.review.evidence_view import evidence_view

    circle = FieldOfView("circle", _SIZE / 2, _SIZE / 2, 0.45 * _SIZE, 1.0)
    for folder in folders:
        with suppress(Exception):  # the other detectors can still be compiled
            record = read_record(folder)
            detector = screening_detector(folder, record)
            for writeable in (False, True):  # numba compiles for each separately
                frame = _frame()
                frame.flags.writeable = writeable
                evidence_view(frame, circle, PaperDetector(parameters_of(detector)))
                if not rule_parameter(detector.identity):
                    evidence_view(frame, circle, detector)


def _frame() -> NDArray[np.uint8]:
    """Return a frame with texture and with a bump that a ball fits."""
    rows, cols = np.mgrid[:_SIZE, :_SIZE].astype(np.float32)
    distance = np.hypot(rows - 0.5 * _SIZE, cols - 0.55 * _SIZE)
    waves = 6 * np.sin(rows / 3) * np.cos(cols / 4)
    level = 110 + 90 * np.exp(-((distance / (0.1 * _SIZE)) ** 2)) + waves
    return np.stack([level, 0.6 * level, 0.4 * level], axis=-1).astype(np.uint8)


def _process(folders: Iterable[Path]) -> "subprocess.Popen[bytes]":
    nothing = subprocess.DEVNULL
    command = [sys.executable, "-P", "-m", __name__, *map(str, folders)]
    return subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)


if __name__ == "__main__":
    from capsieve.compiling import mark_compiled

    go_through(map(Path, sys.argv[1:]))
    mark_compiled("evidence")
