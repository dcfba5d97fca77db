"""Detectors behind one interface: built-in ones, model files, entry points, other objects."""

import importlib
import json
import pickle
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import capsieve
from capsieve import FieldOfView, FrameError, ParameterError, Parameters, load_detector
from capsieve.detectors import (
    NO_IDENTITY,
    as_detector,
    check_parameters,
    parameters_of,
    rule_parameter,
    same_detector,
)
from support.polyp_frames import polyp_frame

MINE = Parameters(radius_threshold=40, channel="red")


class Brightness:
    """The smallest object that can be used as a detector."""

    name = "brightness"
    score_threshold = 100.0

    def score(self, frame, field_of_view=None):
        if np.ptp(frame) == 0:
            raise FrameError("the frame has one value")
        return np.mean(frame)


@pytest.mark.parametrize("name", ["paper", Path("paper")])
def test_paper_is_a_name_and_the_default(name):
    assert load_detector(name) == load_detector()
    assert load_detector().name == "paper"


def test_the_detector_uses_the_given_parameters():
    detector = load_detector("paper", parameters=MINE)
    assert parameters_of(detector) == MINE
    assert detector.score_threshold == 40


@pytest.mark.parametrize("name", ["papre", "", "models/mine", Path("a/b")])
def test_an_unknown_name_is_a_parameter_error_that_lists_the_known_ones(name):
    with pytest.raises(ParameterError) as caught:
        load_detector(name)
    assert caught.value.field == "detector"
    assert repr(str(name)) in str(caught.value)
    assert all(known in str(caught.value) for known in ("paper", "curvature", "learned"))


@pytest.mark.parametrize("field", [None, FieldOfView("circle", 63.5, 63.5, 55)])
@pytest.mark.parametrize("parameters", [Parameters(), MINE])
def test_the_papers_detector_scores_like_analyze(field, parameters):
    for seed in range(3):
        pixels = polyp_frame(seed=seed, size=128)
        expected = capsieve.analyze(pixels, parameters, field)
        assert load_detector(parameters=parameters).score(pixels, field) == expected


def test_pixels_are_not_changed():
    pixels = polyp_frame(size=96)
    before = pixels.copy()
    load_detector().score(pixels)
    np.testing.assert_array_equal(pixels, before)


def test_the_identity_is_json_and_contains_the_name():
    identity = load_detector().identity
    assert json.loads(json.dumps(identity)) == identity
    assert identity["name"] == "paper"


def test_the_identity_of_the_paper_is_independent_of_the_threshold():
    other = load_detector(parameters=Parameters(radius_threshold=50))
    assert other.identity == load_detector().identity


@settings(max_examples=20)
@given(st.integers(100, 300), st.sampled_from(["gray", "red", "lab-a"]), st.booleans())
def test_other_parameters_have_another_identity(width, channel, vignetting):
    other = Parameters(width=width, channel=channel, vignetting=vignetting)
    same = other == Parameters()
    assert (load_detector(parameters=other).identity == load_detector().identity) == same


def test_a_detector_is_the_same_after_pickling():
    detector = load_detector(parameters=MINE)
    again = pickle.loads(pickle.dumps(detector))
    pixels = polyp_frame(size=96)
    assert again == detector
    assert again.score(pixels) == detector.score(pixels)


def test_the_reference_range_has_ordered_quantiles():
    reference = load_detector().reference
    assert reference.reference
    assert all(low < high for low, high in reference.quantiles.values())


def test_reference_range_of_the_texture_belongs_to_the_stencil():
    printed, inferred, other = (
        load_detector(parameters=parameters).reference.quantiles
        for parameters in (Parameters(), Parameters.inferred(), Parameters(stencil=2.0))
    )
    # A wider stencil averages more: T_max is smaller.
    assert inferred["texture"][1] < printed["texture"][1]
    assert "texture" not in other
    assert printed["redness"] == inferred["redness"] == other["redness"]


def test_ball_and_stencil_are_part_of_the_identity_of_the_paper():
    known = [
        load_detector(parameters=Parameters(ball_fit=fit, stencil=stencil)).identity
        for fit in ("printed", "feature", "hemisphere")
        for stencil in (1.0, 3.0)
    ]
    assert all(one != other for place, one in enumerate(known) for other in known[:place])
    assert [known[0]["preset"], known[5]["preset"]] == ["printed", "inferred"]


@pytest.mark.parametrize("name", ["mine.onnx", "MINE.ONNX", "file-without-suffix"])
def test_an_onnx_name_or_an_existing_file_is_loaded_as_a_model(name, tmp_path, monkeypatch):
    module: Any = ModuleType("capsieve.learned.detector")
    module.model_detector = lambda path, provider: SimpleNamespace(path=path)
    monkeypatch.setitem(sys.modules, "capsieve.learned.detector", module)
    path = tmp_path / name
    if not path.suffix:
        path.write_bytes(b"anything")
    assert load_detector(str(path)) == SimpleNamespace(path=path)


