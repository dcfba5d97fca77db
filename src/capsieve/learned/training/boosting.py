"""Boosted trees on the features of a frame."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.lesson import Lesson
from capsieve.learned.training.trainer import GraphPart
from capsieve.learned.training.trees_graph import Tree, trees_node
from capsieve.learned.training.values_trainer import ValuesModel, ValuesTrainer

__all__ = ["BoostedTrees", "BoostingTrainer"]


@dataclass(frozen=True, slots=True)
class BoostingTrainer(ValuesTrainer):
    """Gradient boosting over histograms: many small trees, each mending what the others left [1]_.

    Frames come from few exams, so the trees are small and steps short; the number of trees is
    fixed, for frames to stop by would have to come from other exams.

    Attributes
    ----------
    trees, rate, leaves
        How many trees, how much of each is taken, and the leaves of one.
    frames_per_leaf, ridge
        At least so many frames in a leaf; and L2 on what a leaf gives.
    share
        Of the features, how many each split may choose from.

    References
    ----------
    .. [1] J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
       Statistics 29(5), 1189-1232, 2001.
    """

    trees: int = 150
    rate: float = 0.05
    leaves: int = 8
    frames_per_leaf: int = 40
    ridge: float = 20.0
    share: float = 0.3

    MODEL = "boosting"
    FORMAT: ClassVar[int] = 2
    DOING = "boosting trees"

    def learn(self, lesson: Lesson) -> "BoostedTrees":
        """Grow the trees, one after the other."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_iter=self.trees,
            learning_rate=self.rate,
            max_leaf_nodes=self.leaves,
            min_samples_leaf=self.frames_per_leaf,
            l2_regularization=self.ridge,
            max_features=self.share,
            early_stopping=False,  # pyright: ignore[reportArgumentType]
            random_state=lesson.seed,
        )
        model.fit(lesson.values, lesson.polyp, sample_weight=lesson.weights)
        return BoostedTrees(model)


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees(ValuesModel):
    """Boosted trees after training."""

    model: Any  # scikit-learn tells no types of what a fit leaves in it

    def judge(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the sum over the trees."""
        return self.model.decision_function(values)

    def graph(self, prefix: str) -> GraphPart:
        """Return the trees as one node."""
        # scikit-learn has no public name for these trees; a test compares what comes out.
        trees = [_tree(predictor.nodes) for (predictor,) in self.model._predictors]
        base = float(np.ravel(self.model._baseline_prediction)[0])
        logit = f"{prefix}logit"
        return GraphPart(logit, (trees_node(trees, logit, base=base),), ())


def _tree(nodes: NDArray[np.void]) -> Tree:
    return Tree(
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        feature=nodes["feature_idx"].astype(np.int64),
        threshold=nodes["num_threshold"].astype(np.float64),
        leaf=nodes["is_leaf"].astype(bool),
        value=nodes["value"].astype(np.float64),
    )
