"""Which executor a run gets, and addresses of clusters."""

import sys

import pytest

from capsieve.engine.executors.choose import choose_executor
from capsieve.engine.executors.dask_cluster import local_workers
from capsieve.engine.executors.versions import Greeting
from capsieve.errors import MissingExtraError, ParameterError


@pytest.mark.parametrize(
    ("workers", "cluster", "name", "number"),
    [(1, None, "serial", 1), (3, None, "processes", 3), (None, "local:4", "dask", 4)],
)
def test_the_executor_that_was_asked_for(
    greeting: Greeting, workers: int | None, cluster: str | None, name: str, number: int
) -> None:
    executor = choose_executor(workers=workers, cluster=cluster, greeting=greeting)
    assert (executor.name, executor.workers) == (name, number)


def test_processes_are_the_default(greeting: Greeting) -> None:
    assert choose_executor(workers=None, cluster=None, greeting=greeting).name == "processes"


def test_a_cluster_has_its_own_number_of_workers(greeting: Greeting) -> None:
    with pytest.raises(ParameterError, match="either workers or a cluster"):
        choose_executor(workers=2, cluster="local:2", greeting=greeting)


@pytest.mark.parametrize(
    "address",
    [
        *("", "local", "local:", "local:0", "local:-1", "local:two"),
        *("tcp://", "tcp://host", "tcp://:8786", "tcp://host:0", "tcp://host:70000"),
        *("host:8786", "http://host:8786", "tcp://host:8786/x"),
    ],
)
def test_an_address_that_is_none_is_refused(greeting: Greeting, address: str) -> None:
    with pytest.raises(ParameterError, match=r"cluster: must be tcp://HOST:PORT"):
        choose_executor(workers=None, cluster=address, greeting=greeting)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "tcp://a-b.c:1", "tls://[::1]:65535"])
def test_an_address_of_a_scheduler_is_taken(address: str) -> None:
    assert local_workers(address) is None


def test_without_dask_the_extra_is_named(
    greeting: Greeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'capsieve\[cluster\]'"):
        choose_executor(workers=None, cluster="local:2", greeting=greeting)
