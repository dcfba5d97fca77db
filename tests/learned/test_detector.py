"""Model files behind the interface of all detectors."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from onnx import helper

from capsieve import FieldOfView, Parameters
from capsieve.detectors import load_detector
from capsieve.errors import FileError, FrameError, ParameterError, WorkerError
from capsieve.learned import detector as module
from capsieve.learned.crop import crop
from capsieve.learned.detector import model_detector, shipped_detector
from capsieve.learned.features import NAMES, frame_features
from capsieve.learned.runtime import runner
from capsieve.results import FrameResult
from made_models import (
    CARD,
    SIZE,
    brightness_model,
    foreign_file,
    own_file,
    red_segmenter,
    spec,
    two_input_model,
    two_input_spec,
)
from support.polyp_frames import polyp_frame

VIEW = FieldOfView("circle", 63.5, 63.5, 60)

MASK_TOML = """
threshold = 0.6
[image]
input = "image"
size = 32
colour = "rgb"
scale = 1.0
[output]
name = "mask"
kind = "mask"
"""


@pytest.fixture
def simple(tmp_path):
    return model_detector(own_file(tmp_path / "model.onnx"))


@pytest.fixture
def two_input(tmp_path):
    return model_detector(own_file(tmp_path / "both.onnx", two_input_model(), two_input_spec()))


def logit(pixels, view):
    return (crop(pixels, view, SIZE).astype(float).mean() - 50) / 10


def level(value):
    return np.full((128, 128, 3), value, np.uint8)


@pytest.mark.parametrize("view", [None, VIEW])
def test_the_score_is_that_of_the_crop(simple, view):
    pixels = polyp_frame(size=128)
    found = simple.score(pixels, view)
    assert found.score == pytest.approx(1 / (1 + math.exp(-logit(pixels, view))), rel=1e-4)


def test_a_frame_is_flagged_from_the_threshold_on(simple):
    bright, dark = simple.score(level(60)), simple.score(level(40))
    assert (bright.label, bright.reason) == ("polyp", "polyp")
    assert (dark.label, dark.reason) == ("normal", "score-low")
    at = replace(simple, spec=simple.spec.model_copy(update={"threshold": dark.score}))
    assert at.score(level(40)).label == "polyp"


def test_the_identity_is_independent_of_the_threshold(simple):
    strict = replace(simple, spec=simple.spec.model_copy(update={"threshold": 0.9}))
    assert strict.score_threshold == 0.9
    assert simple.score_threshold == 0.5
    assert strict.identity == simple.identity


def test_a_model_makes_a_reading_list_by_default(simple):
    assert simple.default_read == "10%"


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        (Parameters(width=128), "width"),
        (Parameters(radius_threshold=40), "radius_threshold"),
    ],
)
def test_parameters_without_effect_are_refused(tmp_path, parameters, field):
    with pytest.raises(ParameterError) as caught:
        load_detector(own_file(tmp_path / "model.onnx"), parameters=parameters)
    assert caught.value.field == field


def test_a_model_of_images_has_none_of_the_papers_numbers(simple):
    found = simple.score(polyp_frame(size=128), VIEW)
    assert math.isnan(found.texture_max)
    assert (found.radius_max, found.features, found.values, found.found) == (0, (), (), None)


def test_a_model_of_images_scores_frames_that_the_paper_cannot(simple):
    for shape in ((3, 3, 3), (10, 200), (400, 50, 3)):
        frame = np.full(shape, 60, np.uint8)
        assert 0 < simple.score(frame).score < 1


def test_a_model_of_features_returns_the_papers_result_too(two_input):
    pixels = polyp_frame(size=128)
    measured = frame_features(pixels, VIEW)
    found = two_input.score(pixels, VIEW)
    columns = [NAMES.index(name) for name in two_input.value_names]
    assert found.values == pytest.approx(measured.values[columns].tolist())
    assert found.features == measured.result.features
    assert found.texture_max == measured.result.texture_max
    assert found.radius_max == measured.result.radius_max
    expected = 2.0 * found.values[0] - 0.5 * found.values[1]
    expected += crop(pixels, VIEW, SIZE).astype(float).mean() / 100
    assert found.score == pytest.approx(1 / (1 + math.exp(-expected)), rel=1e-4)


def same(one, other):
    assert isinstance(one, FrameResult)
    assert one.score == pytest.approx(other.score, rel=1e-6)
    assert replace(one, score=0.0, texture_max=0.0) == replace(other, score=0.0, texture_max=0.0)


def test_many_frames_give_the_same_as_one_by_one(two_input, simple):
    frames = [polyp_frame(seed=seed, size=96 + 2 * seed) for seed in range(5)] * 4
    views = [None if number % 3 else FieldOfView("circle", 48, 48, 40) for number in range(20)]
    for detector in (two_input, simple):
        together = detector.score_batch(frames, views)
        for found, frame, view in zip(together, frames, views, strict=True):
            same(found, detector.score(frame, view))


def test_a_bad_frame_among_many_harms_no_other(simple):
    frames = [level(60), level(50), level(40), np.full((64, 64), np.nan)]
    found = simple.score_batch(frames, [None, FieldOfView("circle", 400, 400, 300), None, None])
    assert [type(each) for each in found] == [FrameResult, FrameError, FrameResult, FrameError]
    same(found[2], simple.score(frames[2]))
    with pytest.raises(FrameError, match="does not fit"):
        simple.score(frames[1], FieldOfView("circle", 400, 400, 300))


def test_no_frames_give_nothing(simple):
    assert simple.score_batch([], []) == []


def test_each_frame_needs_a_field_of_view_or_none(simple):
    with pytest.raises(ValueError, match="shorter"):
        simple.score_batch([level(60)], [])


@pytest.mark.parametrize(("row", "col"), [(40, 90), (80, 50)])
def test_a_segmentation_model_points_at_the_spot(tmp_path, row, col):
    detector = model_detector(foreign_file(tmp_path / "m.onnx", red_segmenter(), MASK_TOML))
    y, x = np.mgrid[:128, :128]
    pixels = np.zeros((128, 128, 3), np.uint8)
    pixels[..., 0] = 220 * np.exp(-((y - row) ** 2 + (x - col) ** 2) / (2 * 12**2))
    found = detector.score(pixels, VIEW)
    assert found.label == "polyp"
    assert found.found is not None
    assert math.dist(found.found[:2], (row, col)) < 2
    assert found.found.radius == pytest.approx(12 * math.sqrt(2 * math.log(2)), rel=0.25)
    assert found.place == found.found
    evidence = detector.evidence(pixels, VIEW).map
    assert evidence is not None
    assert evidence.shape == (128, 128)
    peak = np.unravel_index(evidence.argmax(), evidence.shape)
    assert detector.evidence(pixels, VIEW).place == found.found
    half_a_cell = 60 / 8  # the map is interpolated between the centres of 8 x 8 cells
    assert np.abs(np.subtract(peak, (row, col))).max() <= half_a_cell


def test_a_model_of_whole_frames_sees_the_whole_frame(tmp_path):
    toml = MASK_TOML.replace("[output]", 'crop = "frame"\nmask = false\n[output]')
    detector = model_detector(foreign_file(tmp_path / "m.onnx", red_segmenter(), toml))
    pixels = np.zeros((100, 200, 3), np.uint8)
    pixels[70:90, 150:190, 0] = 200
    found = detector.score(pixels).found
    assert found is not None
    assert math.dist(found[:2], (79.5, 169.5)) < 5


def test_the_evidence_map_has_the_size_of_the_frame(two_input):
    found = two_input.evidence(polyp_frame(size=128), VIEW)
    assert found.map is not None
    assert found.map.shape == (128, 128)


def test_a_model_without_a_map_has_no_place(simple):
    found = simple.evidence(level(60))
    assert (found.map, found.place) == (None, None)


def test_evidence_describes_the_frame_by_measured_properties(simple):
    pixels = polyp_frame(size=128)
    found = simple.evidence(pixels, VIEW).properties
    values = dict(zip(NAMES, frame_features(pixels, VIEW).values.tolist(), strict=True))
    assert {each.name: (each.low, each.high) for each in found} == CARD.usual_values
    assert all(each.value == values[each.name] and each.words for each in found)
    assert simple.evidence(np.full((5, 5), 60, np.uint8)).properties == ()


def test_a_detector_is_the_same_after_pickling(two_input):
    packed = pickle.dumps(two_input)
    again = pickle.loads(packed)
    pixels = polyp_frame(size=96)
    assert again == two_input
    assert again.identity == two_input.identity
    assert again.score(pixels) == two_input.score(pixels)


def test_a_pickled_detector_does_not_contain_the_model(tmp_path):
    made = brightness_model()
    made.graph.initializer.append(
        helper.make_tensor("ballast", 1, [50_000], np.zeros(50_000, np.float32))
    )
    detector = model_detector(own_file(tmp_path / "model.onnx", made))
    assert len(pickle.dumps(detector)) < 5_000


def test_a_model_that_changed_during_a_run_is_refused(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    packed = pickle.dumps(model_detector(path))
    own_file(path, two_input_model(), two_input_spec())
    runner.cache_clear()  # as in another process
    with pytest.raises(WorkerError, match="another model"):
        pickle.loads(packed).score(level(60))


def test_the_identity_is_json_and_depends_on_the_content_of_the_file(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    (tmp_path / "elsewhere").mkdir()
    other = own_file(tmp_path / "elsewhere" / "model.onnx")
    identity = model_detector(path).identity
    assert json.loads(json.dumps(identity)) == identity
    assert identity == model_detector(other).identity
    changed = own_file(other, brightness_model(), spec(threshold=0.6))
    assert identity != model_detector(changed).identity


def test_another_description_of_the_same_file_is_another_identity(tmp_path):
    path = foreign_file(tmp_path / "m.onnx", red_segmenter(), MASK_TOML)
    one = model_detector(path).identity
    foreign_file(path, red_segmenter(), MASK_TOML + 'frame_score = "mean"\n')
    other = model_detector(path).identity
    assert one["model"] == other["model"]
    assert one != other


def test_the_reference_is_that_of_the_card(simple, tmp_path):
    assert simple.reference == CARD.range
    foreign = model_detector(foreign_file(tmp_path / "m.onnx", red_segmenter(), MASK_TOML))
    assert foreign.reference.quantiles == {}


def test_a_path_is_a_detector(tmp_path, monkeypatch):
    path = own_file(tmp_path / "model.onnx")
    detector = load_detector(path)
    assert detector.name == str(path)
    assert detector == model_detector(path)
    monkeypatch.chdir(tmp_path)
    assert load_detector("model.onnx").name == str(path)  # a worker may run in another folder
    with pytest.raises(FileError, match="no such file"):
        load_detector(tmp_path / "absent.onnx")
    assert load_detector(path, provider="CPU").score(level(60)) == detector.score(level(60))
    with pytest.raises(ParameterError, match="provider"):
        load_detector(path, provider="abacus")


def test_the_shipped_model_may_be_in_another_folder_on_a_worker(tmp_path, monkeypatch):
    here, there = own_file(tmp_path / "shipped.onnx"), tmp_path / "worker" / "shipped.onnx"
    monkeypatch.setattr(module, "SHIPPED", here)
    detector = shipped_detector()
    there.parent.mkdir()
    here.rename(there)
    monkeypatch.setattr(module, "SHIPPED", there)
    runner.cache_clear()
    frame = np.full((64, 64, 3), 90, np.uint8)
    assert detector.score(frame) == shipped_detector().score(frame)
    assert detector.identity == shipped_detector().identity


def test_the_shipped_model_is_called_learned(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SHIPPED", own_file(tmp_path / "shipped.onnx"))
    detector = shipped_detector()
    assert detector.name == detector.identity["name"] == "learned"
    monkeypatch.setattr(module, "SHIPPED", tmp_path / "absent.onnx")
    with pytest.raises(FileError, match="no shipped model"):
        shipped_detector()


def test_gray_and_deep_frames_are_scored_like_bytes(two_input):
    gray = polyp_frame(size=96)[:, :, 1]
    deep = gray.astype(np.uint16) * 257
    assert two_input.score(deep).score == pytest.approx(two_input.score(gray).score, rel=1e-4)


def test_scoring_does_not_change_the_pixels(two_input):
    pixels = polyp_frame(size=96)
    before = pixels.copy()
    two_input.score(pixels, FieldOfView("circle", 48, 48, 40))
    np.testing.assert_array_equal(pixels, before)
