"""Which rows of a source are still in use, and why the others are not."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.labels.delimited import EXAMPLES
from capsieve.statistics.labels.label_set import LabelProblem

__all__ = ["Ledger", "Say"]

Say = Callable[[int], str]
"""What is to be said of a row."""


class Ledger:
    """The rows that are still in use, and the problems so far.

    Parameters
    ----------
    count
        How many rows there are.
    name_rows
        As in :class:`~capsieve.statistics.labels.draft.Draft`.
    say
        What names the frame of a row, where nothing else is to be said of it.
    problems
        What was not clear already.
    """

    def __init__(
        self,
        count: int,
        *,
        name_rows: Callable[[Sequence[int]], list[str]],
        say: Say,
        problems: Sequence[LabelProblem],
    ) -> None:
        self.used = np.ones(count, bool)
        self.problems = list(problems)
        self.say = say
        self.name_rows = name_rows

    def note(
        self, rows: NDArray[Any], what: str, say: Say | None = None, *, used: bool = False
    ) -> None:
        """Count rows, by their places, and name the first few."""
        if len(rows):
            named = rows[:EXAMPLES].tolist()
            said = map(say or self.say, named)
            examples = zip(self.name_rows(named), said, strict=True)
            lines = tuple(f"{where}: {text}" for where, text in examples)
            self.problems.append(LabelProblem(what, len(rows), lines, used))

    def drop(self, mask: NDArray[np.bool_], what: str, say: Say | None = None) -> None:
        """Use the rows of a mask no longer; those that went before are not counted again."""
        mask = mask & self.used
        self.note(np.flatnonzero(mask), what, say)
        self.used &= ~mask

    def places(self) -> NDArray[np.int64]:
        """Return the rows in use."""
        return np.flatnonzero(self.used)
