"""Random scores with ties, rejected frames and empty classes, for tests of curves."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

__all__ = ["labelled", "scores"]

# Few values make ties; -inf is a rejected frame.
_VALUES = st.one_of(st.integers(-2, 4).map(float), st.just(-np.inf), st.floats(-0.5, 10, width=32))


def scores(*, least: int = 0, most: int = 40) -> st.SearchStrategy[np.ndarray]:
    """Arrays of scores and -inf."""
    return hnp.arrays(np.float64, st.integers(least, most), elements=_VALUES)


def labelled(positives: np.ndarray, negatives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Truth and scores side by side, as other libraries want them; -inf is below all others."""
    truth = np.r_[np.ones(len(positives), dtype=bool), np.zeros(len(negatives), dtype=bool)]
    values = np.r_[positives, negatives]
    return truth, np.where(values == -np.inf, -100.0, values)
