"""Run tasks on a Dask cluster.

A task goes to the cluster when one of its threads is free, and not before: if a worker dies, Dask
counts a failure for all tasks that were assigned to it, also those that waited there.

The scheduler's setting ``distributed.scheduler.allowed-failures`` decides how often a task is
started if its workers die: 3 by default, which means four times. On a cluster that is started here,
or that allows fewer failures, it is :data:`~capsieve.screening.executors.ATTEMPTS` times.
"""

import asyncio
import logging
import pickle
import re
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager, suppress
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from capsieve._version import __version__
from capsieve.errors import MissingExtraError, ParameterError, WorkerError
from capsieve.processes import ignored_warnings, interrupt_blocked, silence_output
from capsieve.screening.executors import (
    ATTEMPTS,
    Outcome,
    attempt,
    failed_outcome,
    read_answer,
    run_tasks,
)

if TYPE_CHECKING:
    from distributed import Client

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

_CONNECT_SECONDS = 10
_WATCH_SECONDS = 1.0
_IDLE_SECONDS = 30.0  # how long a run waits for a cluster without workers
_SCHEDULER = re.compile(r"(?:tcp|tls)://(?:[^\s:/@\[\]]+|\[[\da-fA-F:.%]+\]):(\d{1,5})")
_LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")
_LOST = (OSError, RuntimeError, CancelledError)  # what Dask raises without its scheduler


class Dask:
    """Runs tasks on a Dask cluster; use it in a ``with`` statement.

    Parameters
    ----------
    address
        ``"tcp://HOST:PORT"`` or ``"tls://HOST:PORT"`` of a scheduler, or ``"local:N"`` to start N
        workers on this machine. The certificates for TLS are those of Dask's configuration.

    Raises
    ------
    ParameterError
        The address is wrong, or TLS has no certificates.
    MissingExtraError
        Dask is not installed.
    """

    name = "dask"

    def __init__(self, address: str) -> None:
        self._local_workers = check_address(address)
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise MissingExtraError(
                "a cluster needs the package distributed; pip install 'capsieve[cluster]'"
            ) from None
        if address.startswith("tls:"):
            _check_certificates()
        self._address = address
        self._stack = ExitStack()
        self._client: Client | None = None

    @property
    def workers(self) -> int:
        """How many tasks run at the same time: the threads of all workers."""
        if self._local_workers or self._client is None:
            return self._local_workers or 1
        try:
            threads: Any = self._client.nthreads()
        except _LOST as error:
            raise _lost(self._address) from error
        return max(1, sum(threads.values()))

    def __enter__(self) -> "Dask":
        with ExitStack() as stack:
            stack.enter_context(_quiet())
            cluster: Any = self._address
            if self._local_workers:
                cluster = stack.enter_context(_local_cluster(self._local_workers))
            self._client = stack.enter_context(_client(cluster, self._address))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._client = None
        self._stack.close()

    def run(
        self, work: Callable[[TaskT], ResultT], tasks: Iterable[TaskT | None]
    ) -> Iterator[Outcome[TaskT, ResultT]]:
        """Yield the outcome of every task as they end. See `Executor.run`."""
        if self._client is None:
            raise RuntimeError("use the executor in a with statement")
        run = _Run(self._client, self._address, work)
        try:
            yield from run_tasks(
                tasks, limit=lambda: 2 * max(1, run.threads), start=run.start, ended=run.ended
            )
        finally:
            run.close()


def check_address(address: str) -> int:
    """Return how many workers are to be started here; 0 for the address of a scheduler.

    Raises
    ------
    ParameterError
        It is not an address of a cluster.
    """
    if (local := re.fullmatch(r"local:(\d{1,4})", address)) and int(local[1]):
        return int(local[1])
    if (scheduler := _SCHEDULER.fullmatch(address)) and 0 < int(scheduler[1]) < 65536:
        return 0
    raise ParameterError(
        "cluster",
        "must be tcp://HOST:PORT or tls://HOST:PORT (a Dask scheduler) or local:N (N workers on "
        f"this machine), not {address!r}",
    )


