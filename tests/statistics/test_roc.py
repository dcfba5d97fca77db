"""The receiver operating characteristic."""

import numpy as np
import pytest
from hypothesis import given
from sklearn import metrics

from capsieve.statistics.roc import roc_curve, sensitivity_at_specificity
from support.score_sets import labelled, scores


@pytest.mark.slow
@given(scores(least=1), scores(least=1))
def test_points_agree_with_scikit_learn(positives: np.ndarray, negatives: np.ndarray) -> None:
    curve = roc_curve(positives, negatives)
    truth, values = labelled(positives, negatives)
    false, true, thresholds = metrics.roc_curve(truth, values, drop_intermediate=False)
    kept = thresholds > 0  # no threshold flags a rejected frame
    np.testing.assert_array_equal(curve.thresholds, thresholds[kept])
    np.testing.assert_allclose(curve.false_positive_rate, false[kept], rtol=1e-14)
    np.testing.assert_allclose(curve.true_positive_rate, true[kept], rtol=1e-14)


def test_the_curve_ends_where_pre_selection_stops_it() -> None:
    curve = roc_curve([3.0, 2.0, 0.0, np.nan], [3.0, 1.0, 0.0, -2.0, np.nan])
    assert curve.thresholds.tolist() == [np.inf, 3.0, 2.0, 1.0]
    assert curve.true_positive_rate.tolist() == [0.0, 0.25, 0.5, 0.5]
    assert curve.false_positive_rate.tolist() == [0.0, 0.25, 0.25, 0.5]
    assert (curve.positives, curve.negatives) == (4, 4)


def test_rates_of_an_empty_class_are_undefined() -> None:
    curve = roc_curve([], [2.0, 1.0])
    assert np.isnan(curve.true_positive_rate).all()
    assert curve.false_positive_rate.tolist() == [0.0, 0.5, 1.0]
    empty = roc_curve([], [])
    assert empty.thresholds.tolist() == [np.inf]
    assert np.isnan([*empty.true_positive_rate, *empty.false_positive_rate]).all()


def test_the_unit_is_handed_on() -> None:
    assert roc_curve([1.0], [1.0], unit="run").unit == "run"


@given(scores(least=1), scores(least=1))
def test_sensitivity_at_a_specificity_is_the_best_of_all_thresholds(
    positives: np.ndarray, negatives: np.ndarray
) -> None:
    found = sensitivity_at_specificity(roc_curve(positives, negatives), 0.7)
    assert found is not None
    best = 0.0
    for threshold in {*positives, *negatives} - {0.0}:
        if 10 * np.count_nonzero(negatives < threshold) >= 7 * len(negatives):
            best = max(best, np.mean(positives >= threshold))
    sensitivity, threshold = found
    assert sensitivity == pytest.approx(best)
    assert np.mean(positives >= threshold) == pytest.approx(best)
    assert 10 * np.count_nonzero(negatives < threshold) >= 7 * len(negatives)


def test_sensitivity_without_a_class_is_nothing() -> None:
    assert sensitivity_at_specificity(roc_curve([], [1.0]), 0.9) is None
