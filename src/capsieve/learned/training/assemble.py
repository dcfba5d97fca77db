"""Parts of a model joined to one ONNX graph."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from capsieve.errors import ParameterError
from capsieve.learned.training.libraries import require_training
from capsieve.learned.training.linear_graph import constant
from capsieve.learned.training.trainer import GraphPart

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto

__all__ = ["HALF_FROM", "IR_VERSION", "OPSETS", "assemble"]

OPSETS = (("", 17), ("ai.onnx.ml", 3))
IR_VERSION = 8
"""Old enough for every onnxruntime that this project allows."""
HALF_FROM = 1024
"""Weights with fewer numbers are not worth halving."""
_JOINED = ("image", "values", "logit", "probability", "map")


def assemble(
    parts: Sequence[GraphPart],
    weights: Sequence[float],
    intercept: float,
    *,
    image_size: int | None,
    value_count: int,
    half: bool = False,
) -> "ModelProto":
    """Return the model ``sigmoid(sum_i weights[i] * logit_i + intercept)``.

    Its inputs are those of ``image`` (N x 3 x S x S) and ``values`` (N x F) that a part reads. Its
    outputs are ``probability`` (N), ``logit`` (N) and, where a part has one, ``map`` (N x H x W):
    the weighted sum of the parts' maps, which must then be of one size. One image may come with
    many rows of values: the network then runs once for all of them.

    Parameters
    ----------
    parts, weights
        As many of one as of the other.
    image_size
        S; None where no part looks at the image.
    value_count
        F.
    half
        Store large weights in 16 bits; they are widened when the model is loaded.

    Raises
    ------
    ParameterError
        Parts that do not fit together.
    MissingExtraError
        onnx is not installed.
    """
    require_training()
    from onnx import checker, helper

    _check(parts, weights)
    read = set(chain.from_iterable(node.input for part in parts for node in part.nodes))
    if "image" in read and image_size is None:
        raise ParameterError("image_size", "a part looks at the image: its size must be given")
    tensors = [tensor for part in parts for tensor in part.weights]
    nodes = [node for part in parts for node in part.nodes]
    # Names of their own: with one name for both, onnxruntime takes the batches for equally long.
    frames = "N" if not {"image", "values"} <= read else "larger of N and M"
    outputs = [_number("probability", [frames]), _number("logit", [frames])]
    for step in (
        _sum_nodes([part.logit for part in parts], weights, "joined", intercept),
        _ending(),
    ):
        nodes += step[0]
        tensors += step[1]
    mapped = [(part.map, weight) for part, weight in zip(parts, weights, strict=True) if part.map]
    if mapped:
        more, constants = _sum_nodes([name for name, _ in mapped], [w for _, w in mapped], "map")
        nodes += more
        tensors += constants
        outputs.append(_number("map", ["N", "H", "W"]))
    if half:
        widening, tensors = _halved(tensors)
        nodes = widening + nodes
    inputs: list[ValueInfoProto] = []
    if "image" in read and image_size is not None:
        inputs.append(_number("image", ["N", 3, image_size, image_size]))
    if "values" in read:
        inputs.append(_number("values", ["M" if "image" in read else "N", value_count]))
    graph = helper.make_graph(nodes, "capsieve", inputs, outputs, tensors)
    model = helper.make_model(
        graph,
        producer_name="capsieve",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid(*opset) for opset in OPSETS],
    )
    checker.check_model(model, full_check=True)
    return model


def _check(parts: Sequence[GraphPart], weights: Sequence[float]) -> None:
    """Raise where the parts do not fit together."""
    if not parts or len(parts) != len(weights):
        raise ParameterError("parts", f"{len(parts)} parts and {len(weights)} weights do not fit")
    names = [name for part in parts for node in part.nodes for name in node.output]
    names += [tensor.name for part in parts for tensor in part.weights]
    doubled = sorted({name for name in names if names.count(name) > 1 or name in _JOINED})
    if doubled:
        raise ParameterError("parts", f"names that stand in two parts: {', '.join(doubled)}")


def _number(name: str, shape: list[str | int]) -> "ValueInfoProto":
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _sum_nodes(
    names: Sequence[str], weights: Sequence[float], output: str, intercept: float | None = None
) -> tuple[list["NodeProto"], list["TensorProto"]]:
    """Return nodes and constants of a weighted sum."""
    from onnx import helper

    nodes: list[NodeProto] = []
    tensors: list[TensorProto] = []
    terms: list[str] = []
    for index, (name, weight) in enumerate(zip(names, weights, strict=True)):
        factor, term = f"{output}_weight_{index}", f"{output}_term_{index}"
        tensors.append(constant(factor, [weight]))
        nodes.append(helper.make_node("Mul", [name, factor], [term]))
        terms.append(term)
    if intercept is not None:
        tensors.append(constant(f"{output}_intercept", [intercept]))
        terms.append(f"{output}_intercept")
    nodes.append(helper.make_node("Sum", terms, [output]))
    return nodes, tensors


def _ending() -> tuple[list["NodeProto"], list["TensorProto"]]:
    """Return what makes a logit and a probability per frame of the joined column."""
    from onnx import TensorProto, helper

    axis = helper.make_tensor("joined_axis", TensorProto.INT64, [1], [1])
    nodes = [
        helper.make_node("Squeeze", ["joined", axis.name], ["logit"]),
        helper.make_node("Sigmoid", ["logit"], ["probability"]),
    ]
    return nodes, [axis]


def _halved(
    tensors: Sequence["TensorProto"],
) -> tuple[list["NodeProto"], list["TensorProto"]]:
    """Return nodes that widen large weights, and all weights with the large ones in float16."""
    from onnx import TensorProto, helper, numpy_helper

    nodes: list[NodeProto] = []
    kept: list[TensorProto] = []
    for tensor in tensors:
        if tensor.data_type == TensorProto.FLOAT and np.prod(tensor.dims) >= HALF_FROM:
            array = numpy_helper.to_array(tensor)
            # What float16 cannot hold stays as it is.
            if np.abs(array).max() <= float(np.finfo(np.float16).max):
                name = f"{tensor.name}_half"
                kept.append(numpy_helper.from_array(array.astype(np.float16), name))
                nodes.append(helper.make_node("Cast", [name], [tensor.name], to=TensorProto.FLOAT))
                continue
        kept.append(tensor)
    return nodes, kept
