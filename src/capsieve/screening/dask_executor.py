"""Run tasks on a Dask cluster.

A task goes to the cluster when one of its threads is free, and not before: if a worker dies, Dask
counts a failure for all tasks that were assigned to it, also those that waited there.

The scheduler's setting ``distributed.scheduler.allowed-failures`` decides how often a task is
started if its workers die: 3 by default, which means four times. On a cluster that is started here,
or that allows fewer failures, it is :data:`~capsieve.screening.executors.ATTEMPTS` times.
"""

import logging
import pickle
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Lock
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
_IDLE_SECONDS = 30.0  # how long a run waits for the first worker
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
        try:
            self._client.wait_for_workers(1, timeout=_IDLE_SECONDS)
        except TimeoutError:
            raise WorkerError(
                f"the cluster has had no workers for {_IDLE_SECONDS:.0f} seconds; start some with "
                "`dask worker`, then repeat the command to continue"
            ) from None
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
    """The tasks of a run. Dask calls :meth:`_end` in a thread of its own."""

    def __init__(self, client: "Client", address: str, work: Callable[[Any], Any]) -> None:
        self.ended: SimpleQueue[Any] = SimpleQueue()
        self.threads = 0
        self._client: Any = client
        self._address = address
        self._work = work
        self._lock = Lock()
        self._waiting: deque[tuple[Any, bytes, int]] = deque()  # task, message, earlier attempts
        self._submitted: set[Any] = set()

    def start(self, task: Any) -> None:
        """Pickle a task; it is submitted when a thread of the cluster is free."""
        try:
            payload = pickle.dumps((self._work, task))
        except Exception as error:
            self.ended.put(Outcome(task, error=error))
        else:
            self._waiting.append((task, pickle.dumps(_Attempt(payload)), 0))
            self._submit()

    def close(self) -> None:
        """Start nothing more, and cancel the tasks that are in progress."""
        self._waiting.clear()
        with suppress(Exception):  # the scheduler may be lost
            self._client.cancel(list(self._submitted), force=True)

    def _submit(self) -> None:
        """Submit waiting tasks to the threads that are free."""
        with self._lock:
            try:
                self.threads = sum(self._client.nthreads().values())  # workers come and go
                while self._waiting and len(self._submitted) < max(1, self.threads):
                    task, message, started = self._waiting.popleft()
                    future = self._client.submit(pickle.loads, message, pure=False, retries=0)
                    self._submitted.add(future)
                    future.add_done_callback(partial(self._end, task, message, started))
            except _LOST:
                self.ended.put(_lost(self._address))

    def _end(self, task: Any, message: bytes, started: int, future: Any) -> None:
        from distributed.scheduler import KilledWorker

        self._submitted.discard(future)
        self._submit()  # the thread is free before the answer is fetched
        try:
            self.ended.put(read_answer(task, future.result()))
        except KilledWorker as killed:
            started += killed.allowed_failures + 1
            if started < ATTEMPTS:
                self._waiting.appendleft((task, message, started))
                self._submit()
            else:
                self.ended.put(failed_outcome(task, started))
        except WorkerError as error:
            self.ended.put(error)
        except CancelledError:
            self.ended.put(_lost(self._address))
        except Exception as error:  # the worker cannot call `attempt`
            self.ended.put(
                WorkerError(
                    f"a worker of the cluster failed with {type(error).__name__}: {error}; install "
                    f"capsieve {__version__} on every worker"
                )
            )


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
