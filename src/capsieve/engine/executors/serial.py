"""Tasks one after the other, in this process."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from capsieve.engine.executors.executor import Outcome

__all__ = ["Serial"]

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


class Serial:
    """Runs tasks in this process; nothing is pickled, and a crash is the end of it."""

    name = "serial"
    workers = 1

    def __enter__(self) -> "Serial":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was started."""

    def run(
        self, work: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]
    ) -> Iterator[Outcome[TaskT, ResultT]]:
        """Yield the outcome of every task, in their order."""
        for task in tasks:
            try:
                with _one_thread():
                    result = work(task)
            except Exception as error:
                yield Outcome(task, error=error)
            else:
                yield Outcome(task, result=result)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Work as a worker does: OpenCV's own threads cost more than they bring on small frames."""
    import cv2

    usual = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(usual)
