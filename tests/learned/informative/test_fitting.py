"""Fitting: known orders are found, against scikit-learn where the two ask the same."""

import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.learned.informative.classifier import Classifier, expanded
from capsieve.learned.informative.fitting import fit_classifier
from capsieve.learned.informative.values import NAMES

LOOKED_AT = ("sharpness.detail", "spots.bubbles")
COLUMNS = [NAMES.index(name) for name in LOOKED_AT]


def rows(detail: np.ndarray, bubbles: np.ndarray) -> np.ndarray:
    """Return values of frames that are 0 but for two columns."""
    found = np.zeros((len(detail), len(NAMES)))
    found[:, COLUMNS] = np.column_stack([detail, bubbles])
    return found


def made(seed: int = 0, count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Return clean frames and spoiled ones: half lose detail, half get bubbles."""
    rng = np.random.default_rng(seed)
    clean = rng.normal(0, 1, (count, 2))
    loss = np.where((np.arange(count) % 2 == 0)[:, None], [-2.0, 0.0], [1.5, 3.0])
    spoiled = clean + loss * rng.uniform(0.3, 1.2, (count, 1)) + rng.normal(0, 0.5, (count, 2))
    return rows(*clean.T), rows(*spoiled.T)


def fitted(better: np.ndarray, worse: np.ndarray, **options) -> Classifier:
    """Fit with usual options."""
    usual = {"clean": better, "spoiled": worse, "names": LOOKED_AT, "passing": 0.9, "training": {}}
    return fit_classifier(better, worse, np.ones(len(better)), **(usual | options))


def test_pairs_come_in_their_order_on_other_frames() -> None:
    classifier = fitted(*made(0))
    better, worse = made(1)
    right = [
        classifier.chance(list(a)) > classifier.chance(list(b))
        for a, b in zip(better, worse, strict=True)
    ]
    assert np.mean(right) > 0.9


def test_the_threshold_lets_the_stated_share_pass() -> None:
    better, worse = made(2)
    for passing in (0.8, 0.95):
        classifier = fitted(better, worse, passing=passing)
        passes = [classifier.chance(list(each)) >= classifier.threshold for each in better]
        assert np.mean(passes) == pytest.approx(passing, abs=0.01)


def test_a_middle_that_is_best_is_found() -> None:
    rng = np.random.default_rng(3)
    clean = rows(rng.normal(0, 0.3, 300), np.zeros(300))
    spoiled = rows(rng.choice([-2.0, 2.0], 300) + rng.normal(0, 0.3, 300), np.zeros(300))
    (detail, _) = fitted(clean, spoiled).values
    assert detail.square > 3 * abs(detail.linear)


def test_weights_are_those_of_an_independent_regression() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    better, worse = made(4)
    ridge = 0.02
    classifier = fitted(better, worse, ridge=ridge)
    centre, spread, linear, square = (
        np.array([getattr(each, part) for each in classifier.values])
        for part in ("centre", "spread", "linear", "square")
    )
    change = expanded(better[:, COLUMNS], centre, spread)
    change = change - expanded(worse[:, COLUMNS], centre, spread)
    both = np.concatenate([change, -change])
    labels = np.repeat([1, 0], len(change))
    other = linear_model.LogisticRegression(
        C=1 / (ridge * len(both)), fit_intercept=False, tol=1e-8, max_iter=1000
    ).fit(both, labels)
    found = np.concatenate([linear, square])
    assert (square > 0).all()  # the bounds do not act here, and both ask the same
    # The second regression only scales.
    assert found / np.linalg.norm(found) == pytest.approx(
        other.coef_[0] / np.linalg.norm(other.coef_[0]), abs=1e-4
    )


def test_too_few_pairs_are_refused() -> None:
    better, worse = made(count=19)
    with pytest.raises(ParameterError, match="give more frames"):
        fitted(better, worse)


def test_the_share_that_passes_is_one() -> None:
    with pytest.raises(ParameterError, match="share"):
        fitted(*made(), passing=1.0)
