"""A sum of radial basis functions as a piece of an ONNX graph."""

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.scaling import Scaling
from capsieve.learned.training.scaling_graph import constant, scaling_nodes
from capsieve.learned.training.trainer import GraphPart

__all__ = ["radial_part"]


def radial_part(
    prefix: str,
    scaling: Scaling,
    vectors: NDArray[np.float64],
    weights: NDArray[np.float64],
    intercept: float,
    *,
    gamma: float,
) -> GraphPart:
    """Return the graph of ``sum_i w_i exp(-gamma |x - v_i|^2) + intercept``, x the scaled values.

    The exponent is ``2 gamma x.v_i - gamma |v_i|^2 - gamma |x|^2``: one product of matrices. Scaled
    values are bounded, so the differences keep enough digits in float32.
    """
    from onnx import TensorProto, helper

    nodes, tensors, scaled = scaling_nodes(prefix, scaling)
    vectors = np.asarray(vectors, dtype=np.float64)
    tensors += [
        constant(f"{prefix}vectors", vectors.T * (2 * gamma)),
        constant(f"{prefix}lengths", -gamma * np.sum(vectors**2, axis=1)),
        constant(f"{prefix}gamma", [-gamma]),
        constant(f"{prefix}weights", np.reshape(weights, (-1, 1))),
        constant(f"{prefix}intercept", [intercept]),
    ]
    steps = (
        ("Gemm", [scaled, f"{prefix}vectors", f"{prefix}lengths"], "products"),
        ("Mul", [scaled, f"{prefix}gamma"], "shrunk"),
        ("Mul", [f"{prefix}shrunk", scaled], "squares"),
    )
    nodes += [helper.make_node(kind, inputs, [f"{prefix}{out}"]) for kind, inputs, out in steps]
    axes = helper.make_tensor(f"{prefix}axes", TensorProto.INT64, [1], [1])
    tensors.append(axes)
    nodes += [
        helper.make_node(
            "ReduceSum", [f"{prefix}squares", axes.name], [f"{prefix}length"], keepdims=1
        ),
        helper.make_node("Add", [f"{prefix}products", f"{prefix}length"], [f"{prefix}exponents"]),
        helper.make_node("Exp", [f"{prefix}exponents"], [f"{prefix}kernels"]),
        helper.make_node(
            "Gemm",
            [f"{prefix}kernels", f"{prefix}weights", f"{prefix}intercept"],
            [f"{prefix}logit"],
        ),
    ]
    return GraphPart(f"{prefix}logit", tuple(nodes), tuple(tensors))
