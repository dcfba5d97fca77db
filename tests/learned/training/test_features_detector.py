"""What a training screens with: by what it is known again."""

import json

import pytest

from capsieve.curvature.constants import Constants
from capsieve.learned.features.registry import NAMES
from capsieve.learned.training import features_detector
from capsieve.learned.training.features_detector import FeaturesDetector


def test_its_identity_survives_json():
    identity = FeaturesDetector().identity
    assert json.loads(json.dumps(identity)) == identity


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VERSION", 1000),
        ("NAMES", (*NAMES, "new.one")),
        ("NAMES", NAMES[::-1]),
        ("Constants", lambda: Constants(least_area=4.0)),
    ],
)
def test_other_features_are_another_detector(monkeypatch, name, value):
    before = FeaturesDetector().identity
    monkeypatch.setattr(features_detector, name, value)
    assert FeaturesDetector().identity != before
