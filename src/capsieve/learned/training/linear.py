"""Logistic regression on the features of a frame: the plainest model, to measure others by."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.lesson import Lesson
from capsieve.learned.training.linear_graph import linear_part
from capsieve.learned.training.logistic import fit_logistic
from capsieve.learned.training.scaling import Scaling, robust_scaling
from capsieve.learned.training.trainer import GraphPart
from capsieve.learned.training.values_trainer import ValuesModel, ValuesTrainer

__all__ = ["LinearTrainer", "WeightedSum"]


@dataclass(frozen=True, slots=True)
class LinearTrainer(ValuesTrainer):
    """Ridge-regularised logistic regression on scaled, clipped values.

    Attributes
    ----------
    ridge
        On the weights of the scaled values, beside the mean cross entropy.
    """

    ridge: float = 0.3

    MODEL = "linear"
    FORMAT: ClassVar[int] = 2
    DOING = "fitting weights"

    def learn(self, lesson: Lesson) -> "WeightedSum":
        """Find the weights; nothing is drawn, so the seed is not used."""
        scaling = robust_scaling(lesson.values)
        inputs = scaling(lesson.values).astype(np.float64)
        count = inputs.shape[1]
        found, intercept = fit_logistic(
            inputs,
            lesson.polyp.astype(np.float64),
            lesson.weights,
            ridge=np.full(count, self.ridge),
            least=np.full(count, -np.inf),
        )
        return WeightedSum(scaling, found, intercept)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSum(ValuesModel):
    """A weighted sum of scaled values."""

    scaling: Scaling
    weights: NDArray[np.float64]
    intercept: float

    def judge(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the sum."""
        return self.scaling(values).astype(np.float64) @ self.weights + self.intercept

    def graph(self, prefix: str) -> GraphPart:
        """Return the sum as a graph."""
        return linear_part(prefix, self.scaling, self.weights, self.intercept)
