"""Frames on demand, and the work behind them: an exam that is opened gets its index at once."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from capsieve.errors import CapsieveError
from capsieve.report.formats import plain
from capsieve.review.catalogue import ExamFacts
from capsieve.review.frames import ExamFrames, OpenExams

__all__ = ["FrameDesk", "Preparing"]

_FAILED_FOR = 10.0  # seconds for which a failure is told before somebody's asking tries again


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
    since
        When that was, on a clock that only goes forward.
    """

    state: Literal["waiting", "working", "ready", "failed"]
    words: str = ""
    done: int = 0
    of: int = 0
    since: float = field(default_factory=time.monotonic, compare=False)

    @property
    def may_begin(self) -> bool:
        """Whether it failed long enough ago for another try."""
        return self.state == "failed" and time.monotonic() - self.since >= _FAILED_FOR


class _EndedError(Exception):
    """The server ends, and work in the background with it."""


class FrameDesk:
    """Gives frames of any exam, and prepares exams one after the other in the background.

    Parameters
    ----------
    say
        Told in one sentence, once, why an exam could not be prepared.
    """

    def __init__(self, *, say: Callable[[str], None] | None = None) -> None:
        self._exams = OpenExams()
        self._say = say or (lambda _: None)
        self._said: set[str] = set()
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
        """Begin to prepare an exam where nobody has, and return how far it is.

        One that failed is tried again after a few seconds: until then whoever asks learns why.
        """
        key = (facts.exam, facts.stamp)
        with self._lock:
            known = self._states.get(key)
            if known is not None and not known.may_begin:
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
                self._fail(facts, key, plain(error))
            except Exception as error:  # whatever it is: the page must not wait for ever
                self._fail(facts, key, f"{type(error).__name__}: {plain(error)}")
                raise

    def _fail(self, facts: ExamFacts, key: tuple[str, str], why: str) -> None:
        """Note why an exam could not be prepared; for the page without where the results lie."""
        told = why.replace(f"{facts.folder.parent}/", "").removesuffix(".")
        self._states[key] = Preparing("failed", f"{told[:1].upper()}{told[1:]}.")
        if why not in self._said:
            self._said.add(why)
            self._say(f"{facts.exam} could not be prepared: {why}")
