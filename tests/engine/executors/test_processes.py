"""The executor in processes: how they come and go."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from capsieve.engine.executors import processes
from capsieve.engine.executors.processes import Processes
from capsieve.engine.executors.warm_up import warm_up
from capsieve.errors import ParameterError, WorkerError
from support import executor_work as work

TESTS = Path(work.__file__).parents[1]
SCRIPT = """
import sys
from support import executor_work as work
from capsieve.detectors import load_detector
from capsieve.engine.executors.choose import choose_executor
from capsieve.engine.executors.versions import greeting_for

def main(cluster, folder):
    asked = {"workers": None, "cluster": cluster} if cluster else {"workers": 2, "cluster": None}
    with choose_executor(**asked, greeting=greeting_for(load_detector())) as executor:
        errands = [work.Errand(number, folder, seconds=60) for number in range(2)]
        list(executor.run(work.do, errands))
"""
GUARDED = SCRIPT + '\nif __name__ == "__main__":\n    main(*sys.argv[1:])\n'
BARE = SCRIPT + "\nmain(*sys.argv[1:])\n"


def start(script: str, *arguments: str, folder: Path) -> "subprocess.Popen[str]":
    """Start a script in a group of processes of its own, as a terminal does."""
    path = folder / "script.py"
    path.write_text(script)
    return subprocess.Popen(
        [sys.executable, str(path), *arguments],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def both_begun(folder: Path) -> list[int]:
    """Return the two workers of a script, as soon as both work."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if len(workers := [pid for n in range(2) for pid in work.beginnings(folder, n)]) == 2:
            return workers
        time.sleep(0.05)
    raise AssertionError("the workers did not begin")


@pytest.mark.parametrize("workers", [0, -1])
def test_a_number_of_workers_is_positive(workers: int) -> None:
    with pytest.raises(ParameterError, match="workers: must be at least 1"):
        Processes(workers)


def test_by_default_every_core_has_a_worker() -> None:
    assert Processes().workers == len(os.sched_getaffinity(0))


def test_the_frame_to_warm_up_takes_every_step() -> None:
    assert warm_up() == "polyp"


@pytest.mark.slow
def test_a_run_that_is_given_up_leaves_no_processes(tmp_path: Path) -> None:
    errands = [work.Errand(n, str(tmp_path), seconds=60 * (n > 0)) for n in range(9)]
    with Processes(2) as executor:
        run = executor.run(work.do, errands)
        assert next(run).result == 0
        run.close()  # pyright: ignore[reportAttributeAccessIssue]
        assert [o.result for o in executor.run(work.square, [3])] == [9]
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_an_exception_in_the_block_leaves_no_processes(tmp_path: Path) -> None:
    errands = [work.Errand(n, str(tmp_path), seconds=60 * (n > 0)) for n in range(9)]

    def interrupted() -> None:
        with Processes(2) as executor:
            for _ in executor.run(work.do, errands):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_a_freed_worker_does_not_wait_for_the_caller(tmp_path: Path) -> None:
    errands = [work.Errand(n, str(tmp_path)) for n in range(2)]
    with Processes(1) as executor:
        run = executor.run(work.do, errands)
        next(run)
        until = time.monotonic() + 20  # the caller is busy, and the worker goes on
        while not work.beginnings(tmp_path, 1) and time.monotonic() < until:
            time.sleep(0.05)
        assert work.beginnings(tmp_path, 1)
        assert len(list(run)) == 1


@pytest.mark.slow
def test_a_warm_up_that_kills_its_worker_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "warm_up", work.kill_myself)
    errands = [work.Errand(n, str(tmp_path), deaths=2 * (n == 0)) for n in range(3)]
    with Processes(1) as executor:
        outcomes = list(executor.run(work.do, errands))
    assert sorted(o.task.number for o in outcomes if o.error is None) == [0, 1, 2]


@pytest.mark.slow
def test_an_idle_worker_that_was_killed_is_replaced() -> None:
    with Processes(1) as executor:
        (outcome,) = executor.run(work.pid, [1])
        assert outcome.result
        os.kill(outcome.result, signal.SIGKILL)
        assert work.gone([outcome.result])
        assert [o.result for o in executor.run(work.square, [3, 4])] == [9, 16]


@pytest.mark.slow
def test_processes_that_do_not_start_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_settle", work.refuse_to_settle)
    with Processes(1) as executor, pytest.raises(WorkerError, match="do not start"):
        list(executor.run(work.square, range(3)))
    assert multiprocessing.active_children() == []


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["", "local:2"], ids=["processes", "dask"])
def test_workers_go_when_their_parent_is_killed(tmp_path: Path, cluster: str) -> None:
    with start(GUARDED, cluster, str(tmp_path), folder=tmp_path) as parent:
        workers = both_begun(tmp_path)
        os.kill(parent.pid, signal.SIGKILL)
        assert work.gone(workers)


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["", "local:2"], ids=["processes", "dask"])
def test_an_interrupt_ends_all_at_once_and_only_the_parent_speaks(
    tmp_path: Path, cluster: str
) -> None:
    with start(GUARDED, cluster, str(tmp_path), folder=tmp_path) as parent:
        workers = both_begun(tmp_path)
        os.killpg(parent.pid, signal.SIGINT)  # as Ctrl-C does
        output, _ = parent.communicate(timeout=30)
        assert work.gone(workers)
    assert parent.returncode == -signal.SIGINT
    assert output.count("Traceback") == 1
    assert output.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.slow
def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    with start(BARE, "", str(tmp_path), folder=tmp_path) as parent:
        output, _ = parent.communicate(timeout=60)
    assert parent.returncode == 1
    assert 'below `if __name__ == "__main__":`' in output.splitlines()[-1]
