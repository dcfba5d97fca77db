"""One attempt at a task, made where the worker is: errors come back as values."""

import pickle
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from capsieve.engine.executors.executor import Outcome
from capsieve.errors import CapsieveError, WorkerError

__all__ = ["attempt", "died", "words"]

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

_LONGEST = 200  # characters of a task in a message


def attempt(
    work: Callable[[TaskT], ResultT], task: TaskT
) -> tuple[ResultT | None, Exception | None]:
    """Return what the work made of a task, and what it raised.

    An exception that would not survive the way between processes would look like a worker that
    died; so it is replaced by a :class:`~capsieve.errors.WorkerError` that says the same.
    """
    try:
        return work(task), None
    except SystemExit:  # it would end the worker
        return None, WorkerError(f"SystemExit ended the work on {words(task)}")
    except Exception as error:
        if not isinstance(error, CapsieveError):  # a mistake in the program: where was it?
            error.add_note("".join(traceback.format_exception(error)))
        return None, _portable(error)


def _portable(error: Exception) -> Exception:
    """Return an exception that can be pickled, and be read again."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return WorkerError(f"{type(error).__name__}: {error}")
    return error


def words(task: object) -> str:
    """Return how a message calls a task."""
    text = " ".join(str(task).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def died(task: TaskT, times: int) -> Outcome[TaskT, Any]:
    """Return the outcome of a task whose workers died under it."""
    return Outcome(
        task, error=WorkerError(f"the worker died {times} times while it worked on {words(task)}")
    )
