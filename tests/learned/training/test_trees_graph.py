import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from capsieve.learned.training.trees_graph import round_down

anything = st.floats(allow_nan=False)
singles = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(x=singles, threshold=anything)
def test_any_value_goes_the_same_way(x: float, threshold: float) -> None:
    assert (np.float32(x) <= round_down(threshold)) == (x <= threshold)


@given(x=singles, step=st.sampled_from([-1e-16, -1e-9, 0.0, 1e-16, 1e-9]))
def test_values_next_to_a_threshold_go_the_same_way(x: float, step: float) -> None:
    threshold = x * (1 + step)
    assert (np.float32(x) <= round_down(threshold)) == (x <= threshold)


def test_what_float32_holds_stays() -> None:
    kept = np.array([0.0, -1.5, 2.0**-149, np.finfo(np.float32).max], dtype=np.float32)
    np.testing.assert_array_equal(round_down(kept.astype(np.float64)), kept)
