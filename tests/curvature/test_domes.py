"""Domes against closed forms and a flood fill."""

import math
from dataclasses import replace

import numpy as np
import pytest

from capsieve.curvature.constants import Constants
from capsieve.curvature.domes import best_dome, find_domes, surface_of
from capsieve.paper.mask import circular_mask
from reference import curvature as literal

SIDE = 128
MASK = circular_mask(SIDE, SIDE, 0.45 * SIDE).inside
STEEP = Constants(height=1.0)


def hill(row=64.0, col=64.0, *, height=90.0, wide=12.0, long=12.0):
    rows, cols = np.mgrid[:SIDE, :SIDE]
    bump = np.exp(-((rows - row) ** 2) / (2 * wide**2) - (cols - col) ** 2 / (2 * long**2))
    return (100 + height * bump).astype(np.float32)


def found(frame, sigma=3.0, constants=STEEP):
    return find_domes(frame, MASK, sigma=sigma, constants=constants)


def test_the_domes_are_those_of_the_flood_fill():
    noise = np.random.default_rng(2).uniform(0, 255, (SIDE, SIDE)).astype(np.float32)
    z = surface_of(noise, sigma=3.0, constants=STEEP).astype(np.float64)
    expected = literal.best_radius(
        z,
        MASK,
        least_shape=STEEP.least_shape,
        least_curvedness=STEEP.least_curvedness / 3.0,
        least_pixels=STEEP.least_area * 9,
    )
    best = found(noise).best
    assert best is not None
    assert best.radius == pytest.approx(expected, rel=1e-3)


def test_a_half_ball_has_its_own_radius():
    # Only the top of the ball is drawn: it has that share of everything.
    radius, rim = 100.0, 50.0
    rows, cols = np.mgrid[:SIDE, :SIDE] - 63.0
    cap = np.sqrt(np.maximum(radius**2 - rows**2 - cols**2, 0))
    mask = np.hypot(rows, cols) <= rim
    one_high = Constants(height=255 / SIDE, least_curvedness=0.0)
    best = find_domes(cap.astype(np.float32), mask, sigma=1.0, constants=one_high).best
    assert best is not None
    share = 1 - math.sqrt(1 - (rim / radius) ** 2)  # of the half-ball's area
    assert best.radius == pytest.approx(radius * share, rel=0.02)
    assert best.total == pytest.approx(share, rel=0.03)
    assert best.shape == pytest.approx(1.0, abs=0.05)
    assert best.curvedness == pytest.approx(1 / radius, rel=0.02)


def test_a_hill_is_found_where_it_stands():
    best = found(hill(50.0, 80.0)).best
    assert best is not None
    assert (best.row, best.col) == pytest.approx((50.0, 80.0), abs=0.1)


def test_a_ridge_is_no_dome():
    assert found(hill(wide=8.0, long=1000.0)).best is None


def test_a_pit_is_no_dome():
    assert found(hill(wide=1000.0, long=1000.0, height=0.0) - (hill() - 100)).best is None


def test_a_plane_has_no_dome():
    domes = found(np.full((SIDE, SIDE), 200.0, np.float32))
    assert (domes.best, domes.peak, domes.density.max()) == (None, 0.0, 0.0)


def test_a_single_bright_point_is_a_dome_of_the_area_that_the_constants_tell():
    frame = np.full((SIDE, SIDE), 100.0, np.float32)
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


def test_what_lies_outside_the_mask_is_not_looked_for():
    assert found(hill(5.0, 5.0, wide=4.0, long=4.0)).best is None


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_frame_has_the_same_dome(turns):
    square = np.ones((SIDE, SIDE), bool)
    noise = np.random.default_rng(3).uniform(0, 255, (SIDE, SIDE)).astype(np.float32)
    here, there = (
        find_domes(each, square, sigma=4.0, constants=STEEP).best
        for each in (noise, np.rot90(noise, turns).copy())
    )
    assert here is not None
    assert there is not None
    assert here.radius == pytest.approx(there.radius, rel=1e-4)
    assert here.pixels == there.pixels


def test_the_best_scale_counts():
    frame = hill(wide=14.0, long=14.0)
    constants = replace(STEEP, scales=(0.02, 0.05))
    best, peak, density = best_dome(frame, MASK, constants)
    each = [found(frame, scale * SIDE, constants) for scale in constants.scales]
    assert best is not None
    assert best.radius == max(domes.best.radius for domes in each if domes.best)
    assert peak == max(domes.peak for domes in each)
    assert density.sum() == pytest.approx(best.radius, rel=1e-5)
