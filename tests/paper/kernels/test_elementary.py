"""Logarithm, exponential and maximum against NumPy in double precision."""

import numpy as np
import pytest

from capsieve.paper.kernels.elementary import exp2, largest, log2


@pytest.mark.parametrize("low", [1e-30, 1e-6, 0.5, 1.0])
def test_log2_is_right_to_a_few_units_in_the_last_place(low):
    values = np.geomspace(low, 1e6, 4001).astype(np.float32)
    found = np.array([log2(value) for value in values], float)
    expected = np.log2(values.astype(float))
    np.testing.assert_allclose(found, expected, rtol=4e-7, atol=2e-7)


def test_exp2_is_right_to_a_few_units_in_the_last_place():
    values = np.linspace(-120, 120, 4001).astype(np.float32)
    found = np.array([exp2(value) for value in values], float)
    np.testing.assert_allclose(found, 2.0 ** values.astype(float), rtol=4e-7)


def test_exp2_stays_finite_beyond_its_range():
    assert exp2(np.float32(-1e6)) == pytest.approx(2.0**-126, rel=1e-6)
    assert np.isfinite(exp2(np.float32(1e6)))


@pytest.mark.parametrize("size", [0, 1, 7, 8, 100])
def test_largest_is_the_maximum(size):
    values = np.random.default_rng(size).uniform(0, 9, size).astype(np.float32)
    assert largest(values) == values.max(initial=0.0)
