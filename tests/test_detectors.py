"""Detectors, behind one interface."""

import json
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capsieve
from capsieve import FieldOfView, Frame, Parameters
from capsieve.detector import demo_range
from capsieve.detectors import PaperDetector, load_detector
from capsieve.errors import FrameError, ParameterError
from capsieve.phantom import polyp_frame

MINE = Parameters(radius_threshold=40, channel="red")


@pytest.mark.parametrize("name", ["paper", Path("paper")])
def test_the_paper_is_known_by_its_name(name):
    assert load_detector(name) == PaperDetector(Parameters())


def test_the_paper_is_the_default():
    assert load_detector() == load_detector("paper")


def test_parameters_are_handed_on():
    detector = load_detector("paper", parameters=MINE)
    assert detector.parameters == MINE
    assert detector.identity["parameters"].items() <= MINE.to_dict().items()


@pytest.mark.parametrize("name", ["papre", "", "models/mine", Path("a/b")])
def test_an_unknown_detector_is_named_in_a_sentence(name):
    with pytest.raises(ParameterError) as caught:
        load_detector(name)
    assert repr(str(name)) in str(caught.value)
    assert "this version knows: paper, curvature, learned" in str(caught.value)
    assert caught.value.field == "detector"


@pytest.mark.parametrize("field", [None, FieldOfView("circle", 63.5, 63.5, 55)])
@pytest.mark.parametrize("parameters", [Parameters(), MINE])
def test_scoring_is_analyzing(field, parameters):
    for seed in range(3):
        pixels = polyp_frame(seed=seed, size=128)
        expected = capsieve.analyze(pixels, parameters, field)
        assert load_detector(parameters=parameters).score(pixels, field) == expected


def test_a_frame_is_scored_like_its_pixels():
    pixels = polyp_frame(size=96)
    detector = load_detector()
    assert detector.score(Frame(pixels, exam="a", number=3)) == detector.score(pixels)


def test_the_identity_is_plain_and_names_the_detector():
    identity = load_detector().identity
    assert json.loads(json.dumps(identity)) == identity
    assert identity["name"] == load_detector().name == "paper"


def test_the_score_threshold_makes_no_other_paper_detector():
    assert PaperDetector(Parameters(score_threshold=0.5)).identity == PaperDetector().identity


def test_the_papers_threshold_is_its_least_radius():
    assert PaperDetector(MINE).score_threshold == 40
    assert PaperDetector(MINE).value_names == ()


def test_many_frames_are_scored_as_one_by_one():
    detector = load_detector()
    field = FieldOfView("circle", 47.5, 47.5, 44)
    frames = [polyp_frame(seed=seed, size=96) for seed in range(3)]
    outcomes = detector.score_batch([*frames, np.zeros((2, 2, 3), np.uint8)], [None, field] * 2)
    expected = [
        detector.score(one, view) for one, view in zip(frames, [None, field, None], strict=True)
    ]
    assert outcomes[:3] == expected
    assert isinstance(outcomes[3], FrameError)


@pytest.mark.parametrize("name", ["mine.onnx", "MINE.ONNX", "there"])
def test_what_looks_like_a_model_or_is_a_file_is_loaded_as_a_model(name, tmp_path, monkeypatch):
    module: Any = ModuleType("capsieve.learned.detector")
    module.model_detector = lambda path, parameters: (path, parameters)
    monkeypatch.setitem(sys.modules, "capsieve.learned.detector", module)
    path = tmp_path / name
    if name == "there":
        path.write_bytes(b"anything")
    assert load_detector(str(path), parameters=MINE) == (path, MINE)


def test_the_shipped_model_is_learned(monkeypatch):
    module: Any = ModuleType("capsieve.learned.detector")
    module.shipped_detector = lambda parameters: parameters
    monkeypatch.setitem(sys.modules, "capsieve.learned.detector", module)
    assert load_detector("learned", parameters=MINE) == MINE


@settings(max_examples=20)
@given(st.integers(1, 200), st.sampled_from(["gray", "red", "lab-a"]), st.booleans())
def test_other_parameters_are_another_identity(radius, channel, vignetting):
    other = Parameters(radius_threshold=radius, channel=channel, vignetting=vignetting)
    same = other == Parameters()
    assert (PaperDetector(other).identity == PaperDetector().identity) == same


def test_a_detector_is_the_same_after_pickling():
    detector = load_detector(parameters=MINE)
    again = pickle.loads(pickle.dumps(detector))
    pixels = polyp_frame(size=96)
    assert again.identity == detector.identity
    assert again == detector
    assert again.score(pixels) == detector.score(pixels)


def test_the_reference_is_that_of_the_paper():
    assert load_detector(parameters=MINE).reference == demo_range()


def test_scoring_leaves_the_pixels_alone():
    pixels = polyp_frame(size=96)
    before = pixels.copy()
    load_detector().score(pixels)
    np.testing.assert_array_equal(pixels, before)
