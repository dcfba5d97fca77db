"""Targets: what may be asked for, and how it is told."""

import pytest

from capsieve.calibration.target import Target
from capsieve.errors import ParameterError


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("specificity", 0.0),
        ("specificity", 90.0),  # percent that was taken for a share
        ("sensitivity", float("nan")),
        ("frames", 0.0),
        ("frames", float("inf")),
    ],
)
def test_what_cannot_be_asked_for_is_refused_by_name(kind, value):
    with pytest.raises(ParameterError, match=kind):
        Target(kind, value)


def test_targets_are_told_as_they_were_given():
    assert Target("specificity", 0.999).words("polyp") == "at least 99.9 % specificity"
    assert Target("sensitivity", 0.07).words("run") == "at least 7 % of the runs"
    assert Target("frames", 1500).words("polyp") == "at most 1,500 frames to read per exam"
