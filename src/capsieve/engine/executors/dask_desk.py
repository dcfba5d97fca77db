"""What of a run is in a Dask cluster, and what waits here.

A task is handed over when a worker is free for it, and not before: where a worker dies, Dask blames
all tasks that were assigned to it, also those that waited there.
"""

import pickle
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from uuid import uuid4

from capsieve.engine.executors.parcel import parcel
from capsieve.engine.executors.versions import Greeting, checked_attempt

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Desk", "Job"]

TaskT = TypeVar("TaskT")

_FETCH = 10.0  # seconds for a result to come; then the caller looks after the scheduler


@dataclass(slots=True, eq=False)
class Job(Generic[TaskT]):
    """A task, what is sent for it, how often it was begun, and what holds its result."""

    task: TaskT
    letter: bytes = b""
    begun: int = 0
    future: "Future | None" = None


class Desk(Generic[TaskT]):
    """Hands tasks to the cluster, from the caller's thread and, when one ends, from Dask's own.

    So a worker goes on at once, whatever the caller does with the outcomes meanwhile.
    """

    def __init__(self, client: "Client", greeting: Greeting, work: Callable[[TaskT], Any]) -> None:
        self.jobs = 0
        self.room = 0
        self._client = client
        self._greeting = greeting
        self._work = work
        self._waiting: deque[Job[TaskT]] = deque()
        self._begun: set[Job[TaskT]] = set()
        self._ended: SimpleQueue[Job[TaskT]] = SimpleQueue()
        self._lock = RLock()
        self._closed = False

    def add(self, job: Job[TaskT], *, again: bool = False) -> None:
        """Take a job, or take one again. What cannot be pickled raises."""
        if not job.letter:
            job.letter = parcel(checked_attempt, self._greeting, self._work, job.task)
        with self._lock:
            if again:
                self._waiting.appendleft(job)
            else:
                self.jobs += 1
                self._waiting.append(job)
            self._fill()

    def make_room(self, room: int) -> None:
        """Note how many tasks the cluster can run at once."""
        with self._lock:
            self.room = room
            self._fill()

    def wait(self, seconds: float) -> Job[TaskT] | None:
        """Return a job that ended; None where none does for a while."""
        try:
            return self._ended.get(timeout=seconds)
        except Empty:
            return None

    def result(self, job: Job[TaskT]) -> tuple[Any, Exception | None]:
        """Fetch what a job's attempt returned, and let the cluster forget it."""
        assert job.future is not None
        answer = job.future.result(timeout=_FETCH)
        job.future = None
        return answer

    def close(self) -> None:
        """Begin nothing more, and call back what is under way."""
        with self._lock:
            self._closed = True
            futures = [job.future for job in self._begun if job.future is not None]
        if futures:
            with suppress(Exception):  # the scheduler may be gone
                self._client.cancel(futures, force=True)

    def _fill(self) -> None:
        while self._waiting and len(self._begun) < self.room and not self._closed:
            job = self._waiting.popleft()
            self._begun.add(job)
            job.future = self._client.submit(
                pickle.loads, job.letter, key=f"capsieve-{uuid4().hex}", pure=False, retries=0
            )
            job.future.add_done_callback(partial(self._end, job))

    def _end(self, job: Job[TaskT], _: object) -> None:
        """Note the end of a job, in a thread of Dask."""
        with self._lock:
            if self._closed:
                return
            self._begun.discard(job)
            self._ended.put(job)
            self._fill()
