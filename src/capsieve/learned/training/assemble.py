"""A fitted model as a whole ONNX graph with calibrated probabilities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from capsieve.errors import ParameterError
from capsieve.learned.training.libraries import require_training
from capsieve.learned.training.scaling_graph import constant
from capsieve.learned.training.trainer import GraphPart

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto

__all__ = ["HALF_FROM", "IR_VERSION", "OPSETS", "assemble"]

OPSETS = (("", 17), ("ai.onnx.ml", 3))
IR_VERSION = 8
"""Old enough for every onnxruntime that this project allows."""
HALF_FROM = 1024
"""Weights with fewer numbers are not worth halving."""


def assemble(
    part: GraphPart,
    slope: float,
    intercept: float,
    *,
    image_size: int | None,
    value_count: int,
    half: bool = False,
) -> "ModelProto":
    """Return the model ``sigmoid(slope * logit + intercept)``.

    Its input is ``image`` (N x 3 x S x S) or ``values`` (N x F), whichever the part reads. Its
    outputs are ``probability`` (N), ``logit`` (N) and, if the part has one, ``map`` (N x H x W),
    in units of the calibrated logit.

    Parameters
    ----------
    part
        What gives the logit.
    slope, intercept
        Of the calibration.
    image_size
        S; None if the part reads features.
    value_count
        F.
    half
        Store large weights in 16 bits; they are widened when the model is loaded.

    Raises
    ------
    ParameterError
        The part reads the image, and its size is not given.
    MissingExtraError
        onnx is not installed.
    """
    require_training()
    from onnx import TensorProto, checker, helper

    read = {name for node in part.nodes for name in node.input} & {"image", "values"}
    if "image" in read and image_size is None:
        raise ParameterError("image_size", "the model reads the image: its size must be given")
    shapes: dict[str, list[str | int]] = {
        "image": ["N", 3, image_size or 0, image_size or 0],
        "values": ["N", value_count],
    }
    tensors = [
        *part.weights,
        constant("calibration_slope", [slope]),
        constant("calibration_intercept", [intercept]),
        helper.make_tensor("calibration_axis", TensorProto.INT64, [1], [1]),
    ]
    nodes = [
        *part.nodes,
        helper.make_node("Mul", [part.logit, "calibration_slope"], ["scaled_logit"]),
        helper.make_node("Add", ["scaled_logit", "calibration_intercept"], ["calibrated_logit"]),
        helper.make_node("Squeeze", ["calibrated_logit", "calibration_axis"], ["logit"]),
        helper.make_node("Sigmoid", ["logit"], ["probability"]),
    ]
    outputs = [_number("probability", ["N"]), _number("logit", ["N"])]
    if part.map:
        nodes.append(helper.make_node("Mul", [part.map, "calibration_slope"], ["map"]))
        outputs.append(_number("map", ["N", "H", "W"]))
    if half:
        widening, tensors = _halved(tensors)
        nodes = widening + nodes
    inputs = [_number(name, shapes[name]) for name in sorted(read)]
    graph = helper.make_graph(nodes, "capsieve", inputs, outputs, tensors)
    model = helper.make_model(
        graph,
        producer_name="capsieve",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid(*opset) for opset in OPSETS],
    )
    checker.check_model(model, full_check=True)
    return model


def _number(name: str, shape: list[str | int]) -> "ValueInfoProto":
    from onnx import TensorProto, helper

    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


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
