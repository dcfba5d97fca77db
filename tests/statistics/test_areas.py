"""Areas under curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from sklearn import metrics

from capsieve.errors import ParameterError
from capsieve.statistics.areas import area, partial_area, standardised_partial_area
from capsieve.statistics.roc import roc_curve
from support.score_sets import labelled, scores


@pytest.mark.slow
@given(scores(least=1), scores(least=1))
def test_the_whole_area_is_that_of_scikit_learn_and_mann_whitney(
    positives: np.ndarray, negatives: np.ndarray
) -> None:
    found = area(roc_curve(positives, negatives))
    assert found == pytest.approx(metrics.roc_auc_score(*labelled(positives, negatives)))
    pairs = len(positives) * len(negatives)
    sums = mannwhitneyu(positives, negatives, method="asymptotic").statistic
    assert found == pytest.approx(sums / pairs)


@pytest.mark.slow
@given(scores(least=1), scores(least=1), st.floats(0.01, 0.99))
def test_the_standardised_area_is_that_of_scikit_learn(
    positives: np.ndarray, negatives: np.ndarray, most: float
) -> None:
    expected = metrics.roc_auc_score(*labelled(positives, negatives), max_fpr=most)
    found = standardised_partial_area(roc_curve(positives, negatives), most)
    assert found == pytest.approx(expected, abs=1e-9)


@given(scores(least=1), scores(least=1), st.sampled_from([0.05, 0.2, 0.5, 1.0]))
def test_the_partial_area_is_the_mean_height_of_the_curve(
    positives: np.ndarray, negatives: np.ndarray, most: float
) -> None:
    curve = roc_curve(positives, negatives)
    x = (np.arange(20_000) + 0.5) / 20_000 * most
    heights = np.interp(x, curve.false_positive_rate, curve.true_positive_rate)
    assert partial_area(curve, most) == pytest.approx(heights.mean(), abs=1e-3)


def test_beyond_its_end_the_curve_is_held_level() -> None:
    # One of ten normal frames is ever flagged, half of the polyp frames are.
    curve = roc_curve([5.0, 0.0], [4.0] + [0.0] * 9)
    assert partial_area(curve, 0.2) == pytest.approx(0.5)
    assert area(curve) == pytest.approx(0.1 * 0.5 + 0.9 * 0.75)


def test_perfect_and_blind_sieves() -> None:
    perfect = roc_curve([2.0, 2.0], [1.0, 1.0])
    assert [area(perfect), partial_area(perfect), standardised_partial_area(perfect)] == [1, 1, 1]
    blind = roc_curve([1.0, 1.0], [1.0, 1.0])
    assert area(blind) == 0.5
    assert partial_area(blind, 0.2) == pytest.approx(0.1)
    assert standardised_partial_area(blind) == pytest.approx(0.5)


@pytest.mark.parametrize(("positives", "negatives"), [([], [1.0]), ([1.0], []), ([], [])])
def test_without_a_class_there_is_no_area(positives: list[float], negatives: list[float]) -> None:
    curve = roc_curve(positives, negatives)
    assert area(curve) is None
    assert partial_area(curve) is None
    assert standardised_partial_area(curve) is None


@pytest.mark.parametrize("most", [0.0, -0.1, 1.1, np.nan])
def test_false_positive_rates_out_of_bounds_are_refused(most: float) -> None:
    with pytest.raises(ParameterError, match="false positive rate"):
        partial_area(roc_curve([1.0], [1.0]), most)
