"""Frames on demand, and the work behind them: an exam that is opened gets its index at once."""

import threading
from dataclasses import dataclass
from typing import Literal

from capsieve.errors import CapsieveError
from capsieve.report.formats import plain
from capsieve.review.catalogue import ExamFacts
from capsieve.review.frames import ExamFrames, OpenExams

__all__ = ["FrameDesk", "Preparing"]


@dataclass(frozen=True, slots=True)
class Preparing:
    """How far the index of an exam is.

    Attributes
    ----------
    state
        Frames can be shown in any state; until it is "ready", jumps may be slow.
    words
        What is being done, or why it failed.
    done, of
        How much of it.
    """

    state: Literal["waiting", "working", "ready", "failed"]
    words: str = ""
    done: int = 0
    of: int = 0


class _EndedError(Exception):
    """The server ends, and work in the background with it."""


class FrameDesk:
    """Gives frames of any exam, and prepares exams one after the other in the background."""

    def __init__(self) -> None:
        self._exams = OpenExams()
        self._states: dict[tuple[str, str], Preparing] = {}
        self._lock = threading.Lock()
        self._one_at_a_time = threading.Lock()
        self._ending = threading.Event()

    def frames(self, facts: ExamFacts) -> ExamFrames:
        """Return the frames of an exam.

        Raises
        ------
        FileError
            The exam cannot be read.
        """
        return self._exams.exam(facts.folder)

    def prepare(self, facts: ExamFacts) -> Preparing:
        """Begin to prepare an exam where nobody has, and return how far it is."""
        key = (facts.exam, facts.stamp)
        with self._lock:
            known = self._states.get(key)
            if known is not None and known.state != "failed":
                return known
            self._states[key] = Preparing("waiting")
        threading.Thread(
            target=self._prepare, args=(facts, key), name=f"prepare {facts.exam}", daemon=True
        ).start()
        return Preparing("waiting")

    def close(self) -> None:
        """End the work in the background, and close files."""
        self._ending.set()
        with self._one_at_a_time:
            self._exams.close()

    def _prepare(self, facts: ExamFacts, key: tuple[str, str]) -> None:
        def progress(what: str, done: int, of: int) -> None:
            if self._ending.is_set():
                raise _EndedError
            self._states[key] = Preparing("working", what, done, of)

        with self._one_at_a_time:
            try:
                if not self._ending.is_set():
                    self.frames(facts).prepare(progress=progress)
                self._states[key] = Preparing("ready")
            except _EndedError:
                self._states.pop(key, None)
            except CapsieveError as error:
                self._states[key] = Preparing("failed", plain(error))
            except Exception as error:  # whatever it is: the page must not wait for ever
                self._states[key] = Preparing("failed", f"{type(error).__name__}: {plain(error)}")
                raise
