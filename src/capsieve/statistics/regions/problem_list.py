"""Gathering what is not clear: every kind of problem once, with its count and first examples."""

from collections.abc import Iterable

from capsieve.statistics.labels.label_set import LabelProblem

__all__ = ["ProblemList", "merge_problems"]

_EXAMPLES = 5


class ProblemList:
    """Problems by kind, in the order in which they were first met."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, bool], int] = {}
        self._examples: dict[tuple[str, bool], list[str]] = {}

    def add(self, what: str, example: str = "", *, rows: int = 1, used: bool = False) -> None:
        """Count a problem; see :class:`~capsieve.statistics.labels.label_set.LabelProblem`."""
        key = (what, used)
        self._rows[key] = self._rows.get(key, 0) + rows
        examples = self._examples.setdefault(key, [])
        if example and len(examples) < _EXAMPLES:
            examples.append(example)

    def result(self) -> tuple[LabelProblem, ...]:
        """Return all that was added."""
        return tuple(
            LabelProblem(what, rows, tuple(self._examples[what, used]), used)
            for (what, used), rows in self._rows.items()
        )


def merge_problems(*lists: Iterable[LabelProblem]) -> tuple[LabelProblem, ...]:
    """Return the problems of several steps as one list, each kind once."""
    merged = ProblemList()
    for problem in (problem for one in lists for problem in one):
        merged.add(problem.what, rows=problem.rows, used=problem.used)
        for example in problem.examples:
            merged.add(problem.what, example, rows=0, used=problem.used)
    return merged.result()
