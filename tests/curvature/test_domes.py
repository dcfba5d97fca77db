"""Curvatures against closed forms and scikit-image, domes against a flood fill."""

import math
from dataclasses import replace

import numpy as np
import pytest
from skimage.feature import shape_index as skimage_shape_index

from capsieve.curvature.domes import (
    Constants,
    curvatures,
    curvedness,
    find_domes,
    shape_index,
    surfaces,
)
from capsieve.paper.mask import circular_mask
from reference import curvature as literal

SIDE = 81
MIDDLE = SIDE // 2
ROWS, COLS = np.mgrid[-MIDDLE : MIDDLE + 1, -MIDDLE : MIDDLE + 1].astype(np.float64)

FRAME_SIDE = 128
MASK = circular_mask(FRAME_SIDE, FRAME_SIDE, 0.45 * FRAME_SIDE).inside
STEEP = Constants(height=1.0)


def smoothed(frame, sigma):
    """The frame after a Gaussian, without a change of its values."""
    width = frame.shape[1]
    (surface,) = surfaces(frame, Constants(scales=(sigma / width,), height=255 / width))
    return surface


def bumpy(seed=0, shape=(40, 48), sigma=3.0):
    noise = np.random.default_rng(seed).uniform(0, 255, shape).astype(np.float32)
    return smoothed(noise, sigma)


def ball(radius):
    return np.sqrt(np.maximum(radius**2 - ROWS**2 - COLS**2, 0))


@pytest.mark.parametrize("radius", [60, 100, 400])
def test_a_ball_has_its_curvatures_everywhere(radius):
    found = curvatures(ball(radius))
    near = np.hypot(ROWS, COLS) < 30
    np.testing.assert_allclose(found.mean[near], 1 / radius, rtol=2e-3)
    np.testing.assert_allclose(found.gaussian[near], 1 / radius**2, rtol=4e-3)
    np.testing.assert_allclose(curvedness(found)[near], 1 / radius, rtol=2e-3)


def test_the_area_over_a_cap_is_that_of_the_sphere():
    radius, rim = 60.0, 30.0
    found = curvatures(ball(radius))
    cap = 2 * math.pi * radius * (radius - math.sqrt(radius**2 - rim**2))
    assert found.area[np.hypot(ROWS, COLS) < rim].sum() == pytest.approx(cap, rel=0.01)


@pytest.mark.parametrize(
    ("surface", "shape"),
    [
        (-(ROWS**2) - COLS**2, 1.0),
        (-(ROWS**2), 0.5),
        (-(COLS**2), 0.5),
        (COLS**2 - ROWS**2, 0.0),
        (ROWS * COLS, 0.0),
        (COLS**2, -0.5),
        (ROWS**2 + COLS**2, -1.0),
    ],
    ids=["cap", "ridge", "ridge across", "saddle", "saddle aslant", "rut", "cup"],
)
def test_the_shape_index_names_the_shape(surface, shape):
    found = curvatures(surface / 100)
    assert shape_index(found)[MIDDLE, MIDDLE] == pytest.approx(shape, abs=1e-6)


def test_a_cylinder_has_no_gaussian_curvature():
    found = curvatures(np.sqrt(100.0**2 - ROWS**2))
    inside = (slice(5, -5), slice(5, -5))
    np.testing.assert_allclose(found.gaussian[inside], 0, atol=1e-12)
    np.testing.assert_allclose(found.mean[inside], 1 / 200, rtol=2e-3)
    np.testing.assert_allclose(shape_index(found)[inside], 0.5, atol=1e-6)


def test_a_saddle_has_negative_gaussian_curvature():
    found = curvatures(ROWS * COLS / 50)
    assert (found.gaussian[1:-1, 1:-1] < 0).all()


def test_a_tilted_plane_has_no_curvature():
    found = curvatures(3 * ROWS - 2 * COLS)
    inside = (slice(1, -1), slice(1, -1))
    for plane in (found.mean, found.gaussian, shape_index(found), curvedness(found)):
        np.testing.assert_array_equal(plane[inside], 0)
    np.testing.assert_allclose(found.area[inside], math.sqrt(14))


