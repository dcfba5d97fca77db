"""The ring sums against the plain search over all radii."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.paper.ball import best_ball_radius
from reference import ball as literal


def dome(shape, row, col, radius, width=None):
    """The paper's ball itself."""
    rows, cols = np.indices(shape)
    width = width or shape[1]
    return np.maximum(radius**2 - (rows - row) ** 2 - (cols - col) ** 2, 0) / width**2


@given(
    rows=st.integers(20, 70),
    cols=st.integers(20, 70),
    where=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    seed=st.integers(0, 1000),
)
def test_ring_sums_find_what_the_plain_search_finds(rows, cols, where, seed):
    u = np.random.default_rng(seed).uniform(0, 0.5, (rows, cols)).astype(np.float32)
    u[u < 0.25] = 0
    centre = where[0] * (rows - 1), where[1] * (cols - 1)
    misfits = literal.misfits(u.astype(float), centre)
    found = best_ball_radius(u, *centre)
    # Two radii may fit equally well but for the last digits of the sums.
    assert misfits[found - 1] <= misfits.min() * (1 + 1e-12)


@given(
    radius=st.integers(2, 42),
    row=st.floats(40, 88),
    col=st.floats(40, 88),
)
def test_a_ball_is_fitted_by_itself(radius, row, col):
    u = dome((128, 128), row, col, radius).astype(np.float32)
    assert best_ball_radius(u, row, col) == radius


def test_a_dome_of_25_pixels_gets_its_mass_not_its_footprint():
    # The disc's mass is pi R^4 / (2 Nx^2): a steep dome of footprint 25 is fitted by a larger ball.
    rows, cols = np.indices((256, 256)) - 127
    u = np.float32(0.2) * np.maximum(1 - (rows**2 + cols**2) / 25.0**2, 0).astype(np.float32)
    radius = best_ball_radius(u, 127.0, 127.0)
    assert radius > 25
    assert radius == literal.best_radius(u.astype(float), (127.0, 127.0))


def test_a_flat_plane_is_fitted_by_the_smallest_ball():
    assert best_ball_radius(np.zeros((64, 64), np.float32), 30.0, 30.0) == 1


def test_the_search_ends_at_a_third_of_the_width():
    full = np.ones((96, 96), np.float32)
    assert best_ball_radius(full, 48.0, 48.0) == 32
    assert best_ball_radius(full, 48.0, 48.0, largest=10) == 10


@pytest.mark.parametrize("size", [292, 400, 1000])
def test_the_least_feature_that_passes_has_a_ball_of_34_or_so(size):
    # The least mass: a disc of 292 pixels with u = 0.11 throughout, and nothing around it.
    reach = math.sqrt(size / math.pi)
    rows, cols = np.indices((256, 256)) - 127
    u = np.where(rows**2 + cols**2 <= reach**2, np.float32(0.11), np.float32(0)).astype(np.float32)
    assert best_ball_radius(u, 127.0, 127.0) >= 33
