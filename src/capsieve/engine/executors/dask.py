"""Tasks on a Dask cluster.

How often a task is begun whose worker dies is for the scheduler to say: its setting
``distributed.scheduler.allowed-failures`` counts what may fail before it gives a task up. Workers
that are started here follow :data:`~capsieve.engine.executors.executor.ATTEMPTS`. A cluster that
allows less gets the task again until that number is reached; one that allows more (Dask's default
is 3, thus four beginnings) has its way.
"""

import math
import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from capsieve.engine.executors.attempt import died
from capsieve.engine.executors.dask_cluster import connect, local_workers, require_dask
from capsieve.engine.executors.dask_desk import Desk, Job
from capsieve.engine.executors.executor import ATTEMPTS, Outcome
from capsieve.engine.executors.parcel import parcel
from capsieve.engine.executors.versions import Greeting, check
from capsieve.errors import WorkerError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Dask"]

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

_PATIENCE = 30.0  # seconds that a run waits for a cluster without workers
_GLANCE = 1.0  # seconds between looks at how many workers there are


class Dask:
    """Runs tasks on a Dask cluster; use it in a ``with`` statement.

    Parameters
    ----------
    address
        ``"tcp://HOST:PORT"`` of a scheduler, or ``"local:N"`` to start N workers here.
    greeting
        What the workers must be. Those present are asked at once, and each one again before it
        works, because workers come and go.

    Raises
    ------
    ParameterError
        That is no address.
    MissingExtraError
        There is no Dask.
    """

    name = "dask"

    def __init__(self, address: str, *, greeting: Greeting) -> None:
        self._local = local_workers(address)
        require_dask()
        self._address = address
        self._greeting = greeting
        self._stack = ExitStack()
        self._client: Client | None = None

    @property
    def workers(self) -> int:
        """How many tasks run at once: the threads of all workers that are there now."""
        if self._local is not None or self._client is None:
            return self._local or 1
        return max(1, self.count_threads())

    def __enter__(self) -> "Dask":
        self._client = self._stack.enter_context(connect(self._address))
        try:
            self._check_workers()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._client = None
        self._stack.close()

    def run(
        self, work: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]
    ) -> Iterator[Outcome[TaskT, ResultT]]:
        """Yield the outcome of every task, in the order in which they end.

        Raises
        ------
        WorkerError
            The cluster has no workers, or was lost, or a worker does not fit.
        """
        if self._client is None:
            raise RuntimeError("use the executor in a with statement")
        desk: Desk[TaskT] = Desk(self._client, self._greeting, work)
        todo = iter(tasks)
        more = True
        watch = _Watch(self)
        try:
            while True:
                desk.make_room(watch.threads())
                while more and desk.jobs < 2 * max(1, desk.room):
                    try:
                        task = next(todo)
                    except StopIteration:
                        more = False
                        break
                    try:
                        desk.add(Job(task))
                    except (pickle.PicklingError, TypeError, AttributeError) as error:
                        yield Outcome(task, error=error)
                if not desk.jobs:
                    return
                job = desk.wait(_GLANCE)
                outcome = None if job is None else self._outcome(desk, job)
                if outcome is not None:
                    desk.jobs -= 1
                    yield outcome
        finally:
            desk.close()

    def count_threads(self) -> int:
        """Return how many tasks the cluster can run at once; 0 where it has no workers.

        Raises
        ------
        WorkerError
            The scheduler is gone.
        """
        if self._client is None:
            return 0
        try:
            threads: Any = self._client.nthreads()
            return sum(threads.values())
        except (OSError, RuntimeError, CancelledError) as error:
            raise self._lost() from error

    def _outcome(self, desk: Desk[TaskT], job: Job[TaskT]) -> Outcome[TaskT, Any] | None:
        """Return what became of a task; None where it is begun again."""
        from distributed.scheduler import KilledWorker

        while True:
            try:
                result, error = desk.result(job)
            except KilledWorker as killed:
                job.begun += killed.allowed_failures + 1
                if job.begun >= ATTEMPTS:
                    return died(job.task, job.begun)
                desk.add(job, again=True)
                return None
            except TimeoutError:  # the worker died with the result: it is being made again
                self.count_threads()
            except CancelledError as cancelled:
                raise self._lost() from cancelled
            except Exception as error:
                self._refuse(error)
            else:
                return Outcome(job.task, result=result, error=error)

    def _refuse(self, error: Exception) -> NoReturn:
        """Raise what is wrong with a worker on which a task could not be attempted."""
        if isinstance(error, WorkerError):
            raise error
        self.count_threads()  # where the scheduler is gone, that is the news
        self._check_workers()  # this knows the worker's name
        raise WorkerError(f"a worker of the cluster {_misfit(error, self._greeting)}") from error

    def _check_workers(self) -> None:
        """Ask all workers that are present whether they fit."""
        if self._client is None:
            return
        letter = parcel(check, self._greeting)
        try:
            answers: Any = self._client.run(pickle.loads, letter, on_error="return")
        except (OSError, RuntimeError, CancelledError) as error:
            raise self._lost() from error
        for worker, answer in sorted((answers or {}).items()):
            if isinstance(answer, WorkerError):
                raise answer
            if isinstance(answer, Exception) and not isinstance(answer, OSError):  # not just gone
                raise WorkerError(f"the worker {worker} {_misfit(answer, self._greeting)}")

    def _lost(self) -> WorkerError:
        return WorkerError(
            f"the Dask scheduler at {self._address} is gone; when it is there again, give the same "
            "command to go on"
        )


def _misfit(error: Exception, greeting: Greeting) -> str:
    """Return the end of a sentence about a worker that cannot even compare versions."""
    return (
        f"cannot run capsieve {greeting.capsieve} ({type(error).__name__}: {error}): "
        "install that version there"
    )


class _Watch:
    """Looks now and then how many workers a cluster has, and loses patience if there are none."""

    def __init__(self, cluster: Dask) -> None:
        self._cluster = cluster
        self._threads = 0
        self._looked = self._missed = -math.inf

    def threads(self) -> int:
        """Return how many tasks can run at once."""
        now = time.monotonic()
        if now - self._looked < _GLANCE:
            return self._threads
        had, self._threads = self._threads, self._cluster.count_threads()
        if had or self._looked == -math.inf:
            self._missed = now
        elif not self._threads and now - self._missed > _PATIENCE:
            raise WorkerError(
                f"the cluster has had no workers for {_PATIENCE:.0f} seconds; start some with "
                "`dask worker`, then give the same command to go on"
            )
        self._looked = now
        return self._threads
