"""Tasks in processes of this machine, one at a time in each.

Every worker is a pool of its own with one process: when a pool breaks, it is known which task its
process died under.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from queue import SimpleQueue
from threading import RLock
from typing import Any, Generic, TypeVar

from capsieve.engine.executors.attempt import attempt, died
from capsieve.engine.executors.executor import ATTEMPTS, Outcome
from capsieve.engine.executors.warm_up import warm_up
from capsieve.errors import ParameterError, WorkerError
from capsieve.processes import interrupt_blocked, prepare_worker, silence_output

__all__ = ["Processes"]

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


class Processes:
    """Runs tasks in processes; use it in a ``with`` statement.

    Parameters
    ----------
    workers
        How many processes; None takes one for each core that this process may use.

    Raises
    ------
    ParameterError
        That is no number of processes.
    """

    name = "processes"

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ParameterError("workers", f"must be at least 1, not {workers}")
        self.workers = workers or len(os.sched_getaffinity(0))
        self._slots = [_Slot() for _ in range(self.workers)]

    def __enter__(self) -> "Processes":
        from capsieve.compiling import is_compiled

        if not is_compiled("analysis"):
            warm_up()  # once here, and not in all workers at the same time
        for slot in self._slots:
            slot.start(warm=True)
        return self

    def __exit__(self, *_: object) -> None:
        for slot in self._slots:
            slot.stop()

    def run(
        self, work: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]
    ) -> Iterator[Outcome[TaskT, ResultT]]:
        """Yield the outcome of every task, in the order in which they end.

        Up to as many tasks as there are workers are taken from `tasks` in advance, so that a worker
        goes on at once, whatever the caller does with the outcomes meanwhile.

        Raises
        ------
        WorkerError
            The processes do not start at all.
        """
        desk: _Desk[TaskT, ResultT] = _Desk(work, self._slots)
        todo = iter(tasks)
        under_way = 0
        try:
            while True:
                while under_way < 2 * self.workers:
                    try:
                        task = next(todo)
                    except StopIteration:
                        break
                    desk.add(_Job(task))
                    under_way += 1
                if not under_way:
                    return
                outcome = desk.wait()
                under_way -= 1
                yield outcome
        finally:
            desk.close()


@dataclass(slots=True)
class _Job(Generic[TaskT]):
    """A task, and how often it was begun."""

    task: TaskT
    begun: int = 0


class _Slot:
    """A pool of one process, made anew where it broke."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._before: list[Future[Any]] = []  # what the process does before its first task
        self._failed_starts = 0

    def start(self, *, warm: bool = False) -> ProcessPoolExecutor:
        """Begin to start the process."""
        pool = self._pool = ProcessPoolExecutor(
            1, mp_context=get_context("spawn"), initializer=_settle, initargs=(os.getpid(),)
        )
        with interrupt_blocked():
            self._before = [pool.submit(os.getpid)]
        if warm:
            self._before.append(pool.submit(warm_up))
        return pool

    def submit(self, work: Callable[[TaskT], ResultT], task: TaskT) -> Future[Any]:
        """Hand over a task; a pool that is known to be broken raises BrokenExecutor."""
        return (self._pool or self.start()).submit(attempt, work, task)

    def restart(self) -> bool:
        """Make the broken pool anew; return whether its process had come as far as a task.

        Raises
        ------
        WorkerError
            The process did not even start, time after time.
        """
        broken = [isinstance(future.exception(), BrokenExecutor) for future in self._before]
        self._failed_starts = self._failed_starts + 1 if broken[0] else 0
        self.stop()
        if self._failed_starts >= ATTEMPTS:
            raise WorkerError(
                "the worker processes do not start; where a script calls capsieve, let it do so "
                'below `if __name__ == "__main__":`, or take one worker'
            )
        self.start()
        return not any(broken)

    def stop(self) -> None:
        """End the process at once: what it is at is lost, and may be begun again."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        # Python 3.14 has kill_workers for this; until then there is no public name.
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.kill()
        pool.shutdown(wait=True, cancel_futures=True)


class _Desk(Generic[TaskT, ResultT]):
    """Hands tasks to slots: from the caller's thread, and from a pool's own when it is freed.

    The lock is held while a task is handed over, so that nothing is begun after :meth:`close`.
    """

    def __init__(self, work: Callable[[TaskT], ResultT], slots: list[_Slot]) -> None:
        self._work = work
        self._slots = slots
        self._free = deque(slots)
        self._waiting: deque[_Job[TaskT]] = deque()
        self._ended: SimpleQueue[tuple[_Slot, _Job[TaskT], Future[Any] | None]] = SimpleQueue()
        self._lock = RLock()  # a future that is done at once calls back from within
        self._closed = False

    def add(self, job: _Job[TaskT]) -> None:
        """Begin a job, or let it wait for a free slot."""
        with self._lock:
            if self._free:
                self._begin(self._free.popleft(), job)
            else:
                self._waiting.append(job)

    def wait(self) -> Outcome[TaskT, ResultT]:
        """Return the next outcome; begin again what a worker died under."""
        while True:
            slot, job, future = self._ended.get()
            error = None if future is None else future.exception()
            if future is not None and not isinstance(error, BrokenExecutor):
                return _outcome(job.task, future)
            reached = slot.restart()
            if future is None or not reached:  # it died before the job began
                job.begun -= 1
            if job.begun >= ATTEMPTS:
                self._go_on(slot)
                return died(job.task, job.begun)
            with self._lock:
                self._begin(slot, job)

    def close(self) -> None:
        """Begin nothing more, and end what is under way."""
        with self._lock:
            self._closed = True
            busy = [slot for slot in self._slots if slot not in self._free]
        for slot in busy:
            slot.stop()

    def _begin(self, slot: _Slot, job: _Job[TaskT]) -> None:
        job.begun += 1
        try:
            future = slot.submit(self._work, job.task)
        except BrokenExecutor:  # its worker died while it had nothing to do
            self._ended.put((slot, job, None))
        else:
            future.add_done_callback(partial(self._end, slot, job))

    def _end(self, slot: _Slot, job: _Job[TaskT], future: Future[Any]) -> None:
        """Note the end of a job, in a thread of the pool."""
        if self._closed or future.cancelled():
            return
        # A broken pool may call back with its own lock held: nothing is begun from here then.
        if not isinstance(future.exception(), BrokenExecutor):
            self._go_on(slot)
        self._ended.put((slot, job, future))

    def _go_on(self, slot: _Slot) -> None:
        """Give a freed slot its next job."""
        with self._lock:
            if self._waiting and not self._closed:
                self._begin(slot, self._waiting.popleft())
            else:
                self._free.append(slot)


def _outcome(task: TaskT, future: Future[Any]) -> Outcome[TaskT, Any]:
    """Return what became of a task whose worker lives."""
    error = future.exception()
    if error is None:
        result, error = future.result()
        return Outcome(task, result=result, error=error)
    if isinstance(error, Exception):  # the task or its result cannot be pickled
        return Outcome(task, error=error)
    raise error


def _settle(parent: int) -> None:
    """Prepare a process to work for this one, in silence: errors come back as outcomes."""
    prepare_worker(parent)
    silence_output()