def test_curvatures_are_those_of_the_shape_operator():
    z = bumpy()
    found = curvatures(z)
    spread = np.sqrt(np.maximum(found.mean**2 - found.gaussian, 0))
    high, low = found.mean + spread, found.mean - spread
    for row in range(1, z.shape[0] - 1):
        for col in range(1, z.shape[1] - 1):
            expected = literal.principal(z, row, col)
            assert (high[row, col], low[row, col]) == pytest.approx(expected, abs=1e-9)
            assert found.area[row, col] == pytest.approx(literal.area(z, row, col))


def test_the_shape_index_is_that_of_scikit_image_where_slopes_are_small():
    sigma = 4
    noise = np.random.default_rng(1).uniform(0, 1, (96, 96)).astype(np.float32)
    found = curvatures(smoothed(noise, sigma) / 100)
    theirs = skimage_shape_index(noise.astype(np.float64), sigma=sigma, mode="reflect")
    inside = (slice(4, -4), slice(4, -4))
    difference = np.abs(shape_index(found) - theirs)[inside]
    # Near an umbilic a tiny change turns a cap into a dome, so not every pixel can agree.
    assert np.quantile(difference, 0.95) < 0.05
    assert np.median(difference) < 0.01


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_surface_has_turned_curvatures(turns):
    z = bumpy(shape=(40, 40))
    for here, there in zip(curvatures(z), curvatures(np.rot90(z, turns)), strict=True):
        np.testing.assert_allclose(np.rot90(here, turns), there, atol=1e-10)


@pytest.mark.parametrize("angle", [0.3, 0.8, 1.2])
def test_curvatures_do_not_depend_on_the_axes(angle):
    def ellipsoid(turned):
        along = np.cos(turned) * ROWS + np.sin(turned) * COLS
        across = np.cos(turned) * COLS - np.sin(turned) * ROWS
        return -(along**2) / 100 - across**2 / 300

    straight, turned = (curvatures(ellipsoid(each)) for each in (0.0, angle))
    for here, there in zip(straight, turned, strict=True):
        assert here[MIDDLE, MIDDLE] == pytest.approx(there[MIDDLE, MIDDLE], rel=1e-6)


def test_smoothing_a_wave_damps_it_as_a_gaussian_does():
    sigma, length = 6.4, 40
    wave = np.cos(2 * math.pi * np.arange(400) / length)[None, :].repeat(64, axis=0)
    damped = smoothed(wave.astype(np.float32), sigma)
    expected = math.exp(-((2 * math.pi * sigma / length) ** 2) / 2)
    np.testing.assert_allclose(damped[:, 40:-40], expected * wave[:, 40:-40], atol=2e-3)


def hill(row=64.0, col=64.0, *, height=90.0, wide=12.0, long=12.0):
    rows, cols = np.mgrid[:FRAME_SIDE, :FRAME_SIDE]
    bump = np.exp(-((rows - row) ** 2) / (2 * wide**2) - (cols - col) ** 2 / (2 * long**2))
    return (100 + height * bump).astype(np.float32)


def found(frame, sigma=3.0, constants=STEEP, mask=MASK):
    (domes,) = find_domes(frame, mask, replace(constants, scales=(sigma / frame.shape[1],)))
    return domes


def test_the_domes_are_those_of_the_flood_fill():
    noise = np.random.default_rng(2).uniform(0, 255, (FRAME_SIDE, FRAME_SIDE)).astype(np.float32)
    (z,) = surfaces(noise, replace(STEEP, scales=(3.0 / FRAME_SIDE,)))
    expected = literal.best_radius(
        z,
        MASK,
        least_shape=STEEP.least_shape,
        least_curvedness=STEEP.least_curvedness / 3.0,
        least_pixels=STEEP.least_area * 9,
    )
    best = found(noise).best
    assert best is not None
    assert best.radius == pytest.approx(expected, rel=1e-6)


