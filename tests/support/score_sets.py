"""Random scores with ties, rejected frames and empty classes, for tests of curves."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

# Few values make ties; 0 is a rejected frame.
_VALUES = st.one_of(st.integers(0, 6).map(float), st.floats(0.0625, 10, width=32))


def scores(*, least: int = 0, most: int = 40) -> st.SearchStrategy[np.ndarray]:
    """Arrays of scores of 0 or more."""
    return hnp.arrays(np.float64, st.integers(least, most), elements=_VALUES)


def labelled(positives: np.ndarray, negatives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Truth and scores side by side, as other libraries want them."""
    truth = np.r_[np.ones(len(positives), dtype=bool), np.zeros(len(negatives), dtype=bool)]
    return truth, np.r_[positives, negatives]
