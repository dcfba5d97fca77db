"""Pre-selection and the binary classifier."""

from dataclasses import replace

import pytest

from capsieve.paper.decision import decide, preselection
from capsieve.parameters import Parameters
from capsieve.results import Feature

FEATURE = Feature(
    number=1,
    size=400,
    eccentricity=1.5,
    row=1.0,
    col=1.0,
    ball_row=1.0,
    ball_col=1.0,
    radius=40,
    rejected="",
    moment_rr=1.0,
    moment_rc=0.0,
    moment_cc=1.0,
)


@pytest.mark.parametrize(
    ("texture_max", "expected"),
    [
        (0.0, "texture-low"),
        (2.999999, "texture-low"),
        (3.0, None),
        (8.0, None),
        (8.000001, "texture-high"),
    ],
)
def test_both_bounds_of_the_texture_are_inclusive(texture_max, expected):
    assert preselection(texture_max, Parameters()) == expected


@pytest.mark.parametrize(
    ("radii", "expected"),
    [
        ([], ("normal", "no-feature", 0)),
        ([0, 0], ("normal", "no-feature", 0)),
        ([36], ("normal", "radius-low", 36)),
        ([37], ("polyp", "polyp", 37)),
        ([34, 50, 41], ("polyp", "polyp", 50)),
    ],
)
def test_the_largest_ball_decides(radii, expected):
    features = [replace(FEATURE, radius=radius) for radius in radii]
    assert decide(features, Parameters()) == expected
