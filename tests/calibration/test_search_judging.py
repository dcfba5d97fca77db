"""Frames judged with settings and thresholds in which they had no say."""

import numpy as np
import pytest

from capsieve.calibration.search_curves import standing
from capsieve.calibration.search_judging import Subjects, judge, with_threshold
from capsieve.calibration.search_objective import Truth
from capsieve.parameters import Parameters

GROUPS = 40
RNG = np.random.default_rng(0)


def subjects():
    """Forty groups in four parts; each has five polyp frames of one polyp and twenty normal."""
    truth = np.tile(np.repeat([1, 0], [5, 20]), GROUPS).astype(np.int8)
    group = np.repeat(np.arange(GROUPS), 25).astype(np.int32)
    polyp = np.where(truth == 1, group, -1).astype(np.int32)
    part = (group % 4).astype(np.int16)
    return Subjects(Truth(truth, polyp), ("1", "2", "3", "4"), part, group, "patient", "polyp")


def scores(shift):
    """Whole numbers; polyp frames lie higher by so much."""
    truth = subjects().truth.truth
    return np.round(RNG.uniform(1, 80, len(truth)) + shift * (truth == 1))


def fitted(frames, score):
    return {
        part: (
            with_threshold(
                Parameters(),
                score[frames.others(part)],
                frames.truth.truth[frames.others(part)],
                target_specificity=0.9,
            ),
            score,
        )
        for part in frames.judged_parts()
    }


def judged(one, two):
    frames = subjects()
    return judge(
        frames, fitted(frames, one), fitted(frames, two), target_specificity=0.9, rounds=200
    )


def test_a_setting_against_itself_differs_by_nothing():
    score = scores(20)
    found = judged(score, score)
    assert [metric.value for metric in found.differences] == [0, 0, 0]
    assert found.ratio == found.curve_ratio == 1


def test_a_better_setting_is_better_beyond_its_interval():
    found = judged(scores(40), scores(0))
    assert found.ratio is not None
    assert found.ratio > 2
    for metric in (found.differences[0], found.curves[2]):
        low = metric.intervals[0].low
        assert metric.value is not None
        assert low is not None
        assert 0 < low < metric.value


def test_the_threshold_is_chosen_on_normal_frames_alone():
    normal = np.arange(1.0, 101.0)
    truth = np.r_[np.zeros(100), np.ones(2)].astype(np.int8)
    found = with_threshold(Parameters(), np.r_[normal, 95, 96], truth, target_specificity=0.9)
    assert found.radius_threshold == 91


def test_scores_of_the_judged_part_do_not_move_its_threshold():
    frames, score = subjects(), scores(10)
    other = np.where(frames.part == 2, score + 100, score)
    assert fitted(frames, score)[2][0] == fitted(frames, other)[2][0]
    assert fitted(frames, score)[1][0] != fitted(frames, other)[1][0]


def test_a_part_named_train_is_never_judged():
    frames = subjects()
    train = Subjects(
        frames.truth, ("train", "test"), frames.part % 2, frames.group, "patient", "polyp"
    )
    assert train.judged_parts() == [1]
    score = scores(10)
    found = judge(train, fitted(train, score), fitted(train, score), target_specificity=0.9)
    assert found.searched[0].denominator == (frames.truth.truth[train.part == 1] == 1).sum()
    assert not found.flagged[train.part == 0].any()


def test_unscored_normal_frames_are_left_out_and_polyp_frames_missed():
    frames, score = subjects(), scores(200)
    score[:25] = np.nan
    found = judge(
        frames, fitted(frames, score), fitted(frames, score), target_specificity=0.9, rounds=100
    )
    assert found.searched[0].numerator == (frames.truth.truth == 1).sum() - 5
    assert found.searched[1].denominator == (frames.truth.truth == 0).sum() - 20


def test_standing_is_the_rank_among_normal_frames_of_other_parts():
    part = np.array([0, 0, 0, 1, 1, 1, 1], np.int16)
    truth = np.array([1, 0, 0, 0, 0, 0, 0], np.int8)
    score = np.array([25.0, 0.0, np.nan, 10, 20, 30, 40])
    found = standing(part, truth, {0: score})
    assert found[:2].tolist() == pytest.approx([1.5, 0.0])
    assert np.isnan(found[2:]).all()


def test_standing_does_not_depend_on_the_scale_of_a_setting():
    frames, score = subjects(), scores(10)
    one, two = (
        standing(frames.part, frames.truth.truth, {0: each, 1: each, 2: each, 3: each})
        for each in (score, 3 * score)
    )
    assert (one == two).all()
