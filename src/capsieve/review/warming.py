"""Compiling in the background what evidence needs, before a reader asks for it.

Where no compiled code is kept, as on the first day and after an upgrade, the loops of a detector
take a minute to compile. That is done by a process of its own: in the server it would hold up the
frames, which share one interpreter with it. What it leaves in the cache is then loaded here.
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
from capsieve.parameters import Parameters
from capsieve.review.catalogue import ExamFacts
from capsieve.store.recall import Recalled
from capsieve.store.record import read_record

__all__ = ["Warming", "exam_of_each_kind", "go_through"]

_REST = 3.0  # seconds after the start, in which the page is opened and nothing else should run
_LOOK_EVERY = 0.2
_MOST_KINDS = 3
_MOST_LOOKED_AT = 50  # exams; a centre has thousands, and most by the same detector
_SIZE = 400  # more than detectors work on: the frame is made smaller, as frames of capsules are


class Warming:
    """Makes detectors ready in the background. It may be asked from several threads.

    Without :meth:`begin` nothing is done, and nobody waits.
    """

    def __init__(self) -> None:
        self._done = threading.Event()
        self._done.set()
        self._hurry = threading.Event()
        self._ending = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, folders: Callable[[], Iterable[Path]]) -> None:
        """Begin, once the page had its time to open.

        Parameters
        ----------
        folders
            Returns exams whose detectors to make ready.
        """
        self._done.clear()
        threading.Thread(target=self._work, args=(folders,), name="warming", daemon=True).start()

    def wait(self, wanted: Callable[[], bool]) -> bool:
        """Wait until all is ready; return whether somebody still wants it then."""
        while not self._done.is_set():
            self._hurry.set()
            if not wanted():
                return False
            self._done.wait(_LOOK_EVERY)
        return True

    def close(self) -> None:
        """End what is being done, without waiting for it."""
        self._ending.set()
        self._hurry.set()
        if self._process is not None:
            self._process.kill()

    def _work(self, folders: Callable[[], Iterable[Path]]) -> None:
        from capsieve.compiling import is_compiled

        # Whatever goes wrong goes wrong again, and is told, when a reader asks for evidence.
        with suppress(Exception):
            self._hurry.wait(_REST)
            chosen = [] if self._ending.is_set() else list(folders())
            if chosen and not is_compiled("evidence"):
                self._compile(chosen)
            if not self._ending.is_set():
                go_through(chosen)
        self._done.set()

    def _compile(self, folders: Iterable[Path]) -> None:
        """Let another process fill the cache."""
        with suppress(OSError), _process(folders) as self._process:
            if self._ending.is_set():  # just now, when there was nothing to be ended yet
                self._process.kill()
            self._process.wait()


def exam_of_each_kind(exams: Iterable[ExamFacts]) -> list[Path]:
    """Return the folders of a few exams that were screened by different detectors."""
    kinds: dict[str, Path] = {}
    for facts in islice(exams, _MOST_LOOKED_AT):
        with suppress(FileError):  # such an exam says so where it is listed
            record = read_record(facts.folder)
            kinds.setdefault(str(record["detector"].get("name")), facts.folder)
        if len(kinds) == _MOST_KINDS:
            break
    return list(kinds.values())


def go_through(folders: Iterable[Path]) -> None:
    """Ask the detectors of exams for the evidence of a made-up frame, and forget it.

    The paper's is asked in any case: others use its loops where they find a polyp.
    """
    from capsieve.paper.detector import PaperDetector
    from capsieve.review.evidence_detector import screening_detector
    from capsieve.review.evidence_view import evidence_view

    for folder in folders:
        with suppress(Exception):  # the others can be made ready all the same
            record = read_record(folder)
            detector = screening_detector(folder, record)
            for writeable in (False, True):  # code is compiled for each apart
                frame = _made_up(detector.parameters, writeable)
                evidence_view(frame, PaperDetector(detector.parameters))
                if detector.name != "paper":
                    evidence_view(frame, detector)


def _made_up(parameters: Parameters, writeable: bool) -> Recalled:
    pixels = _frame()
    pixels.flags.writeable = writeable
    view = FieldOfView("circle", _SIZE / 2, _SIZE / 2, 0.45 * _SIZE, 1.0)
    return Recalled(pixels, view, parameters, {}, "a made-up frame")


def _frame() -> NDArray[np.uint8]:
    """Return a frame with enough on it for every step: texture, and a bump that a ball fits."""
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
