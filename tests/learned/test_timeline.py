"""The timeline score, compared with a sum over every path of states."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.learned.timeline import (
    CLIP,
    DWELL_S,
    FRAME_S,
    LOOK_S,
    SHARE,
    timeline_scores,
)

PROBABILITY = st.floats(CLIP, 1 - CLIP)
GAP = st.floats(0.001, 20.0)
ROW = st.lists(st.tuples(PROBABILITY, GAP), min_size=1, max_size=7)


def transition(seconds):
    """Return exp(Q t) of the rate matrix Q, by its power series on a small step, squared up."""
    leave = 1 / DWELL_S
    enter = leave * SHARE / (1 - SHARE)
    step = np.array([[-enter, enter], [leave, -leave]]) * seconds / 2**12
    matrix = np.eye(2) + step + step @ step / 2
    for _ in range(12):
        matrix = matrix @ matrix
    return matrix


def by_every_path(score, time):
    """Return the posterior of each frame's state by adding up all paths, for equal shares."""
    gaps = np.diff(time)
    near = [LOOK_S, *np.minimum(gaps, LOOK_S), LOOK_S]
    weights = [(before + after) / (2 * LOOK_S) for before, after in pairwise(near)]
    steps = [transition(gap) for gap in gaps]
    total = np.zeros((len(score), 2))
    for path in product((0, 1), repeat=len(score)):
        chance = (1 - SHARE, SHARE)[path[0]]
        for step, (one, other) in zip(steps, pairwise(path), strict=True):
            chance *= step[one, other]
        for state, p, weight in zip(path, score, weights, strict=True):
            chance *= (p if state else 1 - p) ** weight
        total[np.arange(len(score)), path] += chance
    odds = total[:, 1] / total[:, 0] * (1 - SHARE) / SHARE
    return odds / (1 + odds)


def clock(gaps):
    return np.concatenate([[0.0], np.cumsum(gaps[1:])])


def at(score, time):
    return timeline_scores(score, frame=np.arange(len(score)), time=time)


@given(row=ROW)
def test_it_is_the_sum_over_every_path_of_states(row):
    score, time = [p for p, _ in row], clock([gap for _, gap in row])
    np.testing.assert_allclose(at(score, time), by_every_path(score, time), rtol=1e-5)


@given(row=ROW, place=st.integers(0, 6), more=st.floats(0, 1))
def test_a_higher_score_lowers_no_other(row, place, more):
    score, time = np.array([p for p, _ in row]), clock([gap for _, gap in row])
    higher = score.copy()
    place %= len(score)
    higher[place] += more * (1 - CLIP - higher[place])
    assert (at(higher, time) >= at(score, time) - 1e-12).all()


@given(row=ROW)
def test_time_may_run_either_way(row):
    score, time = np.array([p for p, _ in row]), clock([gap for _, gap in row])
    back = at(score[::-1], time[-1] - time[::-1])
    np.testing.assert_allclose(at(score, time), back[::-1], rtol=1e-9)


@pytest.mark.parametrize("p", [0.002, 0.3, 0.5, 0.8, 0.998])
def test_a_frame_far_from_all_others_keeps_its_probability(p):
    assert timeline_scores([p], frame=[7])[0] == pytest.approx(p)
    assert at([0.9, p, 0.9], [0, 1000, 2000])[1] == pytest.approx(p)


def test_a_frame_counts_less_alone_than_in_a_row():
    time = 0.25 * np.arange(9)
    alone, row = np.full(9, 0.3), np.full(9, 0.3)
    alone[4] = 0.8
    row[2:7] = 0.8
    assert at(alone, time)[4] < 0.5 < at(row, time)[4]
    assert at(np.full(9, 0.8), time)[4] > 0.8


def test_what_says_nothing_changes_nothing():
    np.testing.assert_allclose(at(np.full(20, 0.5), np.arange(20.0)), 0.5)


def test_copies_at_the_same_time_count_once():
    score, time = np.array([0.3, 0.7, 0.9, 0.6, 0.2]), np.array([0, 0.25, 0.75, 2, 2.25])
    each = at(score, time)
    np.testing.assert_allclose(at(np.repeat(score, 3), np.repeat(time, 3)), np.repeat(each, 3))


