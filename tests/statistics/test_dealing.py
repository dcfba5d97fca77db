from itertools import product

import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.statistics.dealing import deal


def held(contents, part, parts):
    return np.stack([contents[part == place].sum(axis=0) for place in range(parts)])


def test_equal_groups_are_dealt_equally():
    contents = np.tile([[3, 40]], (20, 1))
    part = deal(contents, [0.2] * 5)
    assert np.bincount(part).tolist() == [4] * 5


def test_every_kind_is_spread_and_not_only_the_sum():
    """Groups of two sorts whose sizes agree: a deal by size alone could part them by sort."""
    contents = np.array([[100, 0]] * 8 + [[0, 100]] * 8)
    for seed in range(10):
        assert (held(contents, deal(contents, [0.5, 0.5], seed=seed), 2) == 400).all()


def test_shares_are_met():
    contents = np.ones((100, 1), dtype=int)
    assert np.bincount(deal(contents, [0.7, 0.3])).tolist() == [70, 30]


def test_no_part_stays_empty():
    for seed in range(10):
        assert set(deal(np.ones((5, 2), dtype=int), [0.95, 0.05], seed=seed)) == {0, 1}
        assert set(deal(np.array([[1000], [1], [1]]), [1 / 3] * 3, seed=seed)) == {0, 1, 2}


def test_the_seed_decides_and_nothing_else():
    contents = np.random.default_rng(1).integers(0, 50, (30, 3))
    assert (deal(contents, [0.5, 0.5], seed=4) == deal(contents, [0.5, 0.5], seed=4)).all()
    deals = {tuple(deal(contents, [0.5, 0.5], seed=seed)) for seed in range(5)}
    assert len(deals) > 1


def test_too_few_groups_are_refused():
    with pytest.raises(ParameterError, match="only 2 groups"):
        deal(np.ones((2, 1), dtype=int), [0.2] * 5)


def test_kinds_that_do_not_occur_do_not_matter():
    contents = np.array([[5, 0], [5, 0], [3, 0], [3, 0]])
    assert held(contents, deal(contents, [0.5, 0.5]), 2)[:, 0].tolist() == [8, 8]


def test_the_deal_is_close_to_the_best_of_all():
    rng = np.random.default_rng(2)
    worse = []
    for _ in range(20):
        contents = rng.integers(0, 100, (9, 2))
        total = contents.sum(axis=0)

        def cost(part, contents=contents, total=total):
            return ((held(contents, np.asarray(part), 2) / total - 0.5) ** 2).sum()

        best = min(cost(part) for part in product((0, 1), repeat=9))
        at_random = np.median([cost(rng.integers(0, 2, 9)) for _ in range(99)])
        worse.append((cost(deal(contents, [0.5, 0.5])) - best) / (at_random - best))
    assert np.median(worse) < 0.2