def test_learned_is_the_model_that_comes_with_capsieve_and_not_a_file(monkeypatch, tmp_path):
    module: Any = ModuleType("capsieve.learned.detector")
    module.shipped_detector = lambda provider: "shipped"
    module.model_detector = lambda path, provider: path
    monkeypatch.setitem(sys.modules, "capsieve.learned.detector", module)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "learned").write_bytes(b"anything")
    assert load_detector("learned") == "shipped"
    assert load_detector("./learned") == Path("learned")


def test_an_entry_point_is_a_name(monkeypatch, tmp_path):
    package = tmp_path / "other-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[capsieve.detectors]\nbrightness = other_detectors:Brightness\n"
    )
    module: Any = ModuleType("other_detectors")
    module.Brightness = Brightness
    monkeypatch.setitem(sys.modules, "other_detectors", module)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "brightness").write_bytes(b"a file of that name")
    detector = load_detector("brightness")
    assert detector.score(np.array([[90, 130]], np.uint8)).label == "polyp"
    assert detector.identity == {"name": "brightness"} | NO_IDENTITY
    with pytest.raises(ParameterError, match="brightness"):
        load_detector("unknown")


def test_an_object_with_a_name_and_a_score_is_enough():
    detector = as_detector(Brightness())
    dark, bright = np.array([[[8, 9, 8]]], np.uint8), np.array([[[255, 0, 255]]], np.uint8)
    first, second = detector.score(dark), detector.score(bright)
    assert (first.label, first.reason) == ("normal", "score-low")
    assert (second.label, second.score) == ("polyp", pytest.approx(170))
    assert not hasattr(detector, "score_batch")
    assert detector.value_names == ()
    assert detector.reference.quantiles == {}
    assert pickle.loads(pickle.dumps(detector)).score(bright) == second
    assert not hasattr(detector, "evidence")


def test_parameters_that_a_detector_does_not_use_are_refused():
    detector = as_detector(Brightness())
    check_parameters(detector, Parameters())
    check_parameters(load_detector(parameters=MINE), MINE)
    with pytest.raises(ParameterError) as caught:
        check_parameters(detector, Parameters(width=128))
    assert caught.value.field == "width"


def test_only_the_papers_detector_has_a_rule_of_its_own():
    assert rule_parameter(load_detector("paper").identity) == "radius_threshold"
    assert rule_parameter(load_detector("curvature").identity) is None
    assert rule_parameter(as_detector(Brightness()).identity) is None
    assert rule_parameter({}) is None


def test_optional_members_of_an_object_are_used():
    class Batches(Brightness):
        def score_batch(self, frames, fields_of_view):
            return [7.0, FrameError("no")]

        def evidence(self, frame, field_of_view=None):
            return "evidence"

    detector: Any = as_detector(Batches())
    first, second = detector.score_batch([[[1]], [[2]]], [None, None])
    assert first.score == 7.0
    assert isinstance(second, FrameError)
    assert detector.evidence(None) == "evidence"


def test_a_complete_detector_is_returned_unchanged():
    detector = load_detector()
    assert as_detector(detector) is detector


@pytest.mark.parametrize(
    ("scorer", "missing"),
    [
        (object(), ["name", "score"]),
        (SimpleNamespace(name="mine"), ["score"]),
        (SimpleNamespace(name=3, score=len), ["name"]),
        (SimpleNamespace(name="mine", score=0.5), ["score"]),
        (Brightness, ["class"]),
    ],
)
def test_an_object_that_is_no_detector_is_refused_with_what_it_lacks(scorer, missing):
    with pytest.raises(ParameterError) as caught:
        as_detector(scorer)
    assert caught.value.field == "detector"
    assert all(word in str(caught.value) for word in missing)


def test_an_object_without_a_threshold_flags_nothing_by_itself():
    class NoThreshold:
        name = "mine"

        def score(self, frame, field_of_view=None):
            return 1.0

    detector = as_detector(NoThreshold())
    assert detector.score_threshold is None
    assert detector.score(np.array([[90, 130]], np.uint8)).label == "normal"


# Detectors of results

MODEL = {"name": "model.onnx", "model": "a" * 64, "spec": "b" * 64}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (MODEL, MODEL | {"name": "copy.onnx"}, True),
        ({"name": "paper"}, {"name": "paper", "parameters": {}}, True),
        (MODEL, MODEL | {"model": "c" * 64}, False),
        (MODEL, MODEL | {"spec": "c" * 64}, False),
        (MODEL, {"name": "paper"}, False),
        ({"name": "paper"}, {"name": "curvature"}, False),
    ],
)
def test_a_model_is_identified_by_its_hash_and_others_by_their_name(one, other, same):
    assert same_detector(one, other) == same_detector(other, one) == same
