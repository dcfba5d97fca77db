"""A threshold in few digits flags the same frames."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.statistics.short_threshold import short_threshold

SCORES = st.lists(st.floats(1e-12, 1e6), min_size=1, max_size=30)


@given(SCORES, st.data())
def test_the_same_scores_are_flagged(scores, data):
    threshold = data.draw(st.sampled_from(scores))
    short = short_threshold(threshold, scores)
    assert [score >= short for score in scores] == [score >= threshold for score in scores]
    assert 0 < short <= threshold


@given(SCORES)
def test_a_threshold_above_all_scores_still_flags_none(scores):
    threshold = float(np.nextafter(max(scores), np.inf))
    assert not any(score >= short_threshold(threshold, scores) for score in scores)


@pytest.mark.parametrize(
    ("threshold", "scores", "short"),
    [
        (0.4837123, [0.1, 0.4837123, 0.9], 0.48),
        (0.4837123, [0.4801, 0.4837123], 0.483),
        (0.5, [0.5 - 2**-54, 0.5], 0.5),
        (0.37313479753880724, [0.37299, np.nan, 0.37313479753880724], 0.373),
    ],
)
def test_as_few_digits_as_will_do(threshold, scores, short):
    assert short_threshold(threshold, scores) == short
