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
from capsieve._version import __version__
from capsieve.errors import ParameterError, WorkerError
from capsieve.screening import dask_executor
from capsieve.screening.dask_executor import Dask
from capsieve.screening.executors import Outcome
from support import executor_work as work

dask = pytest.importorskip("dask", reason="the extra cluster is not installed")
pytestmark = pytest.mark.slow

TESTS = Path(work.__file__).parents[1]
PACKAGE = Path(capsieve.__file__).parent
CERTIFICATE = str(TESTS / "data" / "cluster.pem")  # key and certificate, for these tests only
TLS = {
    "distributed.comm.tls.ca-file": CERTIFICATE,
    **{
        f"distributed.comm.tls.{role}.cert": CERTIFICATE
        for role in ("client", "scheduler", "worker")
    },
}


class Cluster:
    """A scheduler on the loopback interface, and workers that come and go."""

    def __init__(self, folder: Path, protocol: str = "tcp") -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        self.address = f"{protocol}://127.0.0.1:{port}"
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", str(port), "--protocol", protocol
        )

    def worker(self, *options: str, path: Path | None = None) -> "subprocess.Popen[bytes]":
        """Start a worker; modules are searched in `path` first."""
        places = [str(place) for place in (path, TESTS, PACKAGE.parent) if place]
        options = ("--nthreads", "1", "--host", "127.0.0.1", *options)
        return self._start("worker", self.address, *options, path=os.pathsep.join(places))

    def _start(self, *command: str, path: str = "") -> "subprocess.Popen[bytes]":
        tls = {f"DASK_{key}".upper().replace(".", "__").replace("-", "_"): TLS[key] for key in TLS}
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *command, "--no-dashboard"],
            env={
                **os.environ,
                **tls,
                "PYTHONPATH": path,
                "DASK_TEMPORARY_DIRECTORY": str(self._folder),
            },
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
def cluster(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    started = Cluster(tmp_path, getattr(request, "param", "tcp"))
    yield started
    started.close()


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def test_a_killed_worker_loses_no_task(cluster: Cluster, marks: Path) -> None:
    victim, _ = cluster.worker("--no-nanny"), cluster.worker("--no-nanny")
    errands = [work.Errand(number, str(marks), seconds=0.3) for number in range(12)]
    with Dask(cluster.address) as executor:
        killer = as_soon_as_begun(victim.kill, marks, 3)
        assert numbers(executor.run(work.do, errands)) == list(range(12))
        killer.join()
    assert victim.wait() == -signal.SIGKILL


def test_workers_that_join_later_receive_tasks(cluster: Cluster, marks: Path) -> None:
    cluster.worker("--no-nanny")

    def workers() -> int:
        return len({path.name.split("-")[1] for path in marks.iterdir()})

    def errands() -> Iterator[work.Errand]:
        until = time.monotonic() + 60
        number = 0
        while workers() < 2 and time.monotonic() < until:
            yield work.Errand(number, str(marks), seconds=0.1)
            number += 1

    with Dask(cluster.address) as executor:
        joiner = as_soon_as_begun(lambda: cluster.worker("--no-nanny"), marks, 0)
        found = numbers(executor.run(work.do, errands()))
        joiner.join()
    assert found == list(range(len(found)))
    assert workers() == 2


def test_the_scheduler_decides_how_often_a_task_is_begun(cluster: Cluster, marks: Path) -> None:
    cluster.worker()  # with a nanny, which starts it again
    errands = [work.Errand(n, str(marks), deaths=99 * (n == 1), seconds=0.01) for n in range(5)]
    with Dask(cluster.address) as executor:
        outcomes = list(executor.run(work.do, errands))
    (failed,) = [outcome for outcome in outcomes if outcome.error]
    assert str(failed.error) == "the worker died 4 times while it worked on errand 1"
    assert len(work.beginnings(marks, 1)) == 4  # Dask's default
    assert len(outcomes) == 5


def test_a_worker_of_another_version_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    other = tmp_path / "other" / "capsieve"
    shutil.copytree(PACKAGE, other, ignore=shutil.ignore_patterns("__pycache__"))
    (other / "_version.py").write_text('__version__ = "0.0.9"\n')
    cluster.worker("--no-nanny", path=other.parent)
    with pytest.raises(WorkerError, match=f"has capsieve 0.0.9, and this run needs {__version__}"):
        run_squares(cluster)


def test_a_worker_without_capsieve_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    empty = tmp_path / "empty" / "capsieve"
    empty.mkdir(parents=True)
    (empty / "__init__.py").write_text("raise ModuleNotFoundError('there is no capsieve')\n")
    worker = cluster.worker("--no-nanny", path=empty.parent)
    with pytest.raises(WorkerError, match=f"there is no capsieve.*install capsieve {__version__}"):
        run_squares(cluster)
    assert worker.poll() is None


def test_a_worker_that_cannot_do_the_work_is_named(cluster: Cluster) -> None:
    cluster.worker("--no-nanny")
    error = WorkerError("it has another model file")
    named = rf"the worker {socket.gethostname()}:\d+ cannot be used: it has another model file"
    with Dask(cluster.address) as executor, pytest.raises(WorkerError, match=named):
        list(executor.run(work.refuse, [error]))


def test_a_cluster_without_workers_is_an_error(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "_IDLE_SECONDS", 1.0)
    with pytest.raises(WorkerError, match="has had no workers for 1 seconds"):
        run_squares(cluster)


def test_a_lost_scheduler_is_an_error(
    cluster: Cluster, marks: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster.worker("--no-nanny")
    errands = [work.Errand(number, str(marks), seconds=0.5) for number in range(20)]
    with Dask(cluster.address) as executor:
        killer = as_soon_as_begun(cluster.scheduler.kill, marks, 1)
        with pytest.raises(WorkerError, match=f"scheduler at {cluster.address} is lost"):
            list(executor.run(work.do, errands))
        killer.join()
    assert tuple(capfd.readouterr()) == ("", "")


@pytest.mark.parametrize("protocol", ["tcp", "tls"])
def test_an_address_without_a_scheduler_is_an_error(
    protocol: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dask_executor, "_CONNECT_SECONDS", 1)
    with socket.socket() as unused, dask.config.set(TLS):
        unused.bind(("127.0.0.1", 0))  # bound and not listening: no other process gets it
        address = f"{protocol}://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(WorkerError, match=f"no Dask scheduler answers at {address}"):
            Dask(address).__enter__()
    assert tuple(capfd.readouterr()) == ("", "")


@pytest.mark.parametrize("cluster", ["tls"], indirect=True)
def test_a_cluster_with_tls_uses_the_certificates_of_dask(cluster: Cluster) -> None:
    cluster.worker("--no-nanny")
    with dask.config.set(TLS):
        assert run_squares(cluster) == [0, 1, 4]


@pytest.mark.parametrize("certificate", [None, "absent.pem", __file__])
def test_tls_without_a_certificate_is_a_parameter_error(certificate: str | None) -> None:
    wrong = {**TLS, "distributed.comm.tls.client.cert": certificate}
    with dask.config.set(wrong), pytest.raises(ParameterError, match=r"distributed\.comm\.tls"):
        Dask("tls://127.0.0.1:8786")


def as_soon_as_begun(action: Callable[[], object], folder: Path, number: int) -> threading.Thread:
    """Call a function as soon as an errand has begun."""

    def wait() -> None:
        until = time.monotonic() + 60
        while not work.beginnings(folder, number) and time.monotonic() < until:
            time.sleep(0.02)
        action()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def numbers(outcomes: Iterator[Outcome[work.Errand, int]]) -> list[int]:
    ended = list(outcomes)
    assert [outcome.error for outcome in ended if outcome.error] == []
    return sorted(outcome.task.number for outcome in ended)


def run_squares(cluster: Cluster) -> list[int]:
    with Dask(cluster.address) as executor:
        return sorted(outcome.result or 0 for outcome in executor.run(work.square, range(3)))
