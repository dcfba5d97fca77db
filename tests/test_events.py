"""Flagged frames grouped into candidate polyps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.events import Flagged, group


def flagged(frame, *, head=0, time=None, score=40.0, row=100.0, col=100.0, duplicate_of=None):
    return Flagged(head, frame, time, score, row, col, 50.0, duplicate_of)


def spans(events):
    return [(e.members[0].frame, e.members[-1].frame) for e in events]


def test_frames_close_in_number_with_balls_in_one_place_are_one_event():
    events = group([flagged(10), flagged(11, col=150.0), flagged(14, col=200.0)])
    assert spans(events) == [(10, 14)]


def test_a_gap_in_number_separates_events_if_the_time_is_unknown():
    assert len(group([flagged(10), flagged(14)])) == 2


def test_the_time_decides_if_it_is_known():
    near = [flagged(10, time=1.0), flagged(40, time=1.9)]
    far = [flagged(10, time=1.0), flagged(40, time=2.1)]
    assert len(group(near)) == 1
    assert len(group(far)) == 2


def test_slow_capsules_are_grouped_by_number():
    assert len(group([flagged(10, time=0.0), flagged(11, time=10.0)])) == 1


def test_balls_of_consecutive_frames_that_touch_are_one_event():
    assert len(group([flagged(10, col=100.0), flagged(11, col=199.0)])) == 1
    assert len(group([flagged(10, col=100.0), flagged(11, col=201.0)])) == 2


def test_across_a_gap_the_centre_lies_in_the_other_ball():
    assert len(group([flagged(10, col=100.0), flagged(12, col=149.0)])) == 1
    assert len(group([flagged(10, col=100.0), flagged(12, col=151.0)])) == 2


def test_near_identical_frames_are_one_event_wherever_their_balls_are():
    frames = [flagged(10), flagged(11, col=400.0, duplicate_of=10), flagged(90, duplicate_of=10)]
    assert spans(group(frames)) == [(10, 90)]


def test_two_polyps_seen_in_turn_are_two_events():
    left, right = 60.0, 200.0
    events = group([flagged(n, col=left if n % 2 else right) for n in range(8)])
    assert sorted(len(event.members) for event in events) == [4, 4]
    assert all(len({m.col for m in event.members}) == 1 for event in events)


def test_heads_do_not_mix():
    assert len(group([flagged(10), flagged(10, head=1)])) == 2


def test_frames_without_a_ball_are_grouped_by_time_only():
    nowhere = [Flagged(0, n, None, 1.0, None, None, None) for n in (1, 2, 9)]
    assert spans(group(nowhere)) == [(1, 2), (9, 9)]


def test_events_are_ranked_by_their_best_score_then_by_length():
    events = group(
        [
            flagged(0, score=40.0),
            flagged(100, score=60.0),
            flagged(200, score=40.0),
            flagged(201, score=39.0),
        ]
    )
    assert spans(events) == [(100, 100), (200, 201), (0, 0)]


def test_the_best_frame_is_the_first_of_the_highest_scores():
    (event,) = group([flagged(1, score=40.0), flagged(2, score=44.0), flagged(3, score=44.0)])
    assert event.best.frame == 2


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.integers(0, 60),
            st.floats(0, 300),
            st.floats(0, 300),
            st.floats(1, 90),
        ),
        unique_by=lambda item: item[:2],
        max_size=40,
    )
)
def test_every_flagged_frame_is_in_exactly_one_event(items):
    frames = [Flagged(h, n, n / 4, r, r, c, r) for h, n, r, c, r in sorted(items)]
    events = group(frames)
    members = sorted((m.head, m.frame) for event in events for m in event.members)
    assert members == [(f.head, f.frame) for f in frames]
    scores = [event.best.score for event in events]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("count", [0, 1])
def test_no_frame_gives_no_event_and_one_frame_gives_one(count):
    assert len(group([flagged(5)] * count)) == count
