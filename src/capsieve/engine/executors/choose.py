"""Which executor a run gets."""

from capsieve.engine.executors.executor import Executor
from capsieve.engine.executors.versions import Greeting
from capsieve.errors import ParameterError

__all__ = ["choose_executor"]


def choose_executor(*, workers: int | None, cluster: str | None, greeting: Greeting) -> Executor:
    """Return the executor that was asked for; nothing is started yet.

    Parameters
    ----------
    workers
        Processes on this machine; None takes one for each core, 1 works in this process.
    cluster
        A Dask cluster: ``"tcp://HOST:PORT"`` or ``"local:N"``; None stays on this machine.
    greeting
        What the workers of a cluster must be.

    Raises
    ------
    ParameterError
        The number or the address is wrong, or both are given.
    MissingExtraError
        There is no Dask.
    """
    if cluster is not None:
        if workers is not None:
            raise ParameterError(
                "workers", "a cluster has workers of its own; give either workers or a cluster"
            )
        from capsieve.engine.executors.dask import Dask

        return Dask(cluster, greeting=greeting)
    if workers == 1:
        from capsieve.engine.executors.serial import Serial

        return Serial()
    from capsieve.engine.executors.processes import Processes

    return Processes(workers)
