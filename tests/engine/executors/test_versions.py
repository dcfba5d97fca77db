"""What a worker must be."""

import pickle
from dataclasses import replace

import pytest

from capsieve import Parameters
from capsieve._version import __version__
from capsieve.detectors import load_detector
from capsieve.engine.executors.versions import Greeting, check, greeting_for
from capsieve.errors import WorkerError


def test_this_process_fits_itself(greeting: Greeting) -> None:
    check(pickle.loads(pickle.dumps(greeting)))


def test_other_parameters_fit_as_well() -> None:
    check(greeting_for(load_detector("paper", parameters=Parameters(radius_threshold=40))))


def test_another_version_is_refused_and_both_are_named(greeting: Greeting) -> None:
    with pytest.raises(WorkerError) as refusal:
        check(replace(greeting, capsieve="0.0.9"))
    assert f"has capsieve {__version__}, and this run needs 0.0.9" in str(refusal.value)


def test_another_detector_is_refused_and_both_are_named(greeting: Greeting) -> None:
    with pytest.raises(WorkerError) as refusal:
        check(replace(greeting, identity={**greeting.identity, "sha256": "abc"}))
    assert "has another detector paper, with sha256 missing" in str(refusal.value)
    assert "this run needs sha256 abc" in str(refusal.value)


def test_a_detector_that_the_worker_does_not_know_is_named(greeting: Greeting) -> None:
    with pytest.raises(WorkerError, match="cannot load the detector unheard: detector: there is"):
        check(replace(greeting, detector="unheard"))
