"""The curvature detector through the interface of all detectors."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from capsieve import Parameters
from capsieve.curvature.detector import CurvatureDetector
from capsieve.curvature.domes import Constants
from capsieve.detectors import load_detector
from capsieve.phantom import plan_exam, render_frame
from support.polyp_frames import polyp_frame

DETECTOR = CurvatureDetector()
NOISE = np.random.default_rng(0).integers(0, 256, (128, 128, 3), dtype=np.uint8)


def drawn(*, dome, size=192):
    """Folded mucosa, with a dome in the upper left or without."""
    rows, cols = np.mgrid[:size, :size] / size
    light = 90 + 25 * np.sin(40 * cols)
    light = light + (80 if dome else 0) * np.exp(-((rows - 0.4) ** 2 + (cols - 0.35) ** 2) / 0.01)
    return np.repeat(np.clip(light, 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)


def test_load_detector_finds_it_by_name():
    assert load_detector("curvature") == DETECTOR
    assert DETECTOR.name == "curvature"


@pytest.mark.parametrize(
    "frame",
    [np.zeros((64, 64), np.uint8), np.full((64, 96, 3), 255, np.uint8), NOISE],
    ids=["black", "white", "noise"],
)
def test_every_number_is_finite(frame):
    result = DETECTOR.score(frame)
    assert math.isfinite(result.score)
    assert len(result.values) == len(DETECTOR.value_names)
    assert np.isfinite(result.values).all()


@pytest.mark.parametrize("level", [0, 128, 255])
def test_a_frame_without_content_scores_nothing(level):
    result = DETECTOR.score(np.full((128, 128, 3), level, np.uint8))
    assert (result.score, result.label, result.reason) == (0.0, "normal", "score-low")
    assert result.found is None


def test_a_dome_is_flagged_at_its_position_and_folds_are_not():
    with_dome, without = DETECTOR.score(drawn(dome=True)), DETECTOR.score(drawn(dome=False))
    assert (with_dome.label, with_dome.reason) == ("polyp", "polyp")
    assert (without.label, without.reason) == ("normal", "score-low")
    assert with_dome.found is not None
    assert math.dist(with_dome.found[:2], (0.4 * 192, 0.35 * 192)) < with_dome.found.radius


def test_most_phantom_frames_with_a_polyp_are_flagged():
    frames = [polyp_frame(seed=seed, size=128) for seed in range(6)]
    assert sum(DETECTOR.score(frame).label == "polyp" for frame in frames) >= 4


def test_the_score_does_not_depend_on_the_size_of_the_source():
    small, large = (DETECTOR.score(drawn(dome=True, size=size)).score for size in (256, 512))
    assert small == pytest.approx(large, rel=0.05)


def test_the_label_follows_from_the_threshold():
    frame = polyp_frame(size=128)
    score = DETECTOR.score(frame).score
    for factor, label in ((0.99, "polyp"), (1.01, "normal")):
        constants = Constants(least_radius=factor * score / Parameters().width)
        assert CurvatureDetector(constants=constants).score(frame).label == label


def test_its_own_threshold_grows_with_the_working_width():
    wide = CurvatureDetector(Parameters(width=512))
    assert wide.score_threshold == 2 * DETECTOR.score_threshold


def test_the_identity_is_plain_and_depends_on_the_parameters_in_use():
    assert json.loads(json.dumps(DETECTOR.identity)) == DETECTOR.identity
    assert CurvatureDetector(Parameters(channel="red")).identity != DETECTOR.identity


def test_parameters_of_other_steps_change_nothing():
    other = CurvatureDetector(Parameters(midpass_fine=9.0, texture_high=5.0, radius_threshold=12))
    assert other.identity == DETECTOR.identity
    assert repr(other.score(NOISE)) == repr(DETECTOR.score(NOISE))


def test_a_pickled_detector_gives_the_same_scores():
    again = pickle.loads(pickle.dumps(DETECTOR))
    assert repr(again.score(NOISE)) == repr(DETECTOR.score(NOISE))


def test_the_map_is_highest_on_the_dome():
    frame = drawn(dome=True)
    shown = DETECTOR.evidence(frame).map
    assert shown is not None
    assert shown.shape == frame.shape[:2]
    found = DETECTOR.score(frame).found
    assert found is not None
    row, col = np.unravel_index(shown.argmax(), shown.shape)
    assert math.dist((row, col), found[:2]) <= found.radius


@pytest.mark.slow
def test_phantom_frames_score_higher_with_their_polyp_than_without():
    # Many polyps on the way, wherever they fall: a study of an exact composition is surveyed first,
    # which takes longer than all frames together.
    plan = plan_exam(0, frames=48, polyps=24, size=192)
    bare = replace(plan, polyps=())
    shown, without = [], []
    for number in range(plan.frames):
        frame = render_frame(plan, number)
        if frame.truth.label == "polyp":
            shown.append(DETECTOR.score(frame.pixels).score)
            without.append(DETECTOR.score(render_frame(bare, number).pixels).score)
    assert len(shown) >= 12
    assert np.median(shown) > np.median(without)
    assert np.mean(np.greater(shown, without)) > 2 / 3