def test_a_half_ball_has_its_own_radius():
    # Only the top of the ball is drawn: it has that share of everything.
    radius, rim = 100.0, 50.0
    rows, cols = np.mgrid[:FRAME_SIDE, :FRAME_SIDE] - 63.0
    cap = np.sqrt(np.maximum(radius**2 - rows**2 - cols**2, 0))
    mask = np.hypot(rows, cols) <= rim
    one_high = Constants(height=255 / FRAME_SIDE, least_curvedness=0.0)
    best = found(cap.astype(np.float32), 1.0, one_high, mask).best
    assert best is not None
    share = 1 - math.sqrt(1 - (rim / radius) ** 2)  # of the area of the half-ball
    assert best.radius == pytest.approx(radius * share, rel=0.02)
    assert best.total == pytest.approx(share, rel=0.03)
    assert best.shape == pytest.approx(1.0, abs=0.05)
    assert best.curvedness == pytest.approx(1 / radius, rel=0.02)


def test_a_hill_is_found_at_its_position():
    best = found(hill(50.0, 80.0)).best
    assert best is not None
    assert (best.row, best.col) == pytest.approx((50.0, 80.0), abs=0.1)


def test_a_ridge_is_no_dome():
    assert found(hill(wide=8.0, long=1000.0)).best is None


def test_a_pit_is_no_dome():
    assert found(hill(wide=1000.0, long=1000.0, height=0.0) - (hill() - 100)).best is None


def test_a_plane_has_no_dome():
    domes = found(np.full((FRAME_SIDE, FRAME_SIDE), 200.0, np.float32))
    assert (domes.best, domes.peak, domes.density.max()) == (None, 0.0, 0.0)


def test_a_single_bright_point_makes_a_dome_of_the_expected_area():
    frame = np.full((FRAME_SIDE, FRAME_SIDE), 100.0, np.float32)
    frame[64, 64] = 255.0
    flat = Constants(height=1e-3, least_curvedness=0.0, least_area=0.0)
    sigma = 8.0
    best = found(frame, sigma, flat).best
    assert best is not None
    # Of a Gaussian exp(-q/2) the curvatures are as 1 to 1 - q: shape 5/8 at q = 2 / (1 + t).
    q = 2 / (1 + math.tan(math.pi * 5 / 16))
    assert best.pixels == pytest.approx(math.pi * q * sigma**2, rel=0.05)


def test_a_small_dome_has_a_peak_but_no_radius():
    domes = found(hill(), constants=replace(STEEP, least_area=1e6))
    assert domes.best is None
    assert domes.peak == found(hill()).peak > 0
    assert not domes.density.any()


def test_the_density_adds_up_to_the_radius():
    domes = found(hill())
    assert domes.best is not None
    assert domes.density.sum() == pytest.approx(domes.best.radius, rel=1e-5)


def test_domes_outside_the_mask_are_ignored():
    assert found(hill(5.0, 5.0, wide=4.0, long=4.0)).best is None


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_frame_has_the_same_dome(turns):
    square = np.ones((FRAME_SIDE, FRAME_SIDE), bool)
    noise = np.random.default_rng(3).uniform(0, 255, (FRAME_SIDE, FRAME_SIDE)).astype(np.float32)
    here, there = (
        found(each, 4.0, mask=square).best for each in (noise, np.rot90(noise, turns).copy())
    )
    assert here is not None
    assert there is not None
    assert here.radius == pytest.approx(there.radius, rel=1e-6)
    assert here.pixels == there.pixels


def test_each_scale_has_its_own_domes():
    frame = hill(wide=14.0, long=14.0)
    both = find_domes(frame, MASK, replace(STEEP, scales=(0.02, 0.05)))
    for domes, sigma in zip(both, (0.02 * FRAME_SIDE, 0.05 * FRAME_SIDE), strict=True):
        alone = found(frame, sigma)
        assert domes.best is not None
        assert domes.best == alone.best
        assert domes.peak == alone.peak


def test_rounding_of_the_frame_does_not_change_the_domes():
    random = np.random.default_rng(5)
    frame = random.uniform(0, 255, (FRAME_SIDE, FRAME_SIDE))
    rounded = frame * (1 + 1e-6 * random.standard_normal(frame.shape))
    here, there = (found(each.astype(np.float32)) for each in (frame, rounded))
    assert here.best is not None
    assert there.best is not None
    assert here.best.pixels == there.best.pixels
    assert here.best.radius == pytest.approx(there.best.radius, rel=1e-5)
    assert here.peak == pytest.approx(there.peak, rel=1e-5)
