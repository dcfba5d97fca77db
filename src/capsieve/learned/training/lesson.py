"""What a model on features learns from at a time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.balance import balanced_weights
from capsieve.learned.training.examples import Examples
from capsieve.statistics.judged import POLYP

__all__ = ["Lesson", "lesson_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """Some rows of the examples, and how much each counts.

    Attributes
    ----------
    examples
        All frames.
    rows
        Those to learn from.
    weights
        One for each of the rows, above 0.
    seed
        What is drawn, is drawn from this.
    """

    examples: Examples
    rows: NDArray[np.int64]
    weights: NDArray[np.float64]
    seed: int

    @property
    def values(self) -> NDArray[np.float32]:
        """The features of each row."""
        return self.examples.values[self.rows]

    @property
    def polyp(self) -> NDArray[np.bool_]:
        """Whether each row shows a polyp."""
        return self.examples.truth[self.rows] == POLYP


def lesson_of(examples: Examples, rows: NDArray[np.int64], *, seed: int) -> Lesson:
    """Return the lesson of these rows, with balanced weights.

    Rows that weigh nothing are left out: those that
    :func:`capsieve.learned.training.balance.usable` does not name.
    """
    weights = balanced_weights(examples, rows)
    return Lesson(examples, rows[weights > 0], weights[weights > 0], seed)
