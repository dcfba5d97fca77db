"""The executor in this process."""

from collections.abc import Iterator

import cv2
import pytest

from capsieve.engine.executors.serial import Serial
from support import executor_work as work


@pytest.fixture
def two_threads() -> Iterator[None]:
    usual = cv2.getNumThreads()
    cv2.setNumThreads(2)
    yield
    cv2.setNumThreads(usual)


@pytest.mark.usefixtures("two_threads")
def test_opencv_gets_its_threads_back() -> None:
    with Serial() as serial:
        for outcome in serial.run(work.threads_of_opencv, [1]):
            assert outcome.result == 1
            assert cv2.getNumThreads() == 2
        list(serial.run(work.square, [-1]))
    assert cv2.getNumThreads() == 2


def test_tasks_end_in_their_order() -> None:
    with Serial() as serial:
        assert [o.task for o in serial.run(work.square, [3, -1, 2])] == [3, -1, 2]


def test_an_interrupt_comes_through() -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with Serial() as serial, pytest.raises(KeyboardInterrupt):
        list(serial.run(interrupt, [1]))
