"""Sessions end, and wrong passwords cost time."""

import pytest

from capsieve.review.sessions import Reader, Sessions, Waiting

ANNA = Reader("anna", "reader")


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_session_ends_when_it_is_idle_and_in_any_case(clock):
    sessions = Sessions(longest=100, idle=10, clock=clock)
    secret = sessions.begin(ANNA)
    for _ in range(11):
        clock.now += 9
        assert sessions.reader(secret) == ANNA
    clock.now += 2  # used a moment ago, and too old
    assert sessions.reader(secret) is None
    secret = sessions.begin(ANNA)
    clock.now += 10
    assert sessions.reader(secret) is None


def test_what_a_page_does_on_its_own_keeps_no_session_alive(clock):
    sessions = Sessions(longest=100, idle=10, clock=clock)
    secret = sessions.begin(ANNA)
    clock.now += 6
    assert sessions.reader(secret, touch=False) == ANNA
    clock.now += 6
    assert sessions.reader(secret) is None


def test_secrets_differ_and_end_one_by_one(clock):
    sessions = Sessions(longest=100, idle=10, clock=clock)
    first, second = sessions.begin(ANNA), sessions.begin(ANNA)
    assert first != second
    sessions.end(first)
    assert sessions.reader(first) is None
    assert sessions.reader(second) == ANNA
    assert sessions.reader("\ud800") is None


def test_endless_logins_take_no_endless_memory(clock):
    sessions = Sessions(longest=100, idle=100, clock=clock)
    first = sessions.begin(ANNA)
    others = []
    for _ in range(1000):
        clock.now += 0.001
        others.append(sessions.begin(ANNA))
    assert sessions.reader(first) is None
    assert sessions.reader(others[-1]) == ANNA


def test_each_further_wrong_password_doubles_the_wait(clock):
    waiting = Waiting(free=3, longest=20, clock=clock)
    waits = []
    for _ in range(8):
        waiting.failed("anna")
        waits.append(waiting.left("anna"))
    assert waits == [0, 0, 1, 2, 4, 8, 16, 20]
    assert waiting.left("bert") == 0
    clock.now += 20
    assert waiting.left("anna") == 0


def test_a_right_password_forgets_the_wrong_ones(clock):
    waiting = Waiting(free=1, clock=clock)
    waiting.failed("anna")
    assert waiting.left("anna") > 0
    waiting.passed("anna")
    assert waiting.left("anna") == 0
