"""What holds for every executor, and how worker processes start and end."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import cv2
import pytest

from capsieve.errors import MissingExtraError, ParameterError, WorkerError
from capsieve.screening import executors
from capsieve.screening.executors import (
    ATTEMPTS,
    Executor,
    Outcome,
    Processes,
    Serial,
    choose_executor,
)
from support import executor_work as work

TESTS = Path(work.__file__).parents[1]
WITH_PROCESSES = ["processes", "dask"]
SCRIPT = """
import sys
from support import executor_work as work
from capsieve.screening.executors import choose_executor

def main(cluster, folder):
    asked = {"cluster": cluster} if cluster else {"workers": 2}
    with choose_executor(**asked) as executor:
        errands = [work.Errand(number, folder, seconds=60) for number in range(2)]
        list(executor.run(work.do, errands))
"""
GUARDED = SCRIPT + '\nif __name__ == "__main__":\n    main(*sys.argv[1:])\n'
BARE = SCRIPT + "\nmain(*sys.argv[1:])\n"


@pytest.fixture(scope="module", params=["serial", *WITH_PROCESSES])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    workers, cluster = {"serial": (1, None), "processes": (2, None), "dask": (None, "local:2")}[
        request.param
    ]
    with choose_executor(workers=workers, cluster=cluster) as chosen:
        assert chosen.name == request.param
        yield chosen


# In the serial executor a crash ends the only process.
with_processes = pytest.mark.parametrize("executor", WITH_PROCESSES, indirect=True, scope="module")


def results(outcomes: Iterable[Outcome[Any, Any]]) -> list[Any]:
    return sorted(outcome.result for outcome in outcomes if outcome.error is None)


def close(run: Iterator[Any]) -> None:
    run.close()  # pyright: ignore[reportAttributeAccessIssue]


# Every executor


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 25])
def test_every_task_has_one_outcome(executor: Executor, count: int) -> None:
    outcomes = list(executor.run(work.square, range(count)))
    assert sorted(outcome.task for outcome in outcomes) == list(range(count))
    assert all(outcome.result == outcome.task**2 for outcome in outcomes)
    assert all(outcome.error is None for outcome in outcomes)


@pytest.mark.slow
def test_an_exception_is_an_outcome_and_the_task_is_not_repeated(executor: Executor) -> None:
    outcomes = {o.task: o for o in executor.run(work.square, [3, -1, 4])}
    assert (outcomes[3].result, outcomes[4].result) == (9, 16)
    assert isinstance(outcomes[-1].error, ValueError)
    assert str(outcomes[-1].error) == "negative: -1"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [WorkerError, MissingExtraError])
def test_a_worker_that_cannot_do_any_task_ends_the_run(
    executor: Executor, kind: type[Exception]
) -> None:
    with pytest.raises((WorkerError, MissingExtraError), match="another model"):
        list(executor.run(work.refuse, [kind("another model")] * 20))
    assert results(executor.run(work.square, [5])) == [25]


@pytest.mark.slow
def test_tasks_are_taken_as_they_are_needed(executor: Executor) -> None:
    taken = 0

    def tasks() -> Iterator[int]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield number

    run = executor.run(work.square, tasks())
    for ended, _ in zip(range(1, 6), run, strict=False):
        assert taken <= ended + 2 * executor.workers
    close(run)
    assert results(executor.run(work.square, [7])) == [49]


@pytest.mark.slow
def test_tasks_may_depend_on_the_outcomes_of_others(executor: Executor) -> None:
    waiting = deque([2, 3])
    under_way = 2
    found = []

    def tasks() -> Iterator[int | None]:
        while waiting or under_way:
            yield waiting.popleft() if waiting else None

    for outcome in executor.run(work.square, tasks()):
        found.append(outcome.task)
        under_way -= 1
        assert outcome.result is not None
        if outcome.result < 100:
            waiting.append(outcome.result)
            under_way += 1
    assert sorted(found) == [2, 3, 4, 9, 16, 81]


def test_tasks_that_wait_for_nothing_are_an_error() -> None:
    with Serial() as serial, pytest.raises(RuntimeError, match="no task is ready"):
        list(serial.run(work.square, [1, None]))


@pytest.mark.slow
def test_what_the_tasks_raise_ends_the_run(executor: Executor) -> None:
    def tasks() -> Iterator[int]:
        yield 1
        raise KeyError("no more")

    with pytest.raises(KeyError, match="no more"):
        list(executor.run(work.square, tasks()))
    assert results(executor.run(work.square, [5])) == [25]


@pytest.mark.slow
def test_opencv_works_with_one_thread(executor: Executor) -> None:
    assert {o.result for o in executor.run(work.threads_of_opencv, range(4))} == {1}


@pytest.mark.slow
@with_processes
def test_an_exception_that_cannot_be_pickled_keeps_its_text(executor: Executor) -> None:
    (outcome,) = executor.run(work.be_stubborn, [1])
    assert isinstance(outcome.error, WorkerError)
    assert str(outcome.error) == "Stubborn: ab"


@pytest.mark.slow
@with_processes
def test_a_task_that_cannot_be_pickled_is_an_outcome(executor: Executor) -> None:
    locks: list[Any] = [threading.Lock()]
    outcomes = list(executor.run(work.square, [2, *locks, 3]))
    assert results(outcomes) == [4, 9]
    assert [o.task for o in outcomes if o.error is not None] == locks


@pytest.mark.slow
@with_processes
def test_work_that_exits_does_not_end_its_worker(executor: Executor) -> None:
    (outcome,) = executor.run(work.leave, [1])
    assert isinstance(outcome.error, WorkerError)
    assert str(outcome.error) == "SystemExit: 3"


@pytest.mark.slow
@with_processes
def test_workers_print_nothing(executor: Executor, capfd: pytest.CaptureFixture[str]) -> None:
    assert results(executor.run(work.shout, range(4))) == [1] * 4
    assert tuple(capfd.readouterr()) == ("", "")


@pytest.mark.slow
@with_processes
def test_a_task_whose_worker_dies_is_begun_again(executor: Executor, tmp_path: Path) -> None:
    deaths = ATTEMPTS - 1
    errands = [work.Errand(n, str(tmp_path), deaths if n == 2 else 0) for n in range(5)]
    assert results(executor.run(work.do, errands)) == list(range(5))
    assert len(work.beginnings(tmp_path, 2)) == ATTEMPTS


@pytest.mark.slow
@with_processes
def test_a_task_that_kills_every_worker_fails_with_its_name(
    executor: Executor, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    errands = [work.Errand(n, str(tmp_path), 99 if n == 3 else 0, 0.05) for n in range(8)]
    outcomes = {o.task.number: o for o in executor.run(work.do, errands)}
    assert len(work.beginnings(tmp_path, 3)) == ATTEMPTS
    assert isinstance(outcomes[3].error, WorkerError)
    assert "died 3 times while it worked on errand 3" in str(outcomes[3].error)
    assert [outcomes[n].result for n in range(8) if n != 3] == [0, 1, 2, 4, 5, 6, 7]
    assert tuple(capfd.readouterr()) == ("", "")


@pytest.mark.slow
def test_the_error_output_of_workers_that_died_is_kept() -> None:
    with Processes(1) as executor:
        first, second = executor.run(work.print_and_die, ["earlier", "fatal"])
    assert first.result == "earlier"
    assert second.printed.splitlines() == ["a line", "fatal"] * ATTEMPTS
    assert str(second.error).endswith('"fatal"')


@pytest.mark.slow
@with_processes
def test_a_worker_that_is_killed_loses_no_task(executor: Executor, tmp_path: Path) -> None:
    def kill() -> None:
        while not (begun := work.beginnings(tmp_path, 2)):
            time.sleep(0.01)
        os.kill(begun[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    errands = [work.Errand(n, str(tmp_path), seconds=0.4) for n in range(8)]
    assert results(executor.run(work.do, errands)) == list(range(8))
    killer.join()
    assert len(work.beginnings(tmp_path, 2)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [None, "local:1"], ids=["processes", "dask"])
def test_a_worker_goes_on_while_the_caller_is_busy(cluster: str | None, tmp_path: Path) -> None:
    errands = [work.Errand(n, str(tmp_path)) for n in range(2)]
    with choose_executor(cluster=cluster) if cluster else Processes(1) as executor:
        run = executor.run(work.do, errands)
        next(run)
        until = time.monotonic() + 20
        while not work.beginnings(tmp_path, 1) and time.monotonic() < until:
            time.sleep(0.05)
        assert work.beginnings(tmp_path, 1)
        assert len(list(run)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["", "local:2"], ids=["processes", "dask"])
def test_workers_end_when_their_parent_is_killed(tmp_path: Path, cluster: str) -> None:
    with start(GUARDED, cluster, str(tmp_path), folder=tmp_path) as parent:
        workers = both_begun(tmp_path)
        os.kill(parent.pid, signal.SIGKILL)
        assert work.gone(workers)


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["", "local:2"], ids=["processes", "dask"])
def test_an_interrupt_ends_all_processes_and_only_the_parent_prints(
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


# The choice


@pytest.mark.parametrize(
    ("options", "name", "number"),
    [
        ({"workers": 1}, "serial", 1),
        ({"workers": 3}, "processes", 3),
        ({"cluster": "local:4"}, "dask", 4),
        ({}, "processes", len(os.sched_getaffinity(0))),
    ],
)
def test_the_options_choose_the_executor(options: dict[str, Any], name: str, number: int) -> None:
    executor = choose_executor(**options)
    assert (executor.name, executor.workers) == (name, number)


@pytest.mark.parametrize(
    "options",
    [
        {"workers": 2, "cluster": "local:2"},
        *({"workers": workers} for workers in (0, -1)),
        *({"cluster": address} for address in ("", "local", "local:0", "local:-1", "local:two")),
        *({"cluster": address} for address in ("tcp://", "tcp://host", "tcp://:8786")),
        *({"cluster": address} for address in ("tcp://host:0", "tls://host:70000")),
        *({"cluster": address} for address in ("host:8786", "ucx://host:8786", "tcp://host:1/x")),
    ],
)
def test_wrong_options_are_parameter_errors(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        choose_executor(**options)


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "tcp://a-b.c:1", "tcp://[::1]:65535"])
def test_addresses_of_schedulers_are_accepted(address: str) -> None:
    assert choose_executor(cluster=address).name == "dask"


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'capsieve\[cluster\]'"):
        choose_executor(cluster="local:2")


# This process


def test_opencv_has_its_threads_again_after_each_task() -> None:
    threads = cv2.getNumThreads()
    cv2.setNumThreads(2)
    try:
        with Serial() as serial:
            for outcome in serial.run(work.threads_of_opencv, [1]):
                assert outcome.result == 1
                assert cv2.getNumThreads() == 2
            list(serial.run(work.square, [-1]))
        assert cv2.getNumThreads() == 2
    finally:
        cv2.setNumThreads(threads)


def test_an_interrupt_ends_the_serial_run() -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with Serial() as serial, pytest.raises(KeyboardInterrupt):
        list(serial.run(interrupt, [1]))


# Processes


def test_the_warm_up_takes_every_step() -> None:
    assert executors._warm_up() == "polyp"


@pytest.mark.slow
def test_an_abandoned_run_leaves_no_processes(tmp_path: Path) -> None:
    before = set(multiprocessing.active_children())
    errands = [work.Errand(n, str(tmp_path), seconds=60 * (n > 0)) for n in range(9)]
    with Processes(2) as executor:
        run = executor.run(work.do, errands)
        assert next(run).result == 0
        close(run)
        assert results(executor.run(work.square, [3])) == [9]
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.slow
def test_an_exception_in_the_block_leaves_no_processes(tmp_path: Path) -> None:
    before = set(multiprocessing.active_children())
    errands = [work.Errand(n, str(tmp_path), seconds=60 * (n > 0)) for n in range(9)]

    def interrupted() -> None:
        with Processes(2) as executor:
            for _ in executor.run(work.do, errands):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.slow
def test_a_warm_up_that_kills_its_worker_is_no_attempt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(executors, "_serve", work.serve_and_die_in_the_warm_up)
    errands = [work.Errand(n, str(tmp_path), deaths=2 * (n == 0)) for n in range(3)]
    with Processes(1) as executor:
        assert results(executor.run(work.do, errands)) == [0, 1, 2]


@pytest.mark.slow
def test_an_idle_worker_that_was_killed_is_replaced() -> None:
    with Processes(1) as executor:
        (process,) = results(executor.run(work.pid, [1]))
        os.kill(process, signal.SIGKILL)
        assert work.gone([process])
        assert results(executor.run(work.square, [3, 4])) == [9, 16]


@pytest.mark.slow
def test_processes_that_do_not_start_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(multiprocessing.active_children())
    monkeypatch.setattr(executors, "_serve", work.refuse_to_start)
    with Processes(1) as executor, pytest.raises(WorkerError, match="do not start"):
        list(executor.run(work.square, range(3)))
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.slow
def test_a_script_without_a_guard_gets_advice(tmp_path: Path) -> None:
    with start(BARE, "", str(tmp_path), folder=tmp_path) as parent:
        output, _ = parent.communicate(timeout=60)
    assert parent.returncode == 1
    assert 'below `if __name__ == "__main__":`' in output.splitlines()[-1]


def start(script: str, *arguments: str, folder: Path) -> "subprocess.Popen[str]":
    """Start a script in a group of processes of its own, as a terminal does."""
    path = folder / "script.py"
    path.write_text(script)
    return subprocess.Popen(
        [sys.executable, str(path), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
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
