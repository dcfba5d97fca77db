"""Run tasks in this process, in worker processes, or on a Dask cluster."""

import os
import pickle
import platform
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Generic, Protocol, TypeVar

from capsieve._version import __version__
from capsieve.compiling import is_compiled, mark_compiled
from capsieve.errors import CapsieveError, MissingExtraError, ParameterError, WorkerError
from capsieve.processes import interrupt_blocked, prepare_worker, silence_output

ATTEMPTS = 3
"""How often a task is started if its worker dies; after that the task has failed."""

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

_NOTHING_READY = "no task is ready, and none is in progress to wait for"
_SPAWN = get_context("spawn")
_MOST_PRINTED = 1 << 16  # bytes of the error output of a worker that are kept


@dataclass(frozen=True, slots=True)
class Outcome(Generic[TaskT, ResultT]):
    """The result of a task, or the error that ended it."""

    task: TaskT
    result: ResultT | None = None
    error: Exception | None = None
    printed: str = ""  # error output of the workers that died, if it is known


class Executor(AbstractContextManager["Executor"], Protocol):
    """Runs tasks; used in a ``with`` statement. Entering it does not wait for the workers."""

    @property
    def workers(self) -> int:
        """How many tasks run at the same time."""
        ...

    @property
    def name(self) -> str:
        """The name in the exam's record: "serial", "processes" or "dask"."""
        ...

    def run(
        self, work: Callable[[TaskT], ResultT], tasks: Iterable[TaskT | None]
    ) -> Iterator[Outcome[TaskT, ResultT]]:
        """Yield the outcome of every task, in the order of their ends.

        Tasks start in their order. A few are taken from `tasks` in advance, so workers never wait
        for the caller. `tasks` is advanced in the caller's thread and outcomes wait for it, so slow
        preparation should be a task as well.

        Parameters
        ----------
        work
            A function of a module; tasks and results are pickled. An exception that it raises is
            the outcome of the task, which is not repeated. If its worker dies, a task is started
            up to :data:`ATTEMPTS` times; then the outcome is a WorkerError.
        tasks
            None means that no task is ready; `tasks` is asked again after the next outcome.

        Raises
        ------
        WorkerError
            The workers do not start, the cluster is lost, or a worker cannot do any task because it
            has another version of capsieve, another model file or not all packages. `work` may
            raise WorkerError or MissingExtraError to report this.
        """
        ...


def choose_executor(*, workers: int | None = None, cluster: str | None = None) -> Executor:
    """Return an executor; nothing is started yet.

    Parameters
    ----------
    workers
        Processes on this machine: None for one per core, 1 to work in this process.
    cluster
        A Dask cluster, see :class:`~capsieve.screening.dask_executor.Dask`.

    Raises
    ------
    ParameterError
        The number or the address is wrong, or both are given.
    MissingExtraError
        Dask is not installed.
    """
    if cluster is not None:
        if workers is not None:
            raise ParameterError("workers", "cannot be combined with a cluster; give one of them")
        from capsieve.screening.dask_executor import Dask

        return Dask(cluster)
    return Serial() if workers == 1 else Processes(workers)


