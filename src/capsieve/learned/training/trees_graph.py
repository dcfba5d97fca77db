"""Trees as one node of an ONNX graph that decides as scikit-learn does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from onnx import NodeProto

__all__ = ["Tree", "round_down", "trees_node"]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A binary tree; node 0 is its root. A frame goes left where its value <= the threshold.

    Attributes
    ----------
    left, right
        The children of each node; of leaves they are not read.
    feature, threshold
        Which column is compared with what.
    leaf, value
        Whether the node is a leaf, and what it then gives.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    leaf: NDArray[np.bool_]
    value: NDArray[np.float64]


def round_down(thresholds: ArrayLike) -> NDArray[np.float32]:
    """Return the largest float32 at or below each threshold.

    scikit-learn compares float32 values with float64 thresholds, the graph with float32 ones. For
    every float32 x, x <= t is then the same as x <= round_down(t); with the nearest float32 it is
    not, where that lies above t.
    """
    exact = np.asarray(thresholds, dtype=np.float64)
    largest = float(np.finfo(np.float32).max)
    # Beyond the largest float32 lies no finite one: compare with the largest, or with none.
    bounded = np.where(exact > largest, largest, np.where(exact < -largest, -np.inf, exact))
    near = bounded.astype(np.float32)
    with np.errstate(over="ignore"):  # below the lowest float32 is -inf, as it should be
        below = np.nextafter(near, np.float32(-np.inf))
    return np.where(near.astype(np.float64) > bounded, below, near)


def trees_node(trees: Sequence[Tree], output: str, *, base: float = 0.0) -> "NodeProto":
    """Return a node that adds `base` and what each tree gives for ``values``; N x 1."""
    from onnx import helper

    sizes = [len(tree.leaf) for tree in trees]
    leaf = np.concatenate([tree.leaf for tree in trees])
    tree_of = np.repeat(np.arange(len(trees)), sizes)
    node_of = np.concatenate([np.arange(size) for size in sizes])

    def inner(parts: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
        """Return one array over all nodes, 0 at leaves."""
        joined = np.concatenate(parts)
        return np.where(leaf, np.zeros((), joined.dtype), joined)

    thresholds = inner([round_down(tree.threshold) for tree in trees])
    values = np.concatenate([tree.value for tree in trees])[leaf].astype(np.float32)
    return helper.make_node(
        "TreeEnsembleRegressor",
        ["values"],
        [output],
        domain="ai.onnx.ml",
        aggregate_function="SUM",
        base_values=[float(np.float32(base))],
        n_targets=1,
        nodes_falsenodeids=inner([tree.right for tree in trees]).tolist(),
        nodes_featureids=inner([tree.feature for tree in trees]).tolist(),
        nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_nodeids=node_of.tolist(),
        nodes_treeids=tree_of.tolist(),
        nodes_truenodeids=inner([tree.left for tree in trees]).tolist(),
        nodes_values=thresholds.tolist(),
        post_transform="NONE",
        target_ids=[0] * int(leaf.sum()),
        target_nodeids=node_of[leaf].tolist(),
        target_treeids=tree_of[leaf].tolist(),
        target_weights=values.tolist(),
    )
