import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.learned.training.balance import balanced_weights
from capsieve.learned.training.fusion import cross_fitted_fusion, fit_fusion
from capsieve.statistics.judged import POLYP
from learned.made_examples import made_examples

EXAMPLES = made_examples(groups=22, per_group=80)
ALL = np.arange(len(EXAMPLES))
WEIGHTS = balanced_weights(EXAMPLES, ALL)
SHOWN = EXAMPLES.truth == POLYP
PART = np.where(EXAMPLES.source == 0, EXAMPLES.group % 5, -1)


def drawn(*strengths: float, seed: int = 1) -> np.ndarray:
    """Return logits of independent models, each as good as its strength."""
    chance = np.random.default_rng(seed)
    logits = chance.normal(size=(len(EXAMPLES), len(strengths)))
    return logits + np.outer(SHOWN, strengths)


def area(logits: np.ndarray) -> float:
    used = PART >= 0
    polyps, others = logits[used & SHOWN], logits[used & ~SHOWN]
    return float(np.mean(polyps[:, None] > others[None]))


def test_weights_follow_the_strengths() -> None:
    # For normal logits of spread 1 the best weights are the strengths themselves.
    fusion = fit_fusion(drawn(2.0, 1.0, 0.5), EXAMPLES.truth, WEIGHTS, ridge=0.0)
    np.testing.assert_allclose(fusion.weights, [2.0, 1.0, 0.5], atol=0.3)


def test_no_model_gets_a_negative_weight() -> None:
    fusion = fit_fusion(drawn(1.0, -1.0), EXAMPLES.truth, WEIGHTS)
    assert fusion.weights[0] > 0
    assert fusion.weights[1] == 0


def test_signed_evidence_may_point_the_other_way() -> None:
    fusion = fit_fusion(drawn(1.0, -1.0), EXAMPLES.truth, WEIGHTS, signed=[False, True])
    assert fusion.weights[1] < -0.5


def test_the_unit_of_a_model_does_not_matter() -> None:
    logits = drawn(1.0, 1.0)
    plain = fit_fusion(logits, EXAMPLES.truth, WEIGHTS, ridge=0.1)
    other = fit_fusion(logits * [1000, 0.01] + [5, 6], EXAMPLES.truth, WEIGHTS, ridge=0.1)
    np.testing.assert_allclose(
        plain.logits(logits), other.logits(logits * [1000, 0.01] + [5, 6]), atol=1e-6
    )


def test_a_ridge_shares_the_weight_of_models_that_agree() -> None:
    logits = drawn(1.0)
    twice = np.hstack([logits, logits])
    fusion = fit_fusion(twice, EXAMPLES.truth, WEIGHTS, ridge=0.01)
    assert fusion.weights[0] == pytest.approx(fusion.weights[1])


def test_joining_beats_the_best_single_model() -> None:
    logits = drawn(1.0, 0.8, 0.8)
    joined = cross_fitted_fusion(logits, EXAMPLES, PART).logits
    assert area(joined) > area(logits[:, 0]) + 0.05


def test_frames_in_no_fold_get_no_logit() -> None:
    joined = cross_fitted_fusion(drawn(1.0), EXAMPLES, PART).logits
    np.testing.assert_array_equal(np.isnan(joined), PART < 0)


def test_a_fold_has_no_say_in_its_own_weights() -> None:
    logits = drawn(1.0, 0.5)
    before = cross_fitted_fusion(logits, EXAMPLES, PART).fusions
    logits[PART == 2] *= -1
    after = cross_fitted_fusion(logits, EXAMPLES, PART).fusions
    np.testing.assert_array_equal(before[2].weights, after[2].weights)
    assert not np.array_equal(before[1].weights, after[1].weights)


def test_nested_logits_are_those_that_teach() -> None:
    logits = drawn(1.0, 1.0)
    inner = np.repeat(drawn(1.0, 0.0, seed=2)[:, None], 5, axis=1)
    fusions = cross_fitted_fusion(logits, EXAMPLES, PART, inner=inner).fusions
    for fusion in fusions.values():
        assert fusion.weights[1] < 0.3 < fusion.weights[0]


def test_one_class_is_refused() -> None:
    with pytest.raises(ParameterError, match="with and without"):
        fit_fusion(drawn(1.0), EXAMPLES.truth, np.where(SHOWN, 1.0, 0.0))
