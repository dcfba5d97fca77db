import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from capsieve.errors import ParameterError
from capsieve.learned.training.platt import Platt, fit_platt

CHANCE = np.random.default_rng(3)
LOGITS = CHANCE.normal(1.0, 2.5, size=4000)
POLYP = CHANCE.random(4000) < 1 / (1 + np.exp(-(0.6 * LOGITS - 2.0)))
WEIGHTS = CHANCE.uniform(0.2, 2.0, size=4000)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_slope_and_intercept_are_those_of_logistic_regression(scale: float) -> None:
    positives, negatives = POLYP.sum(), (~POLYP).sum()
    soft = np.where(POLYP, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    # A soft target is a frame that stands in both classes.
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
        np.tile(LOGITS, 2)[:, None],
        np.repeat([1, 0], len(LOGITS)),
        sample_weight=np.concatenate([WEIGHTS * soft, WEIGHTS * (1 - soft)]),
    )
    platt = fit_platt(LOGITS * scale, POLYP, WEIGHTS)
    assert platt.slope * scale == pytest.approx(other.coef_[0, 0], rel=1e-4)
    assert platt.intercept == pytest.approx(other.intercept_[0], rel=1e-4)


def test_probabilities_are_calibrated_on_other_frames() -> None:
    chance = np.random.default_rng(11)
    logits = chance.normal(1.0, 2.5, size=40000)
    shown = chance.random(40000) < 1 / (1 + np.exp(-(0.6 * logits - 2.0)))
    probabilities = fit_platt(LOGITS, POLYP).probabilities(logits)
    tenths = np.digitize(probabilities, np.quantile(probabilities, np.linspace(0.1, 0.9, 9)))
    for tenth in range(10):
        here = tenths == tenth
        assert shown[here].mean() == pytest.approx(probabilities[here].mean(), abs=0.04)


def test_classes_that_do_not_overlap_give_a_finite_slope() -> None:
    platt = fit_platt([-3.0, -2.0, 2.0, 3.0], [False, False, True, True])
    assert 0 < platt.slope < 10
    assert 0.5 < platt.probabilities([3.0])[0] < 1


def test_logits_that_point_the_wrong_way_keep_their_order() -> None:
    platt = fit_platt(-LOGITS, POLYP)
    assert platt.slope > 0
    assert platt.probabilities(LOGITS).mean() == pytest.approx(POLYP.mean(), abs=0.01)


def test_equal_logits_give_the_share_of_polyps() -> None:
    platt = fit_platt(np.zeros(1000), np.arange(1000) < 300)
    assert platt.probabilities([0.0])[0] == pytest.approx(0.3, abs=0.01)


def test_frames_without_weight_do_not_count() -> None:
    weights = np.where(np.arange(4000) < 2000, 1.0, 0.0)
    assert fit_platt(LOGITS, POLYP, weights) == fit_platt(LOGITS[:2000], POLYP[:2000])


def test_a_large_logit_does_not_overflow() -> None:
    np.testing.assert_allclose(Platt(1.0, 0.0).probabilities([-1e4, 1e4]), [0, 1])


def test_one_class_is_refused() -> None:
    with pytest.raises(ParameterError, match="with and without"):
        fit_platt(LOGITS, np.ones(4000, dtype=bool))
