import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.report.evaluation.thinning import thinned


def staircase(seed: int, points: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    steps = rng.random((2, points)) * (rng.random((2, points)) < 0.4)
    x, y = np.cumsum(steps, axis=1)
    return np.concatenate([[0.0], x]), np.concatenate([[0.0], y])


def test_points_on_a_line_are_left_out() -> None:
    x = np.array([0, 1, 2, 3, 3, 3, 4.0])
    y = np.array([0, 1, 2, 3, 4, 5, 5.0])
    assert thinned(x, y).tolist() == [0, 3, 5, 6]


def test_a_point_twice_does_not_hide_a_corner() -> None:
    x = np.array([0, 1, 1, 1.0])
    y = np.array([0, 0, 0, 1.0])
    chosen = thinned(x, y)
    assert (x[chosen].tolist(), y[chosen].tolist()) == ([0, 1, 1], [0, 0, 1])


def test_a_way_back_is_kept() -> None:
    assert thinned(np.array([0, 2, 1.0]), np.zeros(3)).tolist() == [0, 1, 2]


@given(st.integers(0, 10_000), st.integers(2, 400))
def test_without_need_the_shape_is_exactly_the_same(seed: int, points: int) -> None:
    x, y = staircase(seed, points)
    chosen = thinned(x, y, most=1000)
    assert chosen[0] == 0
    assert (x[chosen[-1]], y[chosen[-1]]) == (x[-1], y[-1])
    # Along the way (x + y grows) both coordinates follow the chosen points.
    way = x + y
    assert np.allclose(np.interp(way, way[chosen], x[chosen]), x, atol=1e-9)
    assert np.allclose(np.interp(way, way[chosen], y[chosen]), y, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_every_point_left_out_is_near_one_that_stays(seed: int) -> None:
    x, y = staircase(seed, 20_000)
    chosen = thinned(x, y, most=500)
    assert chosen.size <= 500
    x, y = x / np.ptp(x), y / np.ptp(y)
    apart = np.maximum(
        np.abs(x[:, None] - x[chosen]).astype(np.float32),
        np.abs(y[:, None] - y[chosen]).astype(np.float32),
    )
    assert apart.min(axis=1).max() <= 2 / 500


def test_operating_points_and_both_ends_stay() -> None:
    x, y = staircase(1, 5000)
    chosen = thinned(x, y, most=50, keep=[123, 4567])
    assert {0, 123, 4567} <= set(chosen.tolist())
    assert (x[chosen[-1]], y[chosen[-1]]) == (x[-1], y[-1])


@pytest.mark.parametrize("size", [0, 1, 2])
def test_tiny_curves_stay_whole(size: int) -> None:
    assert thinned(np.arange(size, dtype=float), np.zeros(size)).tolist() == list(range(size))


def test_what_is_not_a_number_is_left_out() -> None:
    assert thinned(np.array([0, np.nan, 2.0]), np.array([0, 1, np.inf])).tolist() == [0]
