"""The threshold that reaches a target, and why none does."""

import re

import numpy as np
import pytest

from capsieve.calibration.choice import choose, choose_or_fail, why_chosen
from capsieve.calibration.target import Scale, Target
from capsieve.errors import ParameterError
from capsieve.statistics.judged import NORMAL, POLYP, UNLABELLED
from support.judged_frames import judged_frames
from support.many_patients import many_patients

R_P = Scale("R_P", 1.0, 85.0)


def reached(judged, kind, threshold):
    flagged = (judged.score >= threshold) & (judged.score > 0)
    if kind == "specificity":
        return 1 - flagged[judged.truth == NORMAL].mean()
    if kind == "frames":
        return flagged.sum() / len(judged.patients)
    found = np.unique(judged.polyp[flagged & (judged.truth == POLYP)])
    return len(found) / len(judged.polyps)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("kind", "value", "cheaper"),
    [("specificity", 0.9, -1), ("frames", 7, -1), ("sensitivity", 0.8, 1)],
)
def test_the_target_is_reached_and_one_step_further_it_is_not(kind, value, cheaper, seed):
    judged = many_patients(seed=seed)
    threshold = choose(judged, Target(kind, value), R_P)
    assert threshold is not None
    sign = -1 if kind == "frames" else 1
    assert sign * reached(judged, kind, threshold) >= sign * value
    assert sign * reached(judged, kind, threshold + cheaper) < sign * value


def test_frames_without_a_label_are_to_be_read_as_well():
    judged = judged_frames([50, 60, 70, 80], [NORMAL, UNLABELLED, UNLABELLED, NORMAL])
    assert choose(judged, Target("frames", 2), R_P) == 61.0


def test_polyps_that_were_rejected_bound_what_can_be_found():
    judged = judged_frames([0, 0, 40], [POLYP] * 3, polyps=("a", "b", "c"), polyp=[0, 1, 2])
    assert choose(judged, Target("sensitivity", 0.34), R_P) is None
    with pytest.raises(ParameterError, match=re.escape("so 1 (33.3 %) are the most")) as error:
        choose_or_fail(judged, Target("sensitivity", 0.34), R_P)
    asked = re.search(r"--sensitivity (\S+)", str(error.value))
    assert asked is not None
    assert choose(judged, Target("sensitivity", float(asked[1]) / 100), R_P) == 40.0


def test_a_threshold_beyond_the_largest_radius_is_no_choice():
    judged = judged_frames([85, 85, *[10] * 98], [NORMAL] * 100)
    with pytest.raises(ParameterError, match=r"R_P = 85 reaches 98 % \(98 of 100 normal"):
        choose_or_fail(judged, Target("specificity", 0.99), R_P)
    with pytest.raises(ParameterError, match=r"leaves 2, .* ask for --frames 2 or more"):
        choose_or_fail(judged, Target("frames", 1), R_P)
    assert choose(judged, Target("specificity", 0.98), R_P) == 11.0


@pytest.mark.parametrize(
    ("truth", "kind", "words"),
    [
        (POLYP, "specificity", "no frame that chooses is normal"),
        (NORMAL, "sensitivity", "shows a polyp"),
        (POLYP, "sensitivity", "name none of them"),
    ],
)
def test_frames_that_hold_nothing_to_count_choose_nothing(truth, kind, words):
    with pytest.raises(ParameterError, match=words):
        choose(judged_frames([40.0], [truth]), Target(kind, 0.5), R_P)


def test_the_sentence_says_by_which_rule_and_on_which_frames():
    judged = many_patients(3, normals=10, polyps=2)
    part = "the training part"
    assert why_chosen(judged, Target(), R_P) == (
        "The smallest R_P whose specificity on the 30 normal frames of 3 patients reaches 90 %: "
        "the paper's procedure."
    )
    assert why_chosen(judged, Target("sensitivity", 0.8), R_P, part=part) == (
        "The largest R_P that finds at least 80 % of the 6 polyps of 3 patients, the training part."
    )
    assert why_chosen(judged.take(judged.patient == 1), Target("frames", 4), R_P) == (
        "The smallest R_P that leaves at most 4 frames to read per exam, in the mean over "
        "1 patient."
    )


# Scores that are no whole numbers

SCORE = Scale("score threshold", None)


@pytest.mark.parametrize(
    ("target", "threshold"),
    [
        # One of four normal frames may be flagged; a polyp's 0.35 lies below that one's 0.4.
        (Target("specificity", 0.75), 0.35),
        (Target("frames", 2), 0.6),
        (Target("sensitivity", 1.0), 0.35),
    ],
)
def test_an_observed_score_is_chosen(target, threshold):
    score = [0.1, 0.2, 0.3, 0.4, 0.35, 0.6, 0.7]
    truth = [NORMAL] * 4 + [POLYP] * 3
    judged = judged_frames(score, truth, polyps=("a", "b"), polyp=[-1] * 4 + [0, 1, 1])
    assert choose(judged, target, SCORE) == threshold


def test_nothing_speaks_of_radii_where_there_are_none():
    judged = judged_frames([0.0, 0.4], [POLYP] * 2, polyps=("a", "b"), polyp=[0, 1])
    with pytest.raises(ParameterError, match=r"1 of 2 have no score above 0") as error:
        choose_or_fail(judged, Target("sensitivity", 0.9), SCORE)
    assert "radius" not in str(error.value)
    assert "R_P" not in why_chosen(judged, Target("sensitivity", 0.5), SCORE)
