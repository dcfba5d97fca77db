"""What an executor is: somewhere for tasks to run."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

__all__ = ["ATTEMPTS", "Executor", "Outcome"]

ATTEMPTS = 3
"""How often a task is begun whose worker dies under it; then it is given up and named."""

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Outcome(Generic[TaskT, ResultT]):
    """What became of a task.

    Attributes
    ----------
    task
        The task.
    result
        What the work returned; None where it failed.
    error
        What it raised, or the :class:`~capsieve.errors.WorkerError` that says that its workers
        died; None where it succeeded.
    """

    task: TaskT
    result: ResultT | None = None
    error: Exception | None = None


class Executor(AbstractContextManager["Executor"], Protocol):
    """Runs tasks in this process, in others or on other machines; used in a ``with`` statement.

    Entering it begins to start the workers and does not wait for them.
    """

    @property
    def workers(self) -> int:
        """How many tasks run at once."""
        ...

    @property
    def name(self) -> str:
        """What the exam's record calls it: "serial", "processes", "dask"."""
        ...

    def run(
        self, work: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]
    ) -> Iterator[Outcome[TaskT, ResultT]]:
        """Yield the outcome of every task, in the order in which they end.

        Tasks begin in their order, and few are under way at a time. `work` is a function of a
        module; tasks and results are pickled. An exception that the work raises is an outcome and
        is not tried again; a task whose worker dies is begun up to :data:`ATTEMPTS` times.
        """
        ...
