"""A forest of random trees on the features of a frame."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.lesson import Lesson
from capsieve.learned.training.scaling_graph import constant
from capsieve.learned.training.trainer import GraphPart
from capsieve.learned.training.trees_graph import Tree, trees_node
from capsieve.learned.training.values_trainer import ValuesModel, ValuesTrainer

__all__ = ["Forest", "ForestTrainer"]

_SURE = 1e-3
"""The share of trees is kept this far from 0 and 1, where its logit is infinite."""


@dataclass(frozen=True, slots=True)
class ForestTrainer(ValuesTrainer):
    """Extremely randomised trees [1]_: thresholds are drawn, and the best of a few draws is taken.

    A leaf must hold a share of the whole weight, so that one exam does not make a leaf of its own.

    Attributes
    ----------
    trees
        How many.
    leaf_share
        Of the weight of all frames, at least so much in each leaf.
    share
        Of the features, how many each split may choose from.

    References
    ----------
    .. [1] P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63,
       3-42, 2006.
    """

    trees: int = 200
    leaf_share: float = 0.005
    share: float = 0.3

    MODEL = "forest"
    FORMAT: ClassVar[int] = 2
    DOING = "growing a forest"

    def learn(self, lesson: Lesson) -> "Forest":
        """Grow the trees, each by itself."""
        from sklearn.ensemble import ExtraTreesClassifier

        model = ExtraTreesClassifier(
            n_estimators=self.trees,
            min_weight_fraction_leaf=self.leaf_share,
            max_features=self.share,  # pyright: ignore[reportArgumentType]
            n_jobs=1,
            random_state=lesson.seed,
        )
        model.fit(lesson.values, lesson.polyp, sample_weight=lesson.weights)
        return Forest(model)


@dataclass(frozen=True, slots=True, eq=False)
class Forest(ValuesModel):
    """A forest after training."""

    model: Any  # scikit-learn tells no types of what a fit leaves in it

    def judge(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return log(p / (1 - p)), p the trees' mean share of polyps."""
        shares = self.model.predict_proba(values)[:, 1]
        shares = np.clip(shares, _SURE, 1 - _SURE)
        return np.log(shares) - np.log1p(-shares)

    def graph(self, prefix: str) -> GraphPart:
        """Return the trees as one node, and the logit of what they give."""
        from onnx import helper

        trees = [_tree(tree, len(self.model.estimators_)) for tree in self.model.estimators_]
        names = ("share", "low", "high", "one", "clipped", "against", "odds", "logit")
        share, low, high, one, clipped, against, odds, logit = (prefix + name for name in names)
        nodes = (
            trees_node(trees, share),
            helper.make_node("Clip", [share, low, high], [clipped]),
            helper.make_node("Sub", [one, clipped], [against]),
            helper.make_node("Div", [clipped, against], [odds]),
            helper.make_node("Log", [odds], [logit]),
        )
        weights = (constant(low, _SURE), constant(high, 1 - _SURE), constant(one, 1.0))
        return GraphPart(logit, nodes, weights)


def _tree(fitted: Any, count: int) -> Tree:
    """Return a tree whose leaves give their share of polyps over the number of trees."""
    inside = fitted.tree_
    votes = inside.value[:, 0, :]
    return Tree(
        left=inside.children_left.astype(np.int64),
        right=inside.children_right.astype(np.int64),
        feature=inside.feature.astype(np.int64),
        threshold=inside.threshold.astype(np.float64),
        leaf=inside.children_left < 0,
        value=votes[:, 1] / votes.sum(axis=1) / count,
    )
