"""What a run tells while it works."""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Listener", "Progress"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    exam
        The exam at work.
    number, exams
        It is the number-th (from 1) of so many.
    done, total
        Frames finished, also by an earlier run, and frames expected.
    resumed
        Of those done: finished by an earlier run.
    flagged
        Frames flagged so far.
    """

    exam: str
    number: int
    exams: int
    done: int
    total: int
    resumed: int
    flagged: int


Listener = Callable[[Progress], None]