class _Run:
    """The tasks that are in progress: each is a coroutine in the thread of Dask's client."""

    def __init__(self, client: "Client", address: str, work: Callable[[Any], Any]) -> None:
        self.ended: SimpleQueue[Any] = SimpleQueue()
        self.threads = 0
        self._client: Any = client
        self._address = address
        self._work = work
        self._busy = 0
        self._changed = asyncio.Condition()
        self._submitted: set[Any] = set()
        self._coroutines: set[Future[None]] = set()
        self._schedule(self._watch())

    def start(self, task: Any) -> None:
        """Pickle a task, and submit it when a thread of the cluster is free."""
        try:
            payload = pickle.dumps((self._work, task))
        except Exception as error:
            self.ended.put(Outcome(task, error=error))
        else:
            self._schedule(self._outcome(task, pickle.dumps(_Attempt(payload))))

    def close(self) -> None:
        """Start nothing more, and cancel the tasks that are in progress."""
        for coroutine in list(self._coroutines):
            coroutine.cancel()
        with suppress(Exception):  # the scheduler may be lost
            self._client.cancel(list(self._submitted), force=True)

    def _schedule(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        async def report() -> None:
            try:
                self.ended.put(await coroutine)
            except Exception as error:
                self.ended.put(error)

        scheduled = asyncio.run_coroutine_threadsafe(report(), self._client.loop.asyncio_loop)
        self._coroutines.add(scheduled)
        scheduled.add_done_callback(self._coroutines.discard)

    async def _watch(self) -> None:
        """Count the threads of the workers, which come and go."""
        seen = time.monotonic()
        while True:
            try:
                threads = sum((await self._client.nthreads()).values())
            except _LOST as error:
                raise _lost(self._address) from error
            if threads:
                seen = time.monotonic()
            elif time.monotonic() - seen > _IDLE_SECONDS:
                raise WorkerError(
                    f"the cluster has had no workers for {_IDLE_SECONDS:.0f} seconds; start some "
                    "with `dask worker`, then repeat the command to continue"
                )
            if threads != self.threads:
                async with self._changed:
                    self.threads = threads
                    self._changed.notify_all()
                self.ended.put(None)
            await asyncio.sleep(_WATCH_SECONDS)

    async def _outcome(self, task: TaskT, message: bytes) -> Outcome[TaskT, Any]:
        from distributed.scheduler import KilledWorker

        started = 0
        while started < ATTEMPTS:
            async with self._changed:
                await self._changed.wait_for(lambda: self._busy < self.threads)
                self._busy += 1
            future = self._client.submit(pickle.loads, message, pure=False, retries=0)
            self._submitted.add(future)
            try:
                await future.exception()  # returns when the task has ended
            finally:
                self._submitted.discard(future)
                self._busy -= 1  # the thread is free before the answer is fetched
                async with self._changed:
                    self._changed.notify()
            try:
                answer = await future
            except KilledWorker as killed:
                started += killed.allowed_failures + 1
            except CancelledError as error:
                raise _lost(self._address) from error
            except Exception as error:  # the worker cannot call `attempt`
                raise WorkerError(
                    f"a worker of the cluster failed with {type(error).__name__}: {error}; install "
                    f"capsieve {__version__} on every worker"
                ) from error
            else:
                return read_answer(task, answer)
        return failed_outcome(task, started)


class _Attempt:
    """Unpickles as the answer of `attempt`.

    Dask's scheduler unpickles functions and arguments of tasks. With ``pickle.loads`` and bytes it
    needs no capsieve, and a worker without capsieve fails with an exception.
    """

    def __init__(self, payload: bytes) -> None:
        self._payload = payload

    def __reduce__(self) -> tuple[Callable[..., bytes], tuple[bytes, str]]:
        return attempt, (self._payload, __version__)


def _lost(address: str) -> WorkerError:
    return WorkerError(
        f"the connection to the Dask scheduler at {address} is lost; start the scheduler again, "
        "then repeat the command to continue"
    )


def _check_certificates() -> None:
    """Raise ParameterError if Dask's configuration has no certificates for a client."""
    from distributed.security import Security

    security = Security()
    try:
        if security.get_connection_args("client")["ssl_context"] is not None:
            return
        reason = "not set"
    except (OSError, ValueError) as error:
        reason = str(error)
    raise ParameterError(
        "cluster",
        "tls:// needs certificates in Dask's configuration: distributed.comm.tls.ca-file "
        f"({security.tls_ca_file}), client.cert ({security.tls_client_cert}) and client.key "
        f"({security.tls_client_key}): {reason}",
    )


@contextmanager
def _client(cluster: Any, address: str) -> Iterator["Client"]:
    from distributed import Client

    try:
        # The warnings are about packages that differ; capsieve checks its own.
        with ignored_warnings(), interrupt_blocked():
            client = Client(cluster, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ImportError, ValueError) as error:
        raise WorkerError(
            f"no Dask scheduler answers at {address}: start one there with `dask scheduler`, or "
            "correct the address" + (" or the certificates" if address.startswith("tls:") else "")
        ) from error
    try:
        yield client
    finally:
        with suppress(Exception):  # the scheduler may be lost
            client.close(timeout=2)


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """Start a scheduler in this process, and workers, which end with it."""
    from distributed import LocalCluster

    with TemporaryDirectory(prefix="capsieve-", ignore_cleanup_errors=True) as folder:
        # Dask's threads, which are made here, start the processes: they block Ctrl-C as well.
        with interrupt_blocked():
            cluster = LocalCluster(
                n_workers=0,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # None would listen on all interfaces
                silence_logs=logging.CRITICAL,
                memory_limit=0,
                local_directory=folder,
                preload=[__name__],
                scheduler_kwargs={"allowed_failures": ATTEMPTS - 1},
            )
        try:
            cluster.scale(workers)
            yield cluster
        finally:
            with suppress(Exception):
                cluster.close(timeout=5)


def dask_setup(worker: object) -> None:
    """Discard the output of a worker that was started here; Dask calls this by its name."""
    del worker
    silence_output()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's log handlers: failures are outcomes or errors."""
    handlers = {handler for name in _LOGGERS for handler in logging.getLogger(name).handlers}
    levels = [(handler, handler.level) for handler in handlers]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in levels:
            handler.setLevel(level)
