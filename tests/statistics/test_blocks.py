import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.statistics.blocks import cut_blocks, uncuttable


def sizes(blocks):
    return np.bincount(blocks).tolist()


def nothing_closed(gap):
    return np.zeros(len(gap), dtype=bool)


def test_an_even_sequence_is_cut_evenly():
    gap = np.ones(999)
    assert sizes(cut_blocks(gap, nothing_closed(gap), size=100)) == [100] * 10


def test_the_widest_gap_nearby_is_where_the_cut_is():
    gap = np.ones(199)
    gap[69] = 50
    gap[110] = 20
    assert sizes(cut_blocks(gap, nothing_closed(gap), size=100)) == [70, 130]


def test_of_equal_gaps_the_one_nearest_to_the_size_is_taken():
    gap = np.ones(199)
    gap[[59, 94, 120]] = 9
    assert sizes(cut_blocks(gap, nothing_closed(gap), size=100)) == [95, 105]


def test_a_long_closed_stretch_makes_a_long_block():
    gap = np.ones(399)
    closed = nothing_closed(gap)
    closed[20:279] = True  # from frame 20 to frame 279 there is one polyp
    assert sizes(cut_blocks(gap, closed, size=100)) == [280, 120]


@pytest.mark.parametrize("frames", [1, 2, 14, 15])
def test_few_frames_are_one_block(frames):
    gap = np.ones(frames - 1)
    assert sizes(cut_blocks(gap, nothing_closed(gap), size=10)) == [frames]


def test_the_heads_of_one_moment_are_not_cut_apart():
    gap = np.tile([0.0, 1.0], 50)[:-1]
    blocks = cut_blocks(gap, nothing_closed(gap), size=7)
    assert len(set(blocks)) > 5
    assert (blocks[::2] == blocks[1::2]).all()


@settings(max_examples=200, deadline=None)
@given(
    places=st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=120),
    size=st.integers(1, 40),
)
def test_cuts_keep_to_their_rules(places, size):
    gap = np.array([width for width, _ in places], dtype=np.float64)
    closed = np.array([shut for _, shut in places], dtype=bool)
    blocks = cut_blocks(gap, closed, size=size)
    assert len(blocks) == len(places) + 1
    steps = np.diff(blocks)
    assert set(steps.tolist()) <= {0, 1}
    assert not (steps[closed] == 1).any()
    if len(sizes(blocks)) > 1:
        assert min(sizes(blocks)) >= size / 2
    if not closed.any():
        assert max(sizes(blocks)) <= max(1.5 * size, 1)


def test_nothing_is_cut_between_the_first_and_the_last_frame_of_a_polyp():
    polyp = np.array([-1, 3, -1, 3, -1, 7, 7, -1])
    closed = uncuttable(polyp, polyp >= 0, np.ones(7))
    assert closed.tolist() == [False, True, True, False, False, True, False]


def test_polyps_that_overlap_are_one_closed_stretch():
    polyp = np.array([1, 2, 1, 2, -1])
    assert uncuttable(polyp, polyp >= 0, np.ones(4)).tolist() == [True, True, True, False]


def test_polyp_frames_without_a_name_form_runs():
    is_polyp = np.array([True, True, True, False, True])
    gap = np.array([2.0, 9.0, 2.0, 2.0])
    closed = uncuttable(np.full(5, -1), is_polyp, gap)
    assert closed.tolist() == [True, False, False, False]
