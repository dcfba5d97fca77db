"""Operating points that are chosen by a rule."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.frame_table import NORMAL, POLYP, Coded, FlagRule, flagged_at
from capsieve.statistics.operating_point import (
    choose_threshold,
    chosen_point,
    cross_fit,
    fitted_point,
    has_folds,
    short_threshold,
    smallest_threshold,
    threshold_for_sensitivity,
    with_training_patients,
)
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.reading_effort import flagged_by
from support.labelled_frames import labelled_frames, many_patients, paper_frames
from support.score_sets import scores

OPTIONS = EvaluationOptions()
TARGETS = st.sampled_from([0.0, 0.07, 0.5, 0.7, 0.9, 0.95, 1.0])


def specific_enough(negatives, threshold, target):
    passed = int(np.count_nonzero(~flagged_at(negatives, threshold)))
    return Fraction(passed, len(negatives)) >= Fraction(str(target))


def two_patients():
    """Patient a: normal scores 1 to 10; patient b: twice as high; a polyp each."""
    score = [*range(1, 11), 50, *range(2, 22, 2), 60]
    truth = [NORMAL] * 10 + [POLYP] + [NORMAL] * 10 + [POLYP]
    return labelled_frames(score, truth, patient=["a"] * 11 + ["b"] * 11)


def test_no_threshold_flags_rejected_or_unscored_frames():
    score = [1.0, -5.0, -np.inf, np.nan]
    assert flagged_at(score, -7.0).tolist() == [True, True, False, False]
    assert flagged_at(score, -np.inf).tolist() == [True, True, False, False]
    assert flagged_at(score, 1.0).tolist() == [True, False, False, False]


@given(scores(least=1), TARGETS)
def test_a_whole_threshold_is_the_first_that_reaches_the_target(negatives, target):
    found = smallest_threshold(negatives, specificity=target, step=1.0)
    assert found == next(t for t in range(1, 13) if specific_enough(negatives, t, target))


@given(scores(least=1), scores(), TARGETS)
def test_an_observed_threshold_is_the_smallest_that_reaches_the_target(
    negatives, positives, target
):
    every = np.r_[negatives, positives]
    found = smallest_threshold(negatives, specificity=target, candidates=every)
    assert specific_enough(negatives, found, target)
    enough = [t for t in every if t > -np.inf and specific_enough(negatives, t, target)]
    if enough:
        assert found == min(enough)
    elif negatives.max() > -np.inf:
        assert found == np.nextafter(negatives.max(), np.inf)


@given(scores(least=1), TARGETS, st.sampled_from([0.1, 0.3, 2.5]))
def test_steps_that_floating_point_cannot_write_are_possible(negatives, target, step):
    found = smallest_threshold(negatives, specificity=target, step=step)
    assert specific_enough(negatives, found, target)
    count = round(found / step)
    assert count == 1 or not specific_enough(negatives, (count - 1) * step, target)


def test_the_target_is_compared_on_whole_frames():
    # 7 of 100 must pass; 0.07 * 100 is more than 7 in floating point.
    negatives = np.r_[np.full(7, 1.0), np.full(93, 5.0)]
    assert smallest_threshold(negatives, specificity=0.07, step=1.0) == 2.0


def test_the_papers_training_patient_gives_its_threshold():
    frames = with_training_patients(paper_frames(), ("4",))
    point: Any = chosen_point(frames, OPTIONS, 1.0)
    assert (point.key, point.rule.value, point.optimistic) == ("chosen", 37.0, False)
    np.testing.assert_array_equal(point.flagged, frames.score >= 37)


@pytest.mark.parametrize("step", [0.0, -1.0, np.inf, np.nan])
def test_impossible_steps_are_refused(step):
    with pytest.raises(ParameterError, match="step"):
        smallest_threshold([1.0], specificity=0.9, step=step)


def test_without_a_scored_normal_frame_there_is_no_threshold():
    with pytest.raises(ParameterError, match="no normal frame"):
        smallest_threshold([np.nan], specificity=0.9)
    frames = labelled_frames([np.nan, 1.0], [NORMAL, POLYP])
    assert choose_threshold(frames, OPTIONS, None) is None
    assert fitted_point(frames, OPTIONS, None) is None


@given(scores(least=1), st.sampled_from([0.25, 0.5, 0.8, 1.0]))
def test_the_largest_threshold_for_a_share_of_polyps(best, share):
    found = threshold_for_sensitivity(best, share=share)
    needed = Fraction(str(share)) * len(best)
    enough = [t for t in best if t > -np.inf and np.count_nonzero(best >= t) >= needed]
    assert found == (max(enough) if enough else None)


def test_without_polyps_no_threshold_finds_them():
    assert threshold_for_sensitivity([], share=0.8) is None
    assert threshold_for_sensitivity([np.nan], share=0.8) is None


@example(np.array([-np.inf]), 0.3, False)
@given(scores(least=1), st.floats(-0.5, 10), st.booleans())
def test_a_short_threshold_flags_the_same_frames(values, threshold, observed):
    threshold = float(values.max()) if observed and values.max() > -np.inf else threshold
    found = short_threshold(threshold, values)
    np.testing.assert_array_equal(flagged_at(values, found), flagged_at(values, threshold))
    assert len(repr(found)) <= len(repr(threshold))


def test_a_fitted_threshold_has_few_digits():
    score = np.linspace(0.1, 0.9, 41)[:40] + 1 / 7919
    frames = labelled_frames(score, [NORMAL] * 30 + [POLYP] * 10)
    point: Any = fitted_point(frames, OPTIONS, None)
    # Three of thirty normal frames may be flagged: the 28th is the first of them.
    assert score[26] < point.rule.value <= score[27]
    assert len(str(point.rule.value)) <= 5
    assert point.optimistic


def test_the_threshold_is_chosen_on_the_training_patients_alone():
    for name, value in (("a", 10.0), ("b", 19.0)):
        frames = with_training_patients(two_patients(), (name,))
        point: Any = chosen_point(frames, OPTIONS, 1.0)
        assert point.rule.value == value
    assert chosen_point(two_patients(), OPTIONS, 1.0) is None


def test_the_parts_are_the_training_patients_and_all_others():
    frames = with_training_patients(two_patients(), ("b",))
    assert frames.part.names == ("train", "test")
    assert frames.part.code.tolist() == [1] * 11 + [0] * 11


def test_a_training_patient_may_be_named_by_the_only_exam():
    frames = two_patients()
    exams = Coded.of(["exam-1"] * 11 + ["exam-2"] * 11)
    by_exam = with_training_patients(replace(frames, exam=exams), ("exam-2",))
    assert by_exam.part.code.tolist() == [1] * 11 + [0] * 11
    named = with_training_patients(replace(frames, unit=exams), ("exam-1",))
    assert named.part.code.tolist() == [0] * 11 + [1] * 11


def test_a_patient_with_several_exams_is_not_named_by_one_of_them():
    exams = Coded.of(["exam-1"] * 11 + ["exam-2"] * 5 + ["exam-3"] * 6)
    with pytest.raises(ParameterError, match="one of several exams of patient 'b'"):
        with_training_patients(replace(two_patients(), exam=exams), ("exam-2",))


def test_an_exam_of_several_patients_names_none():
    exams = Coded.of(["folder"] * 22)
    with pytest.raises(ParameterError, match="no patient 'folder'; they name a, b"):
        with_training_patients(replace(two_patients(), exam=exams), ("folder",))


@pytest.mark.parametrize(
    ("names", "message"), [(("c",), "'c'; they name a, b"), (("a", "b"), "left to test on")]
)
def test_impossible_training_patients_are_refused(names, message):
    with pytest.raises(ParameterError, match=message):
        with_training_patients(two_patients(), names)


def test_a_training_part_without_a_test_is_optimistic():
    frames = two_patients()
    frames = replace(frames, part=Coded(("train",), np.zeros(len(frames), np.int32)))
    point: Any = chosen_point(frames, OPTIONS, 1.0)
    assert point.optimistic


@pytest.mark.parametrize(
    ("names", "folds"),
    [((), False), (("1",), False), (("1", "2"), True), (("train", "test"), False)],
)
def test_folds_are_several_parts_without_a_training_part(names, folds):
    frames = replace(two_patients(), part=Coded(names, np.full(22, -1, np.int32)))
    assert has_folds(frames) == folds


def test_each_fold_is_flagged_with_the_threshold_of_the_others():
    frames = labelled_frames(
        [1.0, 2.0, 3.0, 9.0, 10.0, 20.0, 30.0, 9.0, 50.0],
        [NORMAL] * 3 + [POLYP] + [NORMAL] * 3 + [POLYP, POLYP],
        part=["1"] * 4 + ["2"] * 4 + [None],
    )
    options = EvaluationOptions(specificity=60)
    fit = cross_fit(frames, lambda others: choose_threshold(others, options, 1.0))
    # Fold 2 has 10, 20, 30: two of three must pass, so 21; fold 1 has 1, 2, 3, so 3.
    assert fit.values == {"1": 21.0, "2": 3.0}
    assert fit.flagged.tolist() == [False] * 4 + [True] * 4 + [False]
    assert fit.failed == ()


def test_folds_for_which_nothing_can_be_chosen_are_named():
    frames = labelled_frames([1.0, 2.0, 3.0], [NORMAL, POLYP, POLYP], part=["1", "2", "3"])
    fit = cross_fit(frames, lambda others: choose_threshold(others, OPTIONS, None))
    assert fit.failed == ("1",)
    assert list(fit.values) == ["2", "3"]


def test_a_share_to_read_is_cross_fitted_like_a_threshold():
    frames = many_patients(6, part=Coded(("1", "2"), np.repeat([0, 1], 168).astype(np.int32)))
    chosen = iter([0.25, 0.5])

    def listed(some, share):
        return flagged_by(some, FlagRule("share", share))

    fit = cross_fit(frames, lambda _: next(chosen), listed)
    assert fit.values == {"1": 0.25, "2": 0.5}
    for code, share in enumerate((0.25, 0.5)):
        part = frames.part.code == code
        np.testing.assert_array_equal(fit.flagged[part], listed(frames.take(part), share))
