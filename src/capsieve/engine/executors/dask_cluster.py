"""The way to a Dask cluster: an existing one, or one that is started here."""

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from capsieve.engine.executors.executor import ATTEMPTS
from capsieve.errors import MissingExtraError, ParameterError, WorkerError
from capsieve.processes import interrupt_blocked

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["connect", "local_workers", "require_dask"]

_ANSWER = 10  # seconds that a scheduler has to answer
_LOGGERS = ("distributed", "distributed.client", "tornado", "tornado.application")


def require_dask() -> None:
    """Raise MissingExtraError where Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "a cluster needs the package distributed; pip install 'capsieve[cluster]'"
        ) from None


def local_workers(address: str) -> int | None:
    """Return how many workers are to be started here; None for an existing cluster.

    Raises
    ------
    ParameterError
        It is no address.
    """
    if local := re.fullmatch(r"local:(\d{1,4})", address):
        if workers := int(local[1]):
            return workers
    elif (
        place := re.fullmatch(
            r"(?:tcp|tls)://(?:[^\s:/@\[\]]+|\[[\da-fA-F:.%]+\]):(\d{1,5})", address
        )
    ) and (0 < int(place[1]) < 65536):
        return None
    raise ParameterError(
        "cluster",
        f"must be tcp://HOST:PORT (a Dask scheduler) or local:N (N workers here), not {address!r}",
    )


@contextmanager
def connect(address: str) -> Iterator["Client"]:
    """Hold the connection to a cluster, and keep what Dask logs away from the terminal.

    Raises
    ------
    WorkerError
        No scheduler answers.
    """
    workers = local_workers(address)
    with _quiet():
        if workers is None:
            with _client(address, address) as client:
                yield client
        else:
            with _local_cluster(workers) as cluster, _client(cluster, address) as client:
                yield client


@contextmanager
def _client(cluster: Any, address: str) -> Iterator["Client"]:
    from distributed import Client

    try:
        with warnings.catch_warnings(), interrupt_blocked():
            # Dask tells at length which packages differ; what matters is checked in versions.py.
            warnings.simplefilter("ignore")
            client = Client(cluster, timeout=_ANSWER, set_as_default=False)
    except (OSError, ImportError, ValueError) as error:
        raise WorkerError(
            f"no Dask scheduler answers at {address}: start one there with `dask scheduler`, or "
            "correct the address"
        ) from error
    try:
        yield client
    finally:
        with suppress(Exception):  # a scheduler that is gone cannot be told good-bye
            client.close(timeout=2)


@contextmanager
def _local_cluster(workers: int) -> Iterator[Any]:
    """Start a scheduler in this process, and begin to start workers; they leave with it."""
    from distributed import LocalCluster

    with TemporaryDirectory(prefix="capsieve-", ignore_cleanup_errors=True) as folder:
        # The threads of Dask that are made here start the processes: they block Ctrl-C as well.
        with interrupt_blocked():
            cluster = LocalCluster(
                n_workers=0,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=None,  # pyright: ignore[reportArgumentType] None is none
                silence_logs=logging.CRITICAL,
                memory_limit=0,
                local_directory=folder,
                preload=["capsieve.engine.executors.dask_worker"],
                scheduler_kwargs={"allowed_failures": ATTEMPTS - 1},
            )
        try:
            cluster.scale(workers)
            yield cluster
        finally:
            with suppress(Exception):
                cluster.close(timeout=5)


@contextmanager
def _quiet() -> Iterator[None]:
    """Raise the bar of Dask's log handlers: what matters comes as an outcome or an error."""
    import distributed  # noqa: F401, it sets up its handlers

    handlers = {handler for name in _LOGGERS for handler in logging.getLogger(name).handlers}
    usual = [(handler, handler.level) for handler in handlers]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for handler, level in usual:
            handler.setLevel(level)
