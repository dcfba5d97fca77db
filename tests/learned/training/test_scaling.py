import numpy as np
import pytest

from capsieve.learned.training.scaling import LIMIT, robust_scaling

NORMAL = np.random.default_rng(0).normal(5.0, 3.0, size=(20000, 1)).astype(np.float32)


def test_normal_values_get_unit_spread() -> None:
    scaled = robust_scaling(NORMAL)(NORMAL)
    assert np.median(scaled) == pytest.approx(0, abs=1e-3)
    assert scaled.std() == pytest.approx(1, abs=0.03)


def test_an_odd_frame_stays_within_the_limit() -> None:
    scaling = robust_scaling(NORMAL)
    odd = np.array([[1e30], [-np.finfo(np.float32).max / 4]], dtype=np.float32)
    np.testing.assert_array_equal(scaling(odd), [[LIMIT], [-LIMIT]])


@pytest.mark.parametrize("value", [0.0, 7.3, 1e6, 1e-12])
def test_a_constant_column_gives_zero(value: float) -> None:
    values = np.full((50, 1), value, dtype=np.float32)
    np.testing.assert_array_equal(robust_scaling(values)(values + 3), 0)


def test_a_column_that_is_mostly_zero_keeps_its_differences() -> None:
    values = np.zeros((100, 1), dtype=np.float32)
    values[:10] = np.linspace(0.5, 1.0, 10)[:, None]
    assert len(np.unique(robust_scaling(values)(values))) > 5
