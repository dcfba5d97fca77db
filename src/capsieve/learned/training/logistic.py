"""Logistic regression with few weights, some of which may not fall below a bound."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError

__all__ = ["fit_logistic", "sigmoid"]

_ROUNDS = 200
_FLAT = 1e-10


def fit_logistic(
    inputs: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    ridge: NDArray[np.float64],
    least: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """Return the weights b >= `least` and the intercept a that explain the targets best.

    They minimise ``sum_i w_i (log(1 + exp(z_i)) - t_i z_i) / sum_i w_i + sum_j ridge_j b_j^2 / 2``
    with z = X b + a: the mean cross entropy to the targets t in 0..1, and a ridge.

    The objective is convex. Newton steps are taken over the weights that are not held at their
    bound, cut off at the bounds, and shortened until the objective falls enough [1]_.

    Parameters
    ----------
    inputs
        X, N x M, of about unit spread, so that the steps are well conditioned.
    targets, weights
        t and w, one per row.
    ridge, least
        One per column; -inf for no bound.

    References
    ----------
    .. [1] D. P. Bertsekas, "Projected Newton methods for optimization problems with simple
       constraints", SIAM J. Control and Optimization 20(2), 221-246, 1982.
    """
    if not np.isfinite(inputs).all():
        raise ParameterError("logits", "some of them are not numbers")
    share = weights / weights.sum()
    design = np.column_stack([inputs, np.ones(len(inputs))])
    ridge = np.append(ridge, 0.0)
    least = np.append(least, -np.inf)
    point = np.maximum(np.zeros(design.shape[1]), least)

    def objective(at: NDArray[np.float64]) -> float:
        z = design @ at
        return float(share @ (np.logaddexp(0.0, z) - targets * z) + ridge @ at**2 / 2)

    value = objective(point)
    for _ in range(_ROUNDS):
        chance = sigmoid(design @ point)
        slope = design.T @ (share * (chance - targets)) + ridge * point
        free = (point > least) | (slope < 0)
        if np.abs(slope[free]).max(initial=0.0) < _FLAT:
            break
        columns = design[:, free]
        bend = (columns.T * (share * chance * (1 - chance))) @ columns
        bend += np.diag(ridge[free] + 1e-12)  # where all is certain, there is no curvature left
        step = np.zeros_like(point)
        step[free] = np.linalg.solve(bend, slope[free])
        point, value, moved = _descend(objective, point, value, slope, step, least)
        if not moved:
            break
    return point[:-1], float(point[-1])


def sigmoid(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 / (1 + exp(-z)) without overflow."""
    return np.exp(-np.logaddexp(0.0, -z))


def _descend(
    objective: Callable[[NDArray[np.float64]], float],
    point: NDArray[np.float64],
    value: float,
    slope: NDArray[np.float64],
    step: NDArray[np.float64],
    least: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float, bool]:
    """Return a lower point along the step, its value, and whether there was one."""
    length = 1.0
    while length > 1e-12:
        tried = np.maximum(point - length * step, least)
        at_tried = objective(tried)
        if at_tried < value and at_tried <= value - 1e-4 * float(slope @ (point - tried)):
            return tried, at_tried, True
        length /= 2
    return point, value, False
