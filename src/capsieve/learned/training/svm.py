"""A support vector machine on the features of a frame."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.lesson import Lesson, lesson_of
from capsieve.learned.training.scaling import Scaling, robust_scaling
from capsieve.learned.training.svm_graph import radial_part
from capsieve.learned.training.trainer import GraphPart
from capsieve.learned.training.values_trainer import ValuesModel, ValuesTrainer

__all__ = ["SupportVectors", "SvmTrainer"]

_BYTES = 2_500_000
"""What the vectors of the written model may take."""


@dataclass(frozen=True, slots=True)
class SvmTrainer(ValuesTrainer):
    """A support vector machine with radial basis functions [1]_ on scaled, clipped values.

    Nearly every frame becomes a support vector where the classes overlap much, so the number of
    frames bounds the size of the model: at most `frames`, and fewer where there are many features.
    They are drawn with chances as their balanced weights.

    Attributes
    ----------
    frames
        At most so many are learned from.
    cost
        C: what a frame on the wrong side costs. Low, because frames of few exams mislead.
    width
        gamma is `width` over the number of features that vary.

    References
    ----------
    .. [1] C. Cortes, V. Vapnik, "Support-vector networks", Machine Learning 20, 273-297, 1995.
    """

    frames: int = 3000
    cost: float = 0.3
    width: float = 1.0

    MODEL = "svm"
    FORMAT: ClassVar[int] = 2
    DOING = "fitting support vectors"

    def learn(self, lesson: Lesson) -> "SupportVectors":
        """Draw frames, and find the support vectors among them."""
        from sklearn.svm import SVC

        scaling = robust_scaling(lesson.values)
        drawn = _draw(lesson, most=min(self.frames, _BYTES // (4 * lesson.values.shape[1])))
        gamma = self.width / max(int(np.count_nonzero(scaling.factor)), 1)
        model = SVC(C=self.cost, gamma=gamma)  # pyright: ignore[reportArgumentType]
        model.fit(scaling(drawn.values), drawn.polyp, sample_weight=drawn.weights)
        return SupportVectors(scaling, model, gamma)


@dataclass(frozen=True, slots=True, eq=False)
class SupportVectors(ValuesModel):
    """A support vector machine after training."""

    scaling: Scaling
    model: Any  # scikit-learn tells no types of what a fit leaves in it
    gamma: float

    def judge(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the signed distance from the boundary, in margins."""
        return self.model.decision_function(self.scaling(values))

    def graph(self, prefix: str) -> GraphPart:
        """Return the sum over the support vectors."""
        model = self.model
        return radial_part(
            prefix,
            self.scaling,
            model.support_vectors_,
            np.ravel(model.dual_coef_),
            float(np.ravel(model.intercept_)[0]),
            gamma=self.gamma,
        )


def _draw(lesson: Lesson, *, most: int) -> Lesson:
    """Return at most so many frames, polyps at most half of them; all where they are few enough."""
    rows, weights, polyp = lesson.rows, lesson.weights, lesson.polyp
    if len(rows) <= most:
        return lesson
    chance = np.random.default_rng(lesson.seed)
    polyps = min(int(polyp.sum()), most // 2)
    negatives = min(int((~polyp).sum()), most - polyps)
    polyps = min(int(polyp.sum()), most - negatives)
    drawn = [
        chance.choice(rows[kind], size, replace=False, p=weights[kind] / weights[kind].sum())
        for kind, size in ((polyp, polyps), (~polyp, negatives))
    ]
    return lesson_of(lesson.examples, np.sort(np.concatenate(drawn)), seed=lesson.seed)
