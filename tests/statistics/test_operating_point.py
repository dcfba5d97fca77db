"""Thresholds chosen by a rule."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.statistics.judged import NORMAL, POLYP
from capsieve.statistics.operating_point import (
    cross_fitted,
    smallest_threshold,
    threshold_for_frames,
    threshold_for_sensitivity,
)
from support.score_sets import scores

TARGETS = st.sampled_from([0.0, 0.07, 0.5, 0.7, 0.9, 0.95, 1.0])


def specific_enough(negatives: np.ndarray, threshold: float, target: float) -> bool:
    passed = int(np.count_nonzero(~((negatives >= threshold) & (negatives > 0))))
    return Fraction(passed, len(negatives)) >= Fraction(str(target))


@given(scores(least=1), TARGETS)
def test_whole_thresholds_are_the_first_that_reaches_the_target(
    negatives: np.ndarray, target: float
) -> None:
    found = smallest_threshold(negatives, target_specificity=target, step=1.0)
    tried = next(t for t in range(1, 13) if specific_enough(negatives, t, target))
    assert found == tried


@given(scores(least=1), scores(), TARGETS)
def test_observed_thresholds_are_the_smallest_that_reaches_the_target(
    negatives: np.ndarray, positives: np.ndarray, target: float
) -> None:
    every = np.r_[negatives, positives]
    found = smallest_threshold(negatives, target_specificity=target, candidates=every)
    assert found > 0
    assert specific_enough(negatives, found, target)
    enough = [t for t in every if t > 0 and specific_enough(negatives, t, target)]
    if enough:
        assert found == min(enough)
    else:
        assert found == np.nextafter(negatives.max(), np.inf)


@given(scores(least=1), TARGETS, st.sampled_from([0.1, 0.3, 2.5]))
def test_steps_that_floating_point_cannot_write_are_no_trouble(
    negatives: np.ndarray, target: float, step: float
) -> None:
    found = smallest_threshold(negatives, target_specificity=target, step=step)
    assert specific_enough(negatives, found, target)
    count = round(found / step)
    assert count == 1 or not specific_enough(negatives, (count - 1) * step, target)


def test_the_target_is_compared_on_whole_frames() -> None:
    # 7 of 100 must pass; 0.07 * 100 is more than 7 in floating point.
    negatives = np.r_[np.full(7, 1.0), np.full(93, 5.0)]
    assert smallest_threshold(negatives, target_specificity=0.07, step=1.0) == 2.0


def test_the_paper_s_training_patient_gives_its_threshold() -> None:
    # 767 of 8,567 frames at 37 or more; with 36 the specificity would fall below 90 %.
    radii = np.r_[np.full(767, 40.0), np.full(100, 36.0), np.full(8567 - 867, 20.0)]
    assert smallest_threshold(radii, target_specificity=0.9, step=1.0) == 37.0


def test_without_a_scored_normal_frame_there_is_no_threshold() -> None:
    with pytest.raises(ParameterError, match="no normal frame"):
        smallest_threshold([np.nan], target_specificity=0.9)


@pytest.mark.parametrize("step", [0.0, -1.0, np.inf, np.nan])
def test_impossible_steps_are_refused(step: float) -> None:
    with pytest.raises(ParameterError, match="step"):
        smallest_threshold([1.0], target_specificity=0.9, step=step)


@given(scores(least=1), st.sampled_from([0.25, 0.5, 0.8, 1.0]))
def test_the_largest_threshold_for_a_share_of_polyps(best: np.ndarray, share: float) -> None:
    found = threshold_for_sensitivity(best, share=share)
    enough = [
        t for t in best if t > 0 and np.count_nonzero(best >= t) >= Fraction(str(share)) * len(best)
    ]
    assert found == (max(enough) if enough else None)


def test_without_polyps_there_is_no_threshold_for_them() -> None:
    assert threshold_for_sensitivity([], share=0.8) is None


@given(scores(), st.integers(1, 4), st.sampled_from([0.0, 0.29, 1.0, 2.5, 100.0]))
def test_the_smallest_threshold_for_a_number_of_frames(
    values: np.ndarray, exams: int, most: float
) -> None:
    found = threshold_for_frames(values, exams=exams, most=most)
    allowed = Fraction(str(most)) * exams

    def flagged(threshold: float) -> int:
        return int(np.count_nonzero((values >= threshold) & (values > 0)))

    assert flagged(found) <= allowed
    enough = [t for t in values if t > 0 and flagged(t) <= allowed]
    assert found == min(enough, default=found)


def test_frames_per_exam_count_unscored_frames_as_not_flagged() -> None:
    assert threshold_for_frames([np.nan, 3.0, 2.0, 1.0], exams=1, most=2) == 2.0


def test_each_part_is_flagged_with_the_threshold_of_the_others() -> None:
    score = np.array([1.0, 2.0, 3.0, 9.0, 10.0, 20.0, 30.0, 9.0, 50.0])
    truth = np.array([NORMAL] * 3 + [POLYP] + [NORMAL] * 3 + [POLYP, POLYP], dtype=np.int8)
    part = np.array([0] * 4 + [1] * 4 + [-1], dtype=np.int16)
    fitted = cross_fitted(score, truth, part, target_specificity=0.6, step=1.0)
    # Part 1 has 10, 20, 30: two of three must pass, so 21; part 0 has 1, 2, 3, so 3.
    assert fitted.thresholds == {0: 21.0, 1: 3.0}
    assert fitted.flagged.tolist() == [False] * 4 + [True] * 4 + [False]
