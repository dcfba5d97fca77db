import numpy as np
import pytest
from scipy.optimize import minimize

from capsieve.errors import ParameterError
from capsieve.learned.training.logistic import fit_logistic


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    chance = np.random.default_rng(seed)
    inputs = chance.normal(size=(300, 4))
    inputs[:, 1] += inputs[:, 0]
    z = inputs @ [1.0, -0.7, 0.3, -0.2]
    targets = (chance.random(300) < 1 / (1 + np.exp(-z))).astype(float)
    return inputs, targets, chance.uniform(0.1, 3, size=300)


@pytest.mark.parametrize("seed", range(4))
def test_bounded_weights_are_those_of_scipy(seed: int) -> None:
    inputs, targets, weights = drawn(seed)
    ridge = np.array([0.1, 0.0, 0.02, 0.3])

    def objective(at: np.ndarray) -> float:
        z = inputs @ at[:4] + at[4]
        loss = np.average(np.logaddexp(0, z) - targets * z, weights=weights)
        return float(loss + ridge @ at[:4] ** 2 / 2)

    bounds = [(0, None), (0, None), (None, None), (0.01, None), (None, None)]
    least = np.array([0, 0, -np.inf, 0.01])
    found, intercept = fit_logistic(inputs, targets, weights, ridge=ridge, least=least)
    other = minimize(
        objective, np.zeros(5), bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-14}
    )
    np.testing.assert_allclose([*found, intercept], other.x, atol=2e-4)
    assert objective(np.array([*found, intercept])) <= other.fun + 1e-12


def test_separable_classes_stay_finite_with_a_ridge() -> None:
    inputs = np.linspace(-1, 1, 40)[:, None]
    found, _ = fit_logistic(
        inputs,
        (inputs[:, 0] > 0).astype(float),
        np.ones(40),
        ridge=np.array([1e-6]),
        least=np.array([-np.inf]),
    )
    assert np.isfinite(found).all()
    assert found[0] > 10


def test_numbers_that_are_none_are_refused() -> None:
    inputs, targets, weights = drawn(0)
    inputs[3, 1] = np.nan
    with pytest.raises(ParameterError, match="not numbers"):
        fit_logistic(inputs, targets, weights, ridge=np.zeros(4), least=np.zeros(4))
