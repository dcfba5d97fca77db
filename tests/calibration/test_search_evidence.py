"""Scores read from evidence are those of the detector."""

from dataclasses import replace

import numpy as np
import pytest

from capsieve.calibration.search_evidence import Levels, joined, scores_of
from capsieve.calibration.search_frame import analyze_dear
from capsieve.calibration.space import base_rules, bounds_of, levels_of
from capsieve.errors import FrameError, ParameterError
from capsieve.paper.detector import analyze
from sample_exams import exam_frame
from search_frames import BASE, COUNT, measure

RULES = (
    {},
    {"threshold_low": 0.03, "threshold_high": 0.42},
    {"threshold_low": 0.16, "threshold_high": 0.3, "size_low": 100, "size_high": 9000},
    {"threshold_high": 0.22, "eccentricity_max": 2.0},
    {"texture_low": 8.0, "texture_high": 30.0, "eccentricity_max": 14.0},
)


@pytest.mark.parametrize(
    "dear",
    [
        {},
        {"channel": "red", "vignetting": False, "midpass_fine": 4.0},
        {"mask_radius": 0.39, "midpass_coarse": 50.0, "energy_power": 0.5},
    ],
    ids=str,
)
def test_scores_are_those_of_the_detector(dear):
    setting = replace(BASE, **dear)
    measured = measure(setting)
    found = set()
    for rules in RULES:
        parameters = replace(setting, **rules)
        expected = [analyze(exam_frame(number), parameters).score for number in range(COUNT)]
        assert measured.scores(parameters).tolist() == expected
        found.add(tuple(expected))
    assert len(found) > 1  # the rules matter on these frames


def test_scores_on_lab_a_are_those_of_the_detector():
    setting = replace(BASE, channel="lab-a")
    measured = measure(setting)
    parameters = replace(setting, **base_rules(setting, BASE))
    expected = [analyze(exam_frame(number), parameters).score for number in range(COUNT)]
    assert measured.scores(parameters).tolist() == expected
    assert max(expected) > 0


def test_settings_measured_together_are_as_those_measured_alone():
    settings = [BASE, replace(BASE, channel="red"), replace(BASE, midpass_coarse=50.0)]
    pairs = [(each, levels_of(each, BASE)) for each in settings]
    frame, bounds = exam_frame(2), bounds_of(BASE)
    together, textures = analyze_dear(frame, pairs, settings, bounds)
    for pair, one, texture in zip(pairs, together, textures, strict=True):
        (alone,), (energy,) = analyze_dear(frame, [pair], [pair[0]], bounds)
        assert (one.midpass_max, texture) == (alone.midpass_max, energy)
        assert one.radius.tolist() == alone.radius.tolist()


def test_a_frame_that_was_not_analysed_has_no_score():
    measured = measure(BASE, count=2)
    levels = levels_of(BASE, BASE)
    one, _ = analyze_dear(exam_frame(0), [(BASE, levels)], [], bounds_of(BASE))
    evidence = joined(levels, [None, one[0], None])
    texture = np.array([np.nan, measured.texture_max[0], np.nan])
    scores = scores_of(evidence, BASE, texture)
    assert np.isnan(scores[[0, 2]]).all()
    assert scores[1] == measured.scores(BASE)[0]


def test_a_threshold_without_evidence_is_refused():
    with pytest.raises(ParameterError, match="threshold_low"):
        measure(BASE, count=1).scores(replace(BASE, threshold_low=0.1234))


def test_a_frame_too_small_is_refused():
    with pytest.raises(FrameError):
        analyze_dear(np.zeros((4, 4), np.uint8), [], [BASE], bounds_of(BASE))


def test_levels_occur_on_their_side_of_half_the_maximum():
    levels = Levels((0.1, 0.2), (0.2, 0.3))
    assert levels.values == (0.1, 0.2, 0.3)
    assert [levels.occurs(theta, 0.15) for theta in levels.values] == [False, True, False]
    assert [levels.occurs(theta, 0.05) for theta in levels.values] == [True, True, False]
    assert [levels.occurs(theta, 0.4) for theta in levels.values] == [False, True, True]
