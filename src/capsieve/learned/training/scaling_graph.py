"""Scaled values as a piece of an ONNX graph."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from capsieve.learned.training.scaling import Scaling

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

__all__ = ["constant", "scaling_nodes"]


def constant(name: str, array: ArrayLike) -> "TensorProto":
    """Return a named float32 tensor."""
    from onnx import numpy_helper

    return numpy_helper.from_array(np.ascontiguousarray(array, dtype=np.float32), name)


def scaling_nodes(
    prefix: str, scaling: Scaling
) -> tuple[list["NodeProto"], list["TensorProto"], str]:
    """Return nodes and weights that scale ``values``, and the name of what comes out."""
    from onnx import helper

    centre, factor = f"{prefix}centre", f"{prefix}factor"
    low, high = f"{prefix}low", f"{prefix}high"
    weights = [
        constant(centre, scaling.centre),
        constant(factor, scaling.factor),
        constant(low, -scaling.limit),
        constant(high, scaling.limit),
    ]
    nodes = [
        helper.make_node("Sub", ["values", centre], [f"{prefix}centred"]),
        helper.make_node("Mul", [f"{prefix}centred", factor], [f"{prefix}unclipped"]),
        helper.make_node("Clip", [f"{prefix}unclipped", low, high], [f"{prefix}scaled"]),
    ]
    return nodes, weights, f"{prefix}scaled"