def test_more_frames_in_the_same_time_are_no_more_evidence():
    slow = at(np.full(9, 0.8), np.arange(9) / 4)
    fast = at(np.full(65, 0.8), np.arange(65) / 32)
    np.testing.assert_allclose(fast[::8], slow, rtol=0.02)


def test_frames_without_a_score_are_gaps():
    score = np.array([np.nan, 0.7, np.nan, np.nan, 0.9, 0.4, np.nan])
    time = 0.25 * np.arange(7)
    there = ~np.isnan(score)
    found = at(score, time)
    assert np.isnan(found[~there]).all()
    np.testing.assert_array_equal(found[there], at(score[there], time[there]))


def test_heads_know_nothing_of_each_other():
    score, frame = [0.9, 0.8, 0.9, 0.1, 0.2], [0, 1, 2, 0, 1]
    both = timeline_scores(score, frame=frame, head=[0, 0, 0, 1, 1])
    one = timeline_scores(score[:3], frame=frame[:3])
    other = timeline_scores(score[3:], frame=frame[3:])
    np.testing.assert_array_equal(both, np.concatenate([one, other]))


def test_without_times_the_frame_numbers_tell_how_far_frames_are_apart():
    score, frame = [0.3, 0.8, 0.9, 0.4], np.array([3, 4, 9, 10])
    timed = timeline_scores(score, frame=frame, time=100 + FRAME_S * frame)
    np.testing.assert_allclose(timeline_scores(score, frame=frame), timed)


def test_a_head_with_a_time_missing_goes_by_frame_numbers():
    score, frame, head = [0.3, 0.8, 0.9, 0.3, 0.8, 0.9], [0, 1, 2] * 2, [0] * 3 + [1] * 3
    time = [0, np.nan, 80, 0, 40, 80]
    found = timeline_scores(score, frame=frame, head=head, time=time)
    np.testing.assert_array_equal(found[:3], timeline_scores(score[:3], frame=frame[:3]))
    np.testing.assert_array_equal(found[3:], at(score[3:], time[3:]))


def test_a_time_missing_where_there_is_no_score_does_not_matter():
    score, time = [0.3, np.nan, 0.9], [0, np.nan, 80]
    np.testing.assert_array_equal(at(score, time)[[0, 2]], at([0.3, 0.9], [0, 80]))


def test_a_long_exam_of_certain_frames_stays_a_number():
    found = at(np.ones(20_000), np.zeros(20_000))
    assert np.isfinite(found).all()
    found = at(np.ones(20_000), 1e-3 * np.arange(20_000))
    assert ((found > 0.99) & (found <= 1)).all()


def test_no_frame_at_all_gives_no_score():
    assert timeline_scores([], frame=[]).shape == (0,)


@pytest.mark.parametrize("score", [37.0, -0.1, np.inf])
def test_a_score_that_is_no_probability_is_refused(score):
    with pytest.raises(ParameterError, match="is no probability"):
        timeline_scores([0.5, score], frame=[0, 1])


def test_frames_out_of_order_are_refused():
    with pytest.raises(ParameterError, match="must grow within each head"):
        timeline_scores([0.5, 0.5], frame=[1, 0])
    with pytest.raises(ParameterError, match="must grow within each head"):
        timeline_scores([0.5, 0.5], frame=[0, 1], head=[1, 0])


def test_columns_of_other_lengths_are_refused():
    with pytest.raises(ParameterError, match="time: must be one number per score"):
        timeline_scores([0.5, 0.5], frame=[0, 1], time=[0.0])


@pytest.mark.parametrize("wrong", [{"dwell": 0}, {"look": -1}, {"frame_seconds": np.nan}])
def test_times_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ParameterError, match="must be a time above 0 seconds"):
        timeline_scores([0.5], frame=[0], **wrong)


@pytest.mark.parametrize("share", [0, 1, np.nan])
def test_a_share_of_nothing_or_all_is_refused(share):
    with pytest.raises(ParameterError, match="share: must be above 0 and below 1"):
        timeline_scores([0.5], frame=[0], share=share)
