"""The executor on a Dask cluster whose scheduler and workers are processes of their own."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import capsieve
from capsieve.engine.executors import dask
from capsieve.engine.executors.dask import Dask
from capsieve.engine.executors.executor import Outcome
from capsieve.engine.executors.versions import Greeting
from capsieve.errors import WorkerError
from support import executor_work as work

pytest.importorskip("distributed", reason="the extra cluster is not installed")
pytestmark = pytest.mark.slow

TESTS = Path(work.__file__).parents[1]
PACKAGE = Path(capsieve.__file__).parent


class Cluster:
    """A scheduler on the loopback interface, and workers that come and go."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(port))

    def worker(self, *options: str, path: Path | None = None) -> "subprocess.Popen[bytes]":
        """Start a worker; `path` comes before everything else where it looks for modules."""
        places = [str(place) for place in (path, TESTS) if place]
        options = ("--nthreads", "1", "--host", "127.0.0.1", *options)
        return self._start("worker", self.address, *options, path=os.pathsep.join(places))

    def _start(self, *command: str, path: str = "") -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *command, "--no-dashboard"],
            env={**os.environ, "PYTHONPATH": path, "DASK_TEMPORARY_DIRECTORY": str(self._folder)},
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._processes.append(process)
        return process

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    started = Cluster(tmp_path)
    yield started
    started.close()


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def meanwhile(action: Callable[[], object], folder: Path, number: int) -> threading.Thread:
    """Do something as soon as an errand has begun."""

    def wait() -> None:
        until = time.monotonic() + 60
        while not work.beginnings(folder, number) and time.monotonic() < until:
            time.sleep(0.02)
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def results(outcomes: list[Outcome[work.Errand, int]]) -> list[int]:
    assert [outcome.error for outcome in outcomes if outcome.error] == []
    return sorted(outcome.task.number for outcome in outcomes)


def test_a_killed_worker_loses_nothing(cluster: Cluster, marks: Path, greeting: Greeting) -> None:
    victim, _ = cluster.worker("--no-nanny"), cluster.worker("--no-nanny")
    errands = [work.Errand(number, str(marks), seconds=0.3) for number in range(12)]
    with Dask(cluster.address, greeting=greeting) as executor:
        killer = meanwhile(victim.kill, marks, 3)
        assert results(list(executor.run(work.do, errands))) == list(range(12))
        killer.join()
    assert victim.wait() == -signal.SIGKILL


def test_workers_that_come_later_work_too(
    cluster: Cluster, marks: Path, greeting: Greeting
) -> None:
    cluster.worker("--no-nanny")

    def workers() -> int:
        return len({path.name.split("-")[1] for path in marks.iterdir()})

    def errands() -> Iterator[work.Errand]:
        until = time.monotonic() + 60
        number = 0
        while workers() < 2 and time.monotonic() < until:
            yield work.Errand(number, str(marks), seconds=0.1)
            number += 1

    with Dask(cluster.address, greeting=greeting) as executor:
        joiner = meanwhile(lambda: cluster.worker("--no-nanny"), marks, 0)
        outcomes = list(executor.run(work.do, errands()))
        joiner.join()
    assert results(outcomes) == list(range(len(outcomes)))
    assert workers() == 2


def test_a_task_that_kills_every_worker_is_named_after_what_the_scheduler_allows(
    cluster: Cluster, marks: Path, greeting: Greeting
) -> None:
    cluster.worker()  # with a nanny, which starts it again
    errands = [work.Errand(n, str(marks), deaths=99 * (n == 1), seconds=0.01) for n in range(5)]
    with Dask(cluster.address, greeting=greeting) as executor:
        outcomes = list(executor.run(work.do, errands))
    (failed,) = [outcome for outcome in outcomes if outcome.error]
    assert str(failed.error) == "the worker died 4 times while it worked on errand 1"
    assert len(work.beginnings(marks, 1)) == 4  # Dask's own default
    assert len(outcomes) == 5


def test_a_worker_of_another_version_is_refused(
    cluster: Cluster, tmp_path: Path, greeting: Greeting
) -> None:
    shutil.copytree(
        PACKAGE, tmp_path / "old" / "capsieve", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "old" / "capsieve" / "_version.py").write_text('__version__ = "0.0.9"\n')
    cluster.worker("--no-nanny", path=tmp_path / "old")
    with pytest.raises(WorkerError) as refusal:
        run_all(cluster, greeting)
    assert f"has capsieve 0.0.9, and this run needs {greeting.capsieve}" in str(refusal.value)


@pytest.mark.parametrize("when", ["before", "later"])
def test_a_worker_without_capsieve_is_refused(
    cluster: Cluster, tmp_path: Path, greeting: Greeting, when: str
) -> None:
    empty = tmp_path / "none" / "capsieve"
    empty.mkdir(parents=True)
    (empty / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'capsieve'\", name='capsieve')\n"
    )
    worker = cluster.worker("--no-nanny", path=empty.parent)
    if when == "before":
        wait_for_workers(cluster)
    with pytest.raises(WorkerError) as refusal:
        run_all(cluster, greeting)
    assert worker.poll() is None
    assert f"cannot run capsieve {greeting.capsieve}" in str(refusal.value)
    assert "the worker tcp://127.0.0.1:" in str(refusal.value)
    assert "No module named 'capsieve'" in str(refusal.value)


def test_a_cluster_without_workers_is_told(
    cluster: Cluster, greeting: Greeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "_PATIENCE", 1.0)
    with pytest.raises(WorkerError, match="has had no workers for 1 seconds"):
        run_all(cluster, greeting)


def test_a_scheduler_that_goes_is_told(
    cluster: Cluster, marks: Path, greeting: Greeting, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster.worker("--no-nanny")
    errands = [work.Errand(number, str(marks), seconds=0.5) for number in range(20)]
    with Dask(cluster.address, greeting=greeting) as executor:
        killer = meanwhile(cluster.scheduler.kill, marks, 1)
        with pytest.raises(WorkerError, match=f"scheduler at {cluster.address} is gone"):
            list(executor.run(work.do, errands))
        killer.join()
    assert tuple(capfd.readouterr()) == ("", "")


def test_an_address_where_nobody_listens_is_told(
    greeting: Greeting, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("capsieve.engine.executors.dask_cluster._ANSWER", 1)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets it
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(WorkerError, match=f"no Dask scheduler answers at {address}"):
            Dask(address, greeting=greeting).__enter__()
    assert tuple(capfd.readouterr()) == ("", "")


def run_all(cluster: Cluster, greeting: Greeting) -> None:
    """Run a little on a cluster."""
    with Dask(cluster.address, greeting=greeting) as executor:
        list(executor.run(work.square, range(3)))


def wait_for_workers(cluster: Cluster) -> None:
    """Wait until the cluster has a worker, whatever it is."""
    from distributed import Client

    with Client(cluster.address, timeout=20, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=30)
