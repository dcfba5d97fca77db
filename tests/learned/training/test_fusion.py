import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.learned.training.balance import balanced_weights
from capsieve.learned.training.fusion import cross_fitted_fusion, fit_fusion, upper_area
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


def test_the_best_model_leads_and_the_others_share_a_weight() -> None:
    logits = drawn(0.5, 2.0, 1.0)
    found = fit_fusion(logits, EXAMPLES.truth, WEIGHTS).weights * logits.std(axis=0)
    assert found.argmax() == 1
    assert found[0] == pytest.approx(found[2], rel=0.05)
    # Two independent models of strengths a and b are best joined as a : b.
    assert found[0] + found[2] == pytest.approx(found[1] * 1.5 / 2 / np.sqrt(2), rel=0.6)


def test_a_model_that_knows_nothing_adds_next_to_nothing() -> None:
    found = fit_fusion(drawn(1.5, 0.0), EXAMPLES.truth, WEIGHTS).weights
    assert 0 <= found[1] < 0.2 * found[0]


def test_no_model_gets_a_negative_weight() -> None:
    fusion = fit_fusion(drawn(1.0, -1.0), EXAMPLES.truth, WEIGHTS)
    assert fusion.weights[0] > 0
    assert fusion.weights[1] == 0


def test_the_unit_of_a_model_does_not_matter() -> None:
    logits = drawn(1.0, 1.0)
    plain = fit_fusion(logits, EXAMPLES.truth, WEIGHTS)
    other = fit_fusion(logits * [1000, 0.01] + [5, 6], EXAMPLES.truth, WEIGHTS)
    np.testing.assert_allclose(
        plain.logits(logits), other.logits(logits * [1000, 0.01] + [5, 6]), atol=1e-6
    )


@pytest.mark.parametrize("ties", [False, True])
def test_the_area_is_that_of_scikit_learn(ties: bool) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    score = drawn(1.0)[:, 0]
    if ties:
        score = np.floor(score * 2)
    chance = np.random.default_rng(3)
    weights = chance.uniform(0.2, 2, len(score))
    # That one is put on a scale where chance is 1/2 (McClish, 1989).
    standard = metrics.roc_auc_score(SHOWN, score, max_fpr=0.5, sample_weight=weights)
    least = 0.5**2 / 2
    expected = least + (2 * standard - 1) * (0.5 - least)
    assert upper_area(score, SHOWN, weights) == pytest.approx(expected / 0.5, abs=1e-9)


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
        assert fusion.weights[1] < 0.3 * fusion.weights[0]


def test_one_class_is_refused() -> None:
    with pytest.raises(ParameterError, match="with and without"):
        fit_fusion(drawn(1.0), EXAMPLES.truth, np.where(SHOWN, 1.0, 0.0))


def test_what_is_no_number_is_refused() -> None:
    logits = drawn(1.0)
    logits[3] = np.nan
    with pytest.raises(ParameterError, match="not numbers"):
        fit_fusion(logits, EXAMPLES.truth, np.ones(len(logits)))
