"""What holds for every executor."""

import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from capsieve.engine.executors.choose import choose_executor
from capsieve.engine.executors.executor import ATTEMPTS, Executor, Outcome
from capsieve.engine.executors.versions import Greeting
from capsieve.errors import WorkerError
from support import executor_work as work

SURVIVORS = ["processes", "dask"]


@pytest.fixture(scope="module", params=["serial", *SURVIVORS])
def executor(request: pytest.FixtureRequest, greeting: Greeting) -> Iterator[Executor]:
    asked = {"serial": (1, None), "processes": (2, None), "dask": (None, "local:2")}
    workers, cluster = asked[request.param]
    with choose_executor(workers=workers, cluster=cluster, greeting=greeting) as chosen:
        assert chosen.name == request.param
        yield chosen


pytestmark = pytest.mark.slow
# In the serial one a crash is the end of the only process.
survivors = pytest.mark.parametrize("executor", SURVIVORS, indirect=True, scope="module")


def results(outcomes: Iterable[Outcome[Any, Any]]) -> list[Any]:
    return sorted(outcome.result for outcome in outcomes if outcome.error is None)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 25])
def test_every_task_has_one_outcome(executor: Executor, count: int) -> None:
    outcomes = list(executor.run(work.square, range(count)))
    assert sorted(outcome.task for outcome in outcomes) == list(range(count))
    assert all(outcome.result == outcome.task**2 for outcome in outcomes)
    assert all(outcome.error is None for outcome in outcomes)


def test_an_exception_is_an_outcome_and_not_tried_again(executor: Executor) -> None:
    outcomes = {o.task: o for o in executor.run(work.square, [3, -1, 4])}
    assert (outcomes[3].result, outcomes[4].result) == (9, 16)
    assert outcomes[-1].result is None
    assert isinstance(outcomes[-1].error, ValueError)
    assert str(outcomes[-1].error) == "negative: -1"


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
    run.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert [o.result for o in executor.run(work.square, [7])] == [49]


def test_what_the_tasks_raise_comes_through(executor: Executor) -> None:
    def tasks() -> Iterator[int]:
        yield 1
        raise KeyError("no more")

    with pytest.raises(KeyError, match="no more"):
        list(executor.run(work.square, tasks()))
    assert [o.result for o in executor.run(work.square, [5])] == [25]


def test_opencv_works_with_one_thread(executor: Executor) -> None:
    assert {o.result for o in executor.run(work.threads_of_opencv, range(4))} == {1}


@survivors
def test_an_exception_that_cannot_be_pickled_keeps_its_words(executor: Executor) -> None:
    (outcome,) = executor.run(work.be_stubborn, [1])
    assert isinstance(outcome.error, WorkerError)
    assert str(outcome.error) == "Stubborn: ab"


@survivors
def test_a_task_that_cannot_be_pickled_is_named(executor: Executor) -> None:
    locks = [threading.Lock()]
    outcomes = list(executor.run(work.square, [2, *locks, 3]))  # pyright: ignore[reportArgumentType]
    assert results(outcomes) == [4, 9]
    assert [o.task for o in outcomes if o.error is not None] == locks


@survivors
def test_work_that_leaves_does_not_take_its_worker_along(executor: Executor) -> None:
    (outcome,) = executor.run(work.leave, [1])
    assert str(outcome.error) == "SystemExit ended the work on 1"


@survivors
def test_workers_print_nothing(executor: Executor, capfd: pytest.CaptureFixture[str]) -> None:
    assert [o.result for o in executor.run(work.shout, range(4))] == [1] * 4
    assert tuple(capfd.readouterr()) == ("", "")


@survivors
@pytest.mark.parametrize("deaths", range(1, ATTEMPTS))
def test_a_task_whose_worker_dies_is_begun_again(
    executor: Executor, tmp_path: Path, deaths: int
) -> None:
    errands = [work.Errand(n, str(tmp_path), deaths if n == 2 else 0) for n in range(5)]
    outcomes = list(executor.run(work.do, errands))
    assert results(outcomes) == list(range(5))
    assert len(work.beginnings(tmp_path, 2)) == deaths + 1


@survivors
def test_a_task_that_kills_every_worker_is_given_up_and_named(
    executor: Executor, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    errands = [work.Errand(n, str(tmp_path), 99 if n == 3 else 0, 0.05) for n in range(8)]
    outcomes = {o.task.number: o for o in executor.run(work.do, errands)}
    assert len(work.beginnings(tmp_path, 3)) == ATTEMPTS
    assert isinstance(outcomes[3].error, WorkerError)
    assert str(outcomes[3].error) == "the worker died 3 times while it worked on errand 3"
    assert [outcomes[n].result for n in range(8) if n != 3] == [0, 1, 2, 4, 5, 6, 7]
    assert tuple(capfd.readouterr()) == ("", "")


@survivors
def test_a_worker_killed_from_outside_loses_nothing(executor: Executor, tmp_path: Path) -> None:
    errands = [work.Errand(n, str(tmp_path), seconds=0.4) for n in range(8)]
    victim: list[int] = []

    def kill() -> None:
        while not (begun := work.beginnings(tmp_path, 2)):
            time.sleep(0.01)
        os.kill(begun[0], signal.SIGKILL)
        victim.append(begun[0])

    killer = threading.Thread(target=kill)
    killer.start()
    outcomes = list(executor.run(work.do, errands))
    killer.join()
    assert results(outcomes) == list(range(8))
    assert len(work.beginnings(tmp_path, 2)) == 2
    assert victim
