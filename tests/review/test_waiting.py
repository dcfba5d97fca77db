"""Wrong passwords cost time: whoever guesses, and nobody else."""

import pytest

from capsieve.review import waiting as module
from capsieve.review.waiting import Waiting, client_address

HERE, THERE = "192.0.2.1", "192.0.2.2"


def test_each_further_wrong_password_doubles_the_wait(clock):
    waiting = Waiting(free=3, longest=20, clock=clock)
    waits = []
    for _ in range(8):
        waiting.failed("anna", HERE)
        waits.append(waiting.left("anna", HERE))
    assert waits == [0, 0, 1, 2, 4, 8, 16, 20]
    assert waiting.left("bert", HERE) == 0
    clock.now += 20
    assert waiting.left("anna", HERE) == 0


def test_who_guesses_elsewhere_keeps_nobody_out(clock):
    waiting = Waiting(clock=clock)
    for _ in range(50):
        waiting.failed("anna", THERE)
    assert waiting.left("anna", THERE) > 0
    assert waiting.left("anna", HERE) == 0


def test_many_names_are_no_way_around(clock):
    waiting = Waiting(clock=clock)
    tries = 0
    while waiting.left(f"name {tries}", THERE) == 0:
        waiting.failed(f"name {tries}", THERE)
        tries += 1
    assert 3 < tries < 100
    assert waiting.left("anna", THERE) > 0
    assert waiting.left("anna", HERE) == 0


def test_a_right_password_forgets_the_wrong_ones(clock):
    waiting = Waiting(free=1, clock=clock)
    waiting.failed("anna", HERE)
    assert waiting.left("anna", HERE) > 0
    waiting.passed("anna", HERE)
    assert waiting.left("anna", HERE) == 0


def test_readers_who_log_in_all_day_never_wait(clock):
    waiting = Waiting(clock=clock)
    for _ in range(200):
        assert waiting.left("anna", HERE) == 0
        waiting.failed("anna", HERE)
        waiting.passed("anna", HERE)


def test_wrong_passwords_are_forgotten_in_time(clock):
    waiting = Waiting(free=2, clock=clock)
    waiting.failed("anna", HERE)
    clock.now += 4000
    waiting.failed("anna", HERE)
    assert waiting.left("anna", HERE) == 0


def test_endless_names_take_no_endless_memory(clock, monkeypatch):
    monkeypatch.setattr(module, "_MOST", 10)
    waiting = Waiting(free=1, clock=clock)
    for number in range(50):
        waiting.failed("x" * number, f"192.0.2.{number}")
    assert len(waiting._failures) == 10
    assert waiting.left("x" * 49, "192.0.2.49") > 0
    waiting.failed("\ud800", HERE)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2:3::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
    ],
)
def test_an_address_is_that_of_a_line(one, other, same):
    first, second = (client_address({"client": (host, 1)}) for host in (one, other))
    assert (first == second) is same


def test_a_request_from_nowhere_has_an_address_too():
    assert client_address({}) == client_address({"client": None}) == ""
    assert client_address({"client": ("somewhere", 0)}) == "somewhere"