class Serial:
    """Runs tasks in this process, one after the other; nothing is pickled."""

    name = "serial"
    workers = 1

    def __enter__(self) -> "Serial":
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: nothing was started."""

    def run(
        self, work: Callable[[TaskT], ResultT], tasks: Iterable[TaskT | None]
    ) -> Iterator[Outcome[TaskT, ResultT]]:
        """Yield the outcome of every task, in their order. See :meth:`Executor.run`."""
        import cv2

        for task in tasks:
            if task is None:
                raise RuntimeError(_NOTHING_READY)
            threads = cv2.getNumThreads()
            cv2.setNumThreads(1)  # as in a worker: on small frames more threads cost time
            try:
                outcome = Outcome(task, result=work(task))
            except (WorkerError, MissingExtraError):
                raise
            except Exception as error:
                outcome = Outcome(task, error=error)
            finally:
                cv2.setNumThreads(threads)
            yield outcome


class Processes:
    """Runs tasks in processes of this machine; `workers` is None for one process per core.

    A thread per process gives it one task at a time, so the task of a process that died is known.
    """

    name = "processes"

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ParameterError("workers", f"must be at least 1, not {workers}")
        self.workers = workers or len(os.sched_getaffinity(0))
        self._slots = [_Slot() for _ in range(self.workers)]

    def __enter__(self) -> "Processes":
        if not is_compiled("analysis"):
            _warm_up()  # once here, not in all workers at the same time
        for slot in self._slots:
            slot.start(warm_up=True)
        return self

    def __exit__(self, *_: object) -> None:
        for slot in self._slots:
            slot.halt()

    def run(
        self, work: Callable[[TaskT], ResultT], tasks: Iterable[TaskT | None]
    ) -> Iterator[Outcome[TaskT, ResultT]]:
        """Yield the outcome of every task as they end. See :meth:`Executor.run`."""
        todo: SimpleQueue[Any] = SimpleQueue()  # None ends a thread
        ended: SimpleQueue[Any] = SimpleQueue()
        threads = [Thread(target=slot.serve, args=(work, todo, ended)) for slot in self._slots]
        for slot, thread in zip(self._slots, threads, strict=True):
            slot.halted = False
            thread.start()
        try:
            # Twice the workers: the next task of each is ready when it ends one.
            yield from run_tasks(tasks, limit=lambda: 2 * self.workers, start=todo.put, ended=ended)
        except BaseException:
            for slot in self._slots:
                slot.halt()
            raise
        finally:
            for _ in threads:
                todo.put(None)
            for thread in threads:
                thread.join()


class _Slot:
    """A worker process, started again if it dies."""

    def __init__(self) -> None:
        self.halted = False
        self._lock = Lock()  # to start or halt the process
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._printed: int | None = None  # file in memory: error output of the process
        self._ready = False
        self._failed_starts = 0

    def start(self, *, warm_up: bool = False) -> None:
        """Start the process and do not wait for it."""
        self._connection, end = _SPAWN.Pipe()
        self._printed = os.memfd_create("errors")
        errors = f"/proc/{os.getpid()}/fd/{self._printed}"
        self._process = _SPAWN.Process(target=_serve, args=(end, os.getpid(), warm_up, errors))
        self._ready = False
        with interrupt_blocked():
            self._process.start()
        end.close()  # the process has it: if it dies, the connection ends

    def halt(self) -> None:
        """End the process, and with it its task; start no other."""
        with self._lock:
            self.halted = True
            self._kill()

    def serve(
        self, work: Callable[[Any], Any], todo: "SimpleQueue[Any]", ended: "SimpleQueue[Any]"
    ) -> None:
        """Give the process one task after the other, in a thread."""
        while (task := todo.get()) is not None and not self.halted:
            try:
                ended.put(self._outcome(work, task))
            except Exception as error:
                ended.put(error)

    def _outcome(self, work: Callable[[Any], Any], task: Any) -> Outcome[Any, Any]:
        try:
            payload = pickle.dumps((work, task))
        except Exception as error:
            return Outcome(task, error=error)
        started, printed = 0, ""
        while started < ATTEMPTS and not self.halted:
            try:
                connection = self._connected()
                connection.send_bytes(payload)
                started += 1
                return read_answer(task, connection.recv_bytes())
            except (EOFError, ConnectionError):  # the process died
                with self._lock:
                    printed += self._kill()
        return failed_outcome(task, started, printed)

    def _connected(self) -> Connection:
        """Return the connection to a process that is ready for a task."""
        with self._lock:
            if self._process is None and not self.halted:
                self.start()
            connection = self._connection
            if self._printed is not None:
                os.ftruncate(self._printed, 0)  # what earlier tasks printed
        if connection is None:
            raise EOFError
        if not self._ready:
            self._failed_starts += 1
            try:
                connection.recv_bytes()
            except (EOFError, ConnectionError):
                if self._failed_starts < ATTEMPTS or self.halted:
                    raise
                raise WorkerError(
                    "the worker processes do not start; if a script calls capsieve, it must do so "
                    'below `if __name__ == "__main__":`; or use one worker'
                ) from None
            self._ready, self._failed_starts = True, 0
        return connection

    def _kill(self) -> str:
        """End the process; return the end of its error output."""
        printed = ""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._printed is not None:
            first = max(0, os.fstat(self._printed).st_size - _MOST_PRINTED)
            printed = os.pread(self._printed, _MOST_PRINTED, first).decode(errors="replace")
            os.close(self._printed)
        self._process = self._connection = self._printed = None
        return printed


def run_tasks(
    tasks: Iterable[TaskT | None],
    *,
    limit: Callable[[], int],
    start: Callable[[TaskT], None],
    ended: "SimpleQueue[Any]",
) -> Generator[Outcome[TaskT, Any]]:
    """Start tasks and yield their outcomes: the part of `run` that all executors share.

    Parameters
    ----------
    tasks
        See :meth:`Executor.run`.
    limit
        Returns how many tasks may be in progress now.
    start
        Starts a task and does not wait for it.
    ended
        Receives outcomes; None if the limit has changed; or an exception, which is raised here.
    """
    remaining = iter(tasks)
    more = True
    in_progress = 0
    while True:
        while more and in_progress < limit():
            try:
                task = next(remaining)
            except StopIteration:
                more = False
                break
            if task is None:
                if not in_progress:
                    raise RuntimeError(_NOTHING_READY)
                break
            start(task)
            in_progress += 1
        if not in_progress:
            return
        outcome = ended.get()
        if isinstance(outcome, BaseException):
            raise outcome
        if outcome is not None:
            in_progress -= 1
            yield outcome


def attempt(payload: bytes, version: str = __version__) -> bytes:
    """Run a pickled pair of work and task in a worker; return an answer for `read_answer`.

    The version of the caller's capsieve is compared before anything is unpickled. An exception that
    cannot be pickled is replaced by a WorkerError with the same text.
    """
    import cv2

    cv2.setNumThreads(1)
    worker = f"the worker {platform.node()}:{os.getpid()}"
    unfit = False
    try:
        if version != __version__:
            raise WorkerError(
                f"it has capsieve {__version__}, and this run needs {version}; install capsieve "
                f"{version} there"
            )
        work, task = pickle.loads(payload)
        return pickle.dumps((work(task), None, False))
    except (WorkerError, MissingExtraError) as problem:
        error, unfit = WorkerError(f"{worker} cannot be used: {problem}"), True
    except SystemExit as problem:  # it would end the worker
        error = WorkerError(f"SystemExit: {problem}")
    except Exception as problem:
        error = problem
        if not isinstance(error, CapsieveError):  # a mistake in the program: keep its place
            error.add_note("".join(traceback.format_exception(error)))
    try:
        answer = pickle.dumps((None, error, unfit))
        pickle.loads(answer)
    except Exception:
        answer = pickle.dumps((None, WorkerError(f"{type(error).__name__}: {error}"), unfit))
    return answer


def read_answer(task: TaskT, answer: bytes) -> Outcome[TaskT, Any]:
    """Return the outcome of an attempt; raise WorkerError if the worker cannot do any task."""
    result, error, unfit = pickle.loads(answer)
    if unfit:
        raise error
    return Outcome(task, result, error)


def failed_outcome(task: TaskT, times: int, printed: str = "") -> Outcome[TaskT, Any]:
    """Return the outcome of a task if its worker died each time.

    The last line of its error output is part of the message.
    """
    message = f"the worker died {times} times while it worked on {task!s:.200}"
    if printed.strip():
        message += f'; its last message was "{printed.strip().splitlines()[-1]:.200}"'
    return Outcome(task, error=WorkerError(message), printed=printed)


def _serve(connection: Connection, parent: int, warm_up: bool, errors: str) -> None:
    """Work in a process; what it prints as an error is appended to the file `errors`."""
    prepare_worker(parent)
    silence_output(errors)
    if warm_up:
        _warm_up()
    connection.send_bytes(b"ready")
    with suppress(EOFError):  # the parent has closed the connection
        while True:
            connection.send_bytes(attempt(connection.recv_bytes()))


def _warm_up() -> str:
    """Import the libraries and score two frames, to compile and load all kernels."""
    import av  # noqa: F401
    import cv2
    import numpy as np
    import pyarrow  # noqa: F401

    from capsieve.detectors import load_detector
    from capsieve.frames import FieldOfView

    # A bright ball on a textured ground: only a frame with a polyp takes every step.
    rows, cols = np.mgrid[-128:128, -128:128]
    ball = 70 + 140 * np.exp(-(rows**2 + cols**2) / (2 * 14**2))
    grain = cv2.GaussianBlur(np.random.default_rng(0).normal(0, 40, (256, 256)), (0, 0), 1.5)
    frame = np.stack([np.clip(ball + grain, 0, 255).astype(np.uint8)] * 3, axis=-1)
    detector = load_detector("paper")
    reason = detector.score(frame).reason
    frame.flags.writeable = False  # numba compiles other code for read-only arrays
    detector.score(frame, FieldOfView("circle", 130.0, 120.0, 110.5))
    mark_compiled("analysis")
    return reason
