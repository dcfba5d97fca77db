"""Curvatures against closed forms, the shape operator and scikit-image."""

import math

import numpy as np
import pytest
from skimage.feature import shape_index as skimage_shape_index

from capsieve.curvature.curvatures import curvatures, curvedness, principal, shape_index
from capsieve.curvature.surface import smoothed
from reference import curvature as literal

SIDE = 81
MIDDLE = SIDE // 2
ROWS, COLS = np.mgrid[-MIDDLE : MIDDLE + 1, -MIDDLE : MIDDLE + 1].astype(np.float64)


def bumpy(seed=0, shape=(40, 48), sigma=3.0):
    noise = np.random.default_rng(seed).uniform(0, 255, shape).astype(np.float32)
    return smoothed(noise, sigma=sigma).astype(np.float64)


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


def test_a_tilted_plane_is_flat_and_shapeless():
    found = curvatures(3 * ROWS - 2 * COLS)
    inside = (slice(1, -1), slice(1, -1))
    for plane in (found.mean, found.gaussian, shape_index(found), curvedness(found)):
        np.testing.assert_array_equal(plane[inside], 0)
    np.testing.assert_allclose(found.area[inside], math.sqrt(14))


def test_curvatures_are_those_of_the_shape_operator():
    z = bumpy()
    found = curvatures(z)
    high, low = principal(found)
    for row in range(1, z.shape[0] - 1):
        for col in range(1, z.shape[1] - 1):
            expected = literal.principal(z, row, col)
            assert (high[row, col], low[row, col]) == pytest.approx(expected, abs=1e-9)
            assert found.area[row, col] == pytest.approx(literal.area(z, row, col))


def test_the_shape_index_is_that_of_scikit_image_where_slopes_are_small():
    sigma = 4
    noise = np.random.default_rng(1).uniform(0, 1, (96, 96)).astype(np.float32)
    found = curvatures(smoothed(noise, sigma=sigma).astype(np.float64) / 100)
    theirs = skimage_shape_index(noise.astype(np.float64), sigma=sigma, mode="reflect")
    inside = (slice(4, -4), slice(4, -4))
    difference = np.abs(shape_index(found) - theirs)[inside]
    # Near an umbilic a hair turns a cap into a dome, so not every pixel can agree.
    assert np.quantile(difference, 0.95) < 0.05
    assert np.median(difference) < 0.01


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_surface_has_turned_curvatures(turns):
    z = bumpy(shape=(40, 40))
    for here, there in zip(curvatures(z), curvatures(np.rot90(z, turns)), strict=True):
        np.testing.assert_allclose(np.rot90(here, turns), there, atol=1e-10)


@pytest.mark.parametrize("angle", [0.3, 0.8, 1.2])
def test_curvatures_do_not_know_the_axes(angle):
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
    damped = smoothed(wave.astype(np.float32), sigma=sigma)
    expected = math.exp(-((2 * math.pi * sigma / length) ** 2) / 2)
    np.testing.assert_allclose(damped[:, 40:-40], expected * wave[:, 40:-40], atol=2e-3)
