"""What the tests of the executors share."""

import pytest

from capsieve.detectors import load_detector
from capsieve.engine.executors.versions import Greeting, greeting_for


@pytest.fixture(scope="session")
def greeting() -> Greeting:
    return greeting_for(load_detector())
