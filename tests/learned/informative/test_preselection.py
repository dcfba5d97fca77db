"""The learned pre-selection in the paper's detector."""

from dataclasses import replace

import numpy as np
import pytest

import capsieve
from capsieve.aperture.field import FieldOfView
from capsieve.detectors import PaperDetector
from capsieve.errors import FrameError, ParameterError
from capsieve.learned.informative import classifier
from capsieve.learned.informative.spoiling import spoil
from capsieve.paper.staged import analyze_each
from capsieve.parameters import Parameters

TEXTURE, LEARNED = Parameters(), Parameters(preselection="learned")
OPEN = Parameters(texture_low=0.0, texture_high=1e6)
POLYP = capsieve.phantom.polyp_frame(seed=0, size=256)
BLURRED = spoil(POLYP, "defocus", 1.0, np.random.default_rng(0))


def test_an_uninformative_frame_is_rejected_with_its_texture() -> None:
    result = capsieve.analyze(BLURRED, LEARNED)
    assert (result.label, result.reason, result.score) == ("normal", "uninformative", 0.0)
    assert (result.radius_max, result.features, result.midpass_max) == (0, (), None)
    assert result.texture_max == capsieve.analyze(BLURRED, TEXTURE).texture_max


def test_an_informative_frame_is_judged_by_its_geometry_alone() -> None:
    strict = replace(LEARNED, texture_low=29.0, texture_high=30.0)
    assert capsieve.analyze(POLYP, replace(strict, preselection="texture")).score == 0
    assert capsieve.analyze(POLYP, strict) == capsieve.analyze(POLYP, OPEN)


@pytest.mark.parametrize("frame", [POLYP, BLURRED], ids=["polyp", "blurred"])
@pytest.mark.parametrize(
    "other",
    [{}, {"width": 200}, {"channel": "red"}, {"energy_power": 0.5}, {"mask_radius": 0.4}],
    ids=str,
)
def test_analyze_explain_and_the_detector_agree(frame, other) -> None:
    parameters = replace(LEARNED, **other)
    field = FieldOfView("circle", 127.0, 128.0, 123.0)
    result = capsieve.analyze(frame, parameters, field)
    assert PaperDetector(parameters).score(frame, field) == result
    shown = capsieve.explain(frame, parameters, field)
    for name in ("label", "reason", "score", "texture_max", "radius_max", "placement"):
        assert getattr(shown, name) == getattr(result, name)
    # The images are those of the setting, not of what the classifier looked at.
    plain = capsieve.explain(frame, replace(parameters, preselection="texture"), field)
    assert shown.features == plain.features
    for name in ("gray", "corrected", "extended", "energy", "midpass", "labels", "mask"):
        assert np.array_equal(getattr(shown, name), getattr(plain, name)), name


def test_the_answer_is_one_of_the_frame_and_not_of_the_setting() -> None:
    many = [replace(LEARNED, width=width, channel="lab-a") for width in (128, 200, 256)]
    assert {result.reason for result in analyze_each(BLURRED, many)} == {"uninformative"}


@pytest.mark.parametrize("frame", [POLYP, BLURRED], ids=["polyp", "blurred"])
def test_many_settings_at_once_are_as_one_by_one(frame) -> None:
    many = [
        TEXTURE,
        replace(LEARNED, energy_power=0.5),
        replace(TEXTURE, channel="red"),
        LEARNED,
        replace(LEARNED, width=128, midpass_coarse=20.0),
        OPEN,
    ]
    assert analyze_each(frame, many) == [capsieve.analyze(frame, each) for each in many]


def test_the_classifier_is_asked_once_per_frame(monkeypatch) -> None:
    asked = []
    measure = classifier.frame_values
    monkeypatch.setattr(
        classifier, "frame_values", lambda stages: asked.append(1) or measure(stages)
    )
    analyze_each(POLYP, [LEARNED, replace(LEARNED, radius_threshold=20), TEXTURE])
    assert len(asked) == 1


def test_a_frame_too_flat_for_the_classifier_is_refused_with_a_sentence() -> None:
    flat = np.zeros((60, 1000, 3), np.uint8)
    wide = Parameters(width=1000)
    assert capsieve.analyze(flat, wide).label == "normal"
    with pytest.raises(FrameError, match="rows"):
        capsieve.analyze(flat, replace(wide, preselection="learned"))


def test_the_identity_names_the_weights_and_is_as_before_without_them() -> None:
    assert "preselection" not in PaperDetector(TEXTURE).identity["parameters"]
    identity = PaperDetector(LEARNED).identity
    assert identity["parameters"]["preselection"] == "learned"
    assert identity["informative"] == classifier.shipped().digest


def test_a_search_over_the_texture_rule_refuses_the_other_one(tmp_path) -> None:
    from capsieve.engine.searching import search

    with pytest.raises(ParameterError, match="T_L and T_U"):
        search(tmp_path, tmp_path / "labels.csv", tmp_path / "out", parameters=LEARNED)
