"""Flagged frames grouped into candidate polyps."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.frame_table import best_of_events, group_events
from support.labelled_frames import labelled_frames


def flagged(frame, **changes: Any) -> dict[str, Any]:
    """A flagged frame; `duplicate_of` is the number of the earlier near-identical frame."""
    place = {"row": 100.0, "col": 100.0, "radius": 50.0}
    usual = {"head": 0, "frame": frame, "time": None, "score": 40.0, "duplicate_of": None}
    return usual | place | changes


def group(frames):
    """Return the frames of each event, best event first."""
    number = {(one["head"], one["frame"]): row for row, one in enumerate(frames)}
    first = [number.get((one["head"], one["duplicate_of"]), -1) for one in frames]
    columns = {name: [one[name] for one in frames] for name in flagged(0)}
    known = {name: np.array(columns[name], float) for name in ("time", "row", "col", "radius")}
    table = labelled_frames(
        columns["score"], head=columns["head"], frame=columns["frame"], duplicate_of=first, **known
    )
    event = group_events(table, np.ones(len(frames), bool))
    assert best_of_events(event, table.score).tolist() == [
        max(np.flatnonzero(event == code), key=lambda row: (table.score[row], -row))
        for code in range(event.max(initial=-1) + 1)
    ]
    return [
        [one for one, mine in zip(frames, event, strict=True) if mine == code]
        for code in range(event.max(initial=-1) + 1)
    ]


def spans(events):
    return [(members[0]["frame"], members[-1]["frame"]) for members in events]


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
    assert sorted(map(len, events)) == [4, 4]
    assert all(len({member["col"] for member in members}) == 1 for members in events)


def test_heads_do_not_mix():
    assert len(group([flagged(10), flagged(10, head=1)])) == 2


def test_frames_without_a_ball_are_grouped_by_time_only():
    nowhere = [flagged(n, row=None, col=None) for n in (1, 2, 9)]
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
    event = np.array([0, 0, -1, 0])
    assert best_of_events(event, np.array([40.0, 44.0, 50.0, 44.0])).tolist() == [1]


def test_exams_do_not_mix():
    frames = labelled_frames([1.0, 2.0], exam=[0, 1], frame=[5, 6])
    assert group_events(frames, np.ones(2, bool)).tolist() == [1, 0]


def test_frames_that_are_not_flagged_have_no_event():
    frames = labelled_frames([1.0, 9.0, 3.0])
    assert group_events(frames, np.array([True, False, True])).tolist() == [0, -1, 0]


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
    frames = [
        flagged(n, head=h, time=n / 4, score=r, row=r, col=c) for h, n, r, c, _ in sorted(items)
    ]
    events = group(frames)
    members = sorted((one["head"], one["frame"]) for event in events for one in event)
    assert members == [(one["head"], one["frame"]) for one in frames]
    scores = [max(one["score"] for one in event) for event in events]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("count", [0, 1])
def test_no_frame_gives_no_event_and_one_frame_gives_one(count):
    assert len(group([flagged(5)] * count)) == count
