"""Blocks of frames, and groups assigned to parts."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.labels.splitting import assign_in_order, assign_stratified, cut_blocks

FIFTHS = [0.2] * 5


def blocks_of(gap, *, size, polyp=None, is_polyp=None):
    polyp = np.full(len(gap) + 1, -1) if polyp is None else np.asarray(polyp)
    is_polyp = polyp >= 0 if is_polyp is None else np.asarray(is_polyp)
    return cut_blocks(np.asarray(gap, float), polyp=polyp, is_polyp=is_polyp, size=size)


def sizes(blocks):
    return np.bincount(blocks).tolist()


def held(contents, part, parts):
    return np.stack([contents[part == place].sum(axis=0) for place in range(parts)])


def test_an_even_sequence_is_cut_evenly():
    assert sizes(blocks_of(np.ones(999), size=100)) == [100] * 10


def test_the_cut_is_at_the_widest_gap_and_then_nearest_to_the_size():
    gap = np.ones(199)
    gap[[69, 110]] = 50, 20
    assert sizes(blocks_of(gap, size=100)) == [70, 130]
    gap = np.ones(199)
    gap[[59, 94, 120]] = 9
    assert sizes(blocks_of(gap, size=100)) == [95, 105]


def test_a_long_polyp_makes_a_long_block():
    polyp = np.full(400, -1)
    polyp[[20, 279]] = 3
    assert sizes(blocks_of(np.ones(399), size=100, polyp=polyp)) == [280, 120]


@pytest.mark.parametrize("frames", [1, 2, 14, 15])
def test_few_frames_are_one_block(frames):
    assert sizes(blocks_of(np.ones(frames - 1), size=10)) == [frames]


def test_the_heads_of_one_moment_stay_together():
    blocks = blocks_of(np.tile([0.0, 1.0], 50)[:-1], size=7)
    assert len(set(blocks)) > 5
    assert (blocks[::2] == blocks[1::2]).all()


def test_runs_of_polyp_frames_without_a_name_stay_together_up_to_a_jump():
    is_polyp = np.array([True] * 12 + [False] * 4)
    gap = np.full(15, 2.0)
    assert blocks_of(gap, size=4, is_polyp=is_polyp)[:12].max() == 0
    gap[5] = 9.0
    assert sizes(blocks_of(gap, size=4, is_polyp=is_polyp))[0] == 6


@settings(max_examples=200, deadline=None)
@given(
    frames=st.lists(st.tuples(st.integers(1, 5), st.integers(-6, 3)), min_size=1, max_size=120),
    size=st.integers(1, 40),
)
def test_no_cut_divides_a_polyp_and_blocks_keep_their_size(frames, size):
    gap = np.array([width for width, _ in frames[1:]], float)
    polyp = np.maximum([code for _, code in frames], -1)
    blocks = blocks_of(gap, size=size, polyp=polyp)
    assert set(np.diff(blocks).tolist()) <= {0, 1}
    for code in set(polyp[polyp >= 0].tolist()):
        assert len(set(blocks[polyp == code].tolist())) == 1
    if len(sizes(blocks)) > 1:
        assert min(sizes(blocks)) >= size / 2
    if (polyp < 0).all():
        assert max(sizes(blocks)) <= max(1.5 * size, 1)


def test_equal_groups_are_assigned_equally():
    assert np.bincount(assign_stratified(np.tile([[3, 40]], (20, 1)), FIFTHS)).tolist() == [4] * 5
    assert np.bincount(assign_stratified(np.ones((100, 1), int), [0.7, 0.3])).tolist() == [70, 30]


def test_every_kind_is_spread_and_not_only_the_sum():
    contents = np.array([[100, 0]] * 8 + [[0, 100]] * 8)
    for seed in range(10):
        part = assign_stratified(contents, [0.5, 0.5], seed=seed)
        assert (held(contents, part, 2) == 400).all()


def test_no_part_stays_empty():
    for seed in range(10):
        assert set(assign_stratified(np.ones((5, 2), int), [0.95, 0.05], seed=seed)) == {0, 1}
        one_large = np.array([[1000], [1], [1]])
        assert set(assign_stratified(one_large, [1 / 3] * 3, seed=seed)) == {0, 1, 2}


def test_the_seed_decides_and_nothing_else():
    contents = np.random.default_rng(1).integers(0, 50, (30, 3))
    assigned = [tuple(assign_stratified(contents, [0.5, 0.5], seed=seed)) for seed in (4, 4, 5, 6)]
    assert assigned[0] == assigned[1]
    assert len(set(assigned)) > 1


def test_kinds_that_do_not_occur_do_not_matter():
    contents = np.array([[5, 0], [5, 0], [3, 0], [3, 0]])
    assert held(contents, assign_stratified(contents, [0.5, 0.5]), 2)[:, 0].tolist() == [8, 8]


def test_fewer_groups_than_parts_are_refused():
    with pytest.raises(ParameterError, match="only 2 groups"):
        assign_stratified(np.ones((2, 1), int), FIFTHS)


def test_the_assignment_is_close_to_the_best_of_all():
    rng = np.random.default_rng(2)
    worse = []
    for _ in range(20):
        contents = rng.integers(0, 100, (9, 2))
        total = contents.sum(axis=0)

        def cost(part, contents=contents, total=total):
            return ((held(contents, np.asarray(part), 2) / total - 0.5) ** 2).sum()

        best = min(cost(part) for part in product((0, 1), repeat=9))
        at_random = np.median([cost(rng.integers(0, 2, 9)) for _ in range(99)])
        found = cost(assign_stratified(contents, [0.5, 0.5]))
        worse.append((found - best) / (at_random - best))
    assert np.median(worse) < 0.2


def test_in_order_neighbours_stay_together():
    assert assign_in_order(np.full(20, 10), FIFTHS).tolist() == np.repeat(np.arange(5), 4).tolist()


def test_in_order_parts_have_their_shares_of_the_frames_and_not_of_the_groups():
    assert assign_in_order(np.array([70, 10, 10, 10]), [0.7, 0.3]).tolist() == [0, 1, 1, 1]


def test_in_order_every_source_is_divided_by_itself():
    size, source = np.r_[np.full(10, 10), np.full(10, 100)], np.repeat([5, 2], 10)
    part = assign_in_order(size, FIFTHS, source=source)
    assert part.tolist() == np.repeat(np.arange(5), 2).tolist() * 2


def test_in_order_sources_with_fewer_groups_than_parts_are_taken_together():
    part = assign_in_order(np.full(10, 20), FIFTHS, source=np.arange(10))
    assert part.tolist() == np.repeat(np.arange(5), 2).tolist()


def test_in_order_a_part_without_a_group_is_refused():
    with pytest.raises(ParameterError, match="2 of 5 parts would stay empty"):
        assign_in_order(np.array([700, 100, 100, 100]), FIFTHS)
