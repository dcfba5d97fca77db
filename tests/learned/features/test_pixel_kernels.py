"""The compiled loops over pixels against slow ones, written from what they promise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.learned.features.kernels.planes import balance
from capsieve.learned.features.kernels.regions import rim_sums
from capsieve.learned.features.kernels.statistics import window_frame, zone_sums
from capsieve.learned.features.outline import Outline, outline

SHAPES = st.tuples(st.integers(1, 14), st.integers(1, 14))
SEEDS = st.integers(0, 2**32 - 1)


def noise(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, 1.0, shape).astype(np.float32)


def literal_rim(plane, mask, row, col, low, high):
    """Every pixel that has four neighbours and lies in the mask, at those distances."""
    rows, cols = plane.shape
    radial = total = 0.0
    for i in range(1, rows - 1):
        for j in range(1, cols - 1):
            square = (i - row) ** 2 + (j - col) ** 2
            if not mask[i, j] or not low <= square <= high:
                continue
            down = float(plane[i + 1, j]) - float(plane[i - 1, j])
            across = float(plane[i, j + 1]) - float(plane[i, j - 1])
            total += down**2 + across**2
            if square > 0:  # the centre has no radius
                away = math.sqrt(square)
                radial += ((down * (i - row) + across * (j - col)) / away) ** 2
    return radial, total


@given(
    shape=SHAPES,
    seed=SEEDS,
    # Quarters are exact: no distance is rounded to the other side of a bound.
    row=st.integers(-24, 80).map(lambda quarters: quarters / 4),
    col=st.integers(-24, 80).map(lambda quarters: quarters / 4),
    low=st.integers(0, 30),
    more=st.integers(0, 60),
)
def test_a_rim_holds_the_pixels_at_its_distances(shape, seed, row, col, low, more):
    plane = noise(seed, *shape)
    mask = np.random.default_rng(seed).random(shape) < 0.7
    arguments = (plane, mask, row, col, float(low), float(low + more))
    found = rim_sums(*arguments)
    np.testing.assert_allclose(found, literal_rim(*arguments), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("high", [0.0, 1e-9, 1.0, 1.21])
def test_the_rim_of_a_ball_of_one_pixel_has_its_centre(high):
    plane, everywhere = noise(1, 7, 7), np.ones((7, 7), bool)
    arguments = (plane, everywhere, 3.0, 3.0, 0.0, high)
    np.testing.assert_allclose(rim_sums(*arguments), literal_rim(*arguments), rtol=1e-5)


def test_all_of_a_cone_is_steep_along_the_radius():
    rows, cols = np.indices((41, 41)) - 20.0
    cone = np.hypot(rows, cols).astype(np.float32)
    mask = np.ones(cone.shape, bool)
    radial, total = rim_sums(cone, mask, 20.0, 20.0, 64.0, 256.0)
    assert radial / total == pytest.approx(1.0, abs=1e-3)
    turned = np.arctan2(rows, cols + 1e-3).astype(np.float32)
    mask &= cols > 2  # the angle leaps on the other side
    radial, total = rim_sums(turned, mask, 20.0, 20.0, 64.0, 256.0)
    assert radial / total == pytest.approx(0.0, abs=1e-3)


def test_an_even_frame_has_no_rim():
    even = np.full((30, 30), 0.7, np.float32)
    assert rim_sums(even, np.ones((30, 30), bool), 12.5, 9.0, 4.0, 100.0) == (0.0, 0.0)


def literal_zones(plane, distance, near, far, mask):
    inside, outside = mask & (distance <= near), mask & (distance > far)
    exact = plane.astype(np.float64)
    return exact[inside].sum(), inside.sum(), exact[outside].sum(), outside.sum()


def view_of(rows: int, cols: int, reach: float) -> Outline:
    """A mask that may be cut by the frame, or hold a few pixels of it."""
    return outline(rows, cols, rows - 1.0, cols - 1.0, reach)


@given(
    shape=SHAPES,
    seed=SEEDS,
    reach=st.floats(0.8, 20.0),
    bounds=st.tuples(st.floats(0.0, 1.1), st.floats(0.0, 1.1)).map(sorted),
    on_a_pixel=st.booleans(),
)
def test_the_zones_hold_the_pixels_of_the_mask_at_their_distances(
    shape, seed, reach, bounds, on_a_pixel
):
    seen, plane = view_of(shape[0], shape[1], reach), noise(seed, *shape)
    near, far = bounds
    if on_a_pixel:  # the bound itself belongs to the near zone, and not to the far one
        near = far = float(np.random.default_rng(seed).choice(seen.distance.ravel()))
    found = zone_sums(plane, seen.distance, near, far, seen.starts, seen.stops)
    # As float64: NumPy would round the bounds to the distances' float32.
    exact = seen.distance.astype(np.float64)
    expected = literal_zones(plane, exact, near, far, seen.mask)
    assert (found[1], found[3]) == (expected[1], expected[3])
    np.testing.assert_allclose((found[0], found[2]), (expected[0], expected[2]), atol=1e-9)


def test_empty_zones_add_up_to_nothing():
    seen = view_of(12, 12, 11.0)
    nowhere = zone_sums(noise(2, 12, 12), seen.distance, -1.0, 2.0, seen.starts, seen.stops)
    assert nowhere == (0.0, 0, 0.0, 0)


def balanced_planes(colours, gains, dark, level, mask):
    count = len(mask)
    balanced = np.full((count, 3), np.nan, np.float32)
    redness, gray, white = (np.full(count, np.nan, np.float32) for _ in range(3))
    balance(colours, gains, dark, level, mask, balanced, redness, gray, white)
    return balanced, redness, gray, white


@given(
    seed=SEEDS,
    count=st.integers(1, 40),
    gains=st.tuples(*[st.floats(0.125, 20.0, width=32)] * 3),
    dark=st.floats(0.5, 16.0, width=32),
    level=st.floats(-2.0, 2.0, width=32),
)
def test_each_pixel_is_balanced_by_itself(seed, count, gains, dark, level):
    chance = np.random.default_rng(seed)
    colours = chance.uniform(0, 255, (count, 3)).astype(np.float32)
    extreme = chance.random((count, 3)) < 0.3
    colours[extreme] = chance.choice([0.0, 255.0], np.count_nonzero(extreme))
    mask = chance.random(count) < 0.7
    found = balanced_planes(
        colours, np.array(gains, np.float32), np.float32(dark), np.float32(level), mask
    )
    exact = colours.astype(np.float64)
    scaled = exact * gains
    redness = np.log((scaled[:, 0] + dark) / (scaled[:, 1] + dark)) - level
    np.testing.assert_allclose(found[0], np.minimum(scaled / 255, 1), rtol=1e-6)
    np.testing.assert_allclose(found[1], np.where(mask, redness, 0), atol=2e-6)
    np.testing.assert_allclose(found[2], exact @ [0.299, 0.587, 0.114], rtol=1e-6)
    np.testing.assert_array_equal(found[3], colours.min(axis=1))
    assert not found[1][~mask].any()


@pytest.mark.parametrize("level", [0.0, 255.0])
def test_black_and_white_pixels_keep_finite_colours(level):
    colours = np.full((3, 3), level, np.float32)
    gains = np.full(3, 20.0, np.float32)
    mask = np.ones(3, bool)
    found = balanced_planes(colours, gains, np.float32(4.0), np.float32(0.0), mask)
    np.testing.assert_array_equal(found[0], min(level, 1.0))
    np.testing.assert_allclose(found[1], 0.0, atol=1e-6)


def windowed(light: np.ndarray, window: np.ndarray) -> np.ndarray:
    out = np.full_like(light, np.nan)
    window_frame(light, window, out)
    return out


@given(seed=SEEDS, count=st.integers(1, 300), closed=st.sampled_from([0.0, 0.5, 0.98]))
def test_a_windowed_frame_adds_up_to_nothing(seed, count, closed):
    chance = np.random.default_rng(seed)
    light = chance.uniform(0.02, 5.0, count).astype(np.float32)
    window = chance.random(count).astype(np.float32)
    window[chance.random(count) < closed] = 0.0
    found = windowed(light, window)
    exact, weights = light.astype(np.float64), window.astype(np.float64)
    level = exact @ weights / weights.sum() if weights.any() else 0.0
    np.testing.assert_allclose(found, (exact - level) * weights, atol=2e-6)
    assert found.sum(dtype=np.float64) == pytest.approx(0.0, abs=1e-6 * count)


def test_a_closed_window_shows_nothing():
    assert not windowed(noise(3, 40), np.zeros(40, np.float32)).any()


@pytest.mark.parametrize("level", [0.02, 1.0, 3.7])
def test_an_even_frame_is_nothing_behind_a_window(level):
    light = np.full(5000, level, np.float32)
    window = np.abs(noise(4, 5000))
    np.testing.assert_allclose(windowed(light, window), 0.0, atol=1e-6 * level)
