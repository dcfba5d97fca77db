"""What all tests share."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# Compiled kernels make the first example slow, so no example has a deadline. In CI the examples
# are the same ones every time: a change that fails there fails because of the change.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# A shell's background jobs ignore Ctrl-C, and their children with them: those that tests interrupt
# must not.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of tests/soak."""
    parser.addoption("--soak-seed", type=int, default=0)
    parser.addoption("--soak-minutes", type=float, default=5.0)
