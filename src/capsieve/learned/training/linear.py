"""Logistic regression on the features of a frame: the plainest model, to measure others by."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.examples import Examples
from capsieve.learned.training.linear_graph import linear_part
from capsieve.learned.training.logistic import fit_logistic
from capsieve.learned.training.scaling import Scaling, robust_scaling
from capsieve.learned.training.trainer import GraphPart
from capsieve.learned.training.values_trainer import ValuesTrainer
from capsieve.statistics.judged import POLYP

__all__ = ["LinearTrainer", "WeightedSum"]


@dataclass(frozen=True, slots=True)
class LinearTrainer(ValuesTrainer):
    """Ridge-regularised logistic regression on scaled, clipped values.

    Learns from the frames that :func:`capsieve.learned.training.balance.usable` names: those of
    sources that have polyps.

    Attributes
    ----------
    ridge
        On the weights of the scaled values, beside the mean cross entropy.
    """

    ridge: float = 0.3

    MODEL = "linear"
    FORMAT: ClassVar[int] = 1
    DOING = "fitting weights"

    def learn(
        self,
        examples: Examples,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64],
        *,
        seed: int,
    ) -> "WeightedSum":
        """Find the weights; nothing is drawn, so the seed is not used."""
        scaling = robust_scaling(examples.values[rows])
        inputs = scaling(examples.values[rows]).astype(np.float64)
        count = inputs.shape[1]
        found, intercept = fit_logistic(
            inputs,
            (examples.truth[rows] == POLYP).astype(np.float64),
            weights,
            ridge=np.full(count, self.ridge),
            least=np.full(count, -np.inf),
        )
        return WeightedSum(scaling, found, intercept)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSum:
    """A weighted sum of scaled values."""

    scaling: Scaling
    weights: NDArray[np.float64]
    intercept: float

    def logits(self, examples: Examples, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the sum."""
        values = examples.values[examples.rows(chosen)]
        return self.scaling(values).astype(np.float64) @ self.weights + self.intercept

    def graph(self, prefix: str) -> GraphPart:
        """Return the sum as a graph."""
        return linear_part(prefix, self.scaling, self.weights, self.intercept)
