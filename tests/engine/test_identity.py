"""What decides about the results, and how two of them differ."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve import Parameters, __version__
from capsieve.engine.identity import (
    differences,
    identity,
    same_detector,
    screens_with,
    versions,
)
from capsieve.paper.detector import PaperDetector
from capsieve.sources.source import Place, Survey

SETTINGS = {"field_of_view": "auto"}


def survey(sha256="a" * 64):
    return Survey(sha256, 10, None, (), {})


SOURCES = [(Place("video", "/data/a.mp4"), survey())]


def of(*, parameters=None, sources=SOURCES, settings=SETTINGS):
    return identity(PaperDetector(parameters or Parameters()), sources, settings)


def test_an_identity_survives_json():
    assert json.loads(json.dumps(of())) == of()


def test_where_the_source_lies_does_not_matter():
    moved = [(Place("video", "/elsewhere/b.mp4"), survey())]
    assert of(sources=moved) == of()


def test_the_same_has_no_differences():
    assert differences(of(), of()) == []


def test_another_parameter_is_named_with_both_values():
    found = differences(of(), of(parameters=Parameters(radius_threshold=40)))
    assert found == ["detector parameters radius_threshold: 37 there, 40 now"]


def test_a_changed_source_is_named_by_its_head():
    other = [(Place("video", "/data/a.mp4"), survey("b" * 64))]
    (found,) = differences(of(), of(sources=other))
    assert found == f"source head 0 sha256: {'a' * 16}... there, {'b' * 16}... now"


def test_a_second_head_is_a_difference():
    two = [(Place("video", "/data/a.mp4", head), survey()) for head in (0, 1)]
    (found,) = differences(of(), of(sources=two))
    assert found.startswith("source head 1: nothing there, ")


def test_another_stream_or_other_names_are_differences():
    for place in (Place("video", "/a", stream=1), Place("video", "/a", names="-head-0")):
        assert len(differences(of(), of(sources=[(place, survey())]))) == 1


def test_another_setting_is_named():
    found = differences(of(), of(settings={"field_of_view": [1.0, 2.0, 3.0]}))
    assert found == ["settings field_of_view: auto there, [1.0, 2.0, 3.0] now"]


def test_every_difference_is_listed():
    parameters = Parameters(radius_threshold=40, channel="red")
    other = of(parameters=parameters, settings={"field_of_view": "whole"})
    assert len(differences(of(), other)) == 3


PLAIN = st.recursive(
    st.integers() | st.text(max_size=60) | st.lists(st.integers(), max_size=3),
    lambda inner: st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), PLAIN, max_size=4)


@settings(max_examples=40)
@given(OBJECTS, OBJECTS)
def test_what_differs_is_never_passed_over(one, other):
    assert bool(differences(one, other)) == (one != other)


def test_versions_are_texts_and_name_the_package_and_the_decoder():
    found = versions()
    assert found["capsieve"] == __version__
    assert all(isinstance(text, str) and text for text in found.values())
    assert {"python", "av", "libavcodec", "libavformat", "libswscale", "numpy"} <= found.keys()


MODEL = {"name": "model.onnx", "model": "a" * 64, "spec": "b" * 64, "threshold": 0.5}
FITS = {"name": "svm", "out of fold": True, "fits": "svm-aa", "nested": True}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (MODEL, MODEL | {"threshold": 0.7}),
        (MODEL, MODEL | {"name": "copy.onnx"}),
        (FITS, FITS),
        ({"name": "paper"}, {"name": "paper"}),
    ],
)
def test_the_same_detector_is_known_again(one, other):
    assert same_detector(one, other)
    assert same_detector(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (MODEL, MODEL | {"model": "c" * 64}),
        (MODEL, MODEL | {"spec": "c" * 64}),
        (MODEL, {"name": "paper"}),
        (FITS, FITS | {"fits": "svm-bb"}),
        (FITS, FITS | {"nested": False}),
        ({"name": "paper"}, {"name": "curvature"}),
    ],
)
def test_another_detector_is_told_apart(one, other):
    assert not same_detector(one, other)
    assert not same_detector(other, one)


def test_out_of_fold_scores_lead_to_the_file_of_the_trained_model(tmp_path):
    results = tmp_path / "mine.onnx.work" / "out-of-fold"
    detector = FITS | {"trained model": "mine.onnx"}
    assert screens_with(detector, results) == "mine.onnx"
    (tmp_path / "mine.onnx").touch()
    assert screens_with(detector, results) == str(tmp_path / "mine.onnx")
    assert screens_with(detector, results / "exam") == str(tmp_path / "mine.onnx")
    assert screens_with(MODEL, results) == "model.onnx"
