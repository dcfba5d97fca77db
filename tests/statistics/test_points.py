from dataclasses import replace

import numpy as np
import pytest

from capsieve import FileError, ParameterError
from capsieve.statistics.judged import NORMAL, POLYP
from capsieve.statistics.points import operating_points, screened_threshold, with_training
from capsieve.statistics.settings import Settings
from support.judged_frames import judged_frames

PAPER = {"name": "paper"}
AT_37 = [{"rule": "threshold", "value": 37.0}]
LISTS = [{"rule": "share", "value": 0.1, "score_threshold": None}] * 2


def two_patients():
    """Patient a: normal scores 1 to 10; patient b: twice as high; a polyp each."""
    score = [*range(1, 11), 50, *range(2, 22, 2), 60]
    truth = [NORMAL] * 10 + [POLYP] + [NORMAL] * 10 + [POLYP]
    patient = [0] * 11 + [1] * 11
    return judged_frames(
        score, truth, patients=("a", "b"), patient=patient, groups=("a", "b"), group=patient
    )


def test_the_threshold_is_chosen_on_the_training_patients_alone():
    judged = with_training(two_patients(), ("a",))
    first = operating_points(judged, Settings(), detector=PAPER, flagging=AT_37)[0]
    assert (first.key, first.threshold) == ("chosen", 10.0)  # one of ten is at least 10
    other = with_training(two_patients(), ("b",))
    first = operating_points(other, Settings(), detector=PAPER, flagging=AT_37)[0]
    assert first.threshold == 19.0  # the smallest whole number above 18


def test_the_last_point_says_that_it_is_optimistic():
    points = operating_points(two_patients(), Settings(), detector=PAPER, flagging=AT_37)
    assert [point.key for point in points] == ["screened", "fitted"]
    assert [point.optimistic for point in points] == [False, True]


def test_a_stated_threshold_comes_first():
    settings = Settings(threshold=5.0)
    points = operating_points(two_patients(), settings, detector=PAPER, flagging=AT_37)
    assert (points[0].key, points[0].threshold) == ("stated", 5.0)


def test_a_stated_threshold_needs_no_training_frames():
    judged = with_training(two_patients(), ("a",))
    test = judged.take(judged.part == 1)
    points = operating_points(test, Settings(threshold=5.0), detector=PAPER, flagging=AT_37)
    assert [point.key for point in points] == ["stated", "fitted"]
    with pytest.raises(ParameterError, match="or state a threshold"):
        operating_points(test, Settings(), detector=PAPER, flagging=AT_37)


def test_an_unknown_training_patient_is_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match="no patient 'c'; they name a, b"):
        with_training(two_patients(), ("c",))


def test_training_on_everybody_leaves_nothing_to_test():
    with pytest.raises(ParameterError, match="left to test on"):
        with_training(two_patients(), ("a", "b"))


def test_the_parts_are_the_training_patients_and_all_others():
    judged = with_training(two_patients(), ("b",))
    assert judged.parts == ("train", "test")
    np.testing.assert_array_equal(judged.part, [1] * 11 + [0] * 11)


def test_the_threshold_of_reading_lists_follows_from_the_flags():
    judged = judged_frames([0.2, 0.7, 0.9], [0, 0, 1], flagged=[False, True, True])
    assert screened_threshold(LISTS, judged) == 0.7


def test_flags_that_no_threshold_explains_are_refused():
    judged = judged_frames([0.2, 0.7, 0.9], [0, 0, 1], flagged=[True, False, True])
    with pytest.raises(FileError, match="--threshold"):
        screened_threshold(LISTS, judged)


def test_reading_lists_are_evaluated_at_the_own_threshold_of_the_detector():
    judged = judged_frames([0.2, 0.7, 0.9], [0, 0, 1], flagged=[True, False, True])
    own = [flagging | {"score_threshold": 0.6} for flagging in LISTS]
    assert screened_threshold(own, judged) == 0.6
    points = operating_points(judged, Settings(), detector={"name": "mine"}, flagging=own)
    assert points[0].key == "instead"


def test_different_thresholds_are_refused():
    judged = judged_frames([0.2, 0.7, 0.9], [0, 0, 1], flagged=[True, False, True])
    two = [{"rule": "threshold", "value": value, "score_threshold": 0.5} for value in (0.1, 0.8)]
    with pytest.raises(FileError, match="--threshold"):
        screened_threshold(two, judged)


def test_without_a_flag_the_threshold_lies_above_every_score():
    judged = judged_frames([0.2, np.nan, 0.9], [0, 0, 1])
    assert screened_threshold(LISTS, judged) > 0.9


def test_a_training_part_without_a_test_is_called_optimistic():
    judged = two_patients()
    everybody = replace(judged, parts=("train",), part=np.zeros(len(judged), np.int16))
    first = operating_points(everybody, Settings(), detector=PAPER, flagging=AT_37)[0]
    assert (first.key, first.optimistic) == ("chosen", True)


def test_the_threshold_is_that_of_the_records():
    flagging = [{"rule": "threshold", "value": 3.5}] * 2
    assert screened_threshold(flagging, two_patients()) == 3.5


def test_a_fitted_score_is_cut_to_few_digits_and_flags_the_same():
    score = np.linspace(0.1, 0.9, 41)[:40] + 1 / 7919
    judged = judged_frames(score, [NORMAL] * 30 + [POLYP] * 10)
    mine = {"name": "mine"}
    points = operating_points(judged, Settings(), detector=mine, flagging=AT_37)
    threshold = points[-1].threshold
    # Three of thirty normal frames may be flagged: the 28th is the first of them.
    assert score[26] < threshold <= score[27]
    assert len(str(threshold)) <= 5
