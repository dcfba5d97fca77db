"""The network, or its lower blocks alone, as nodes of an ONNX graph (opset 17)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import MissingExtraError
from capsieve.learned.network.architecture import (
    IMAGE_CENTRE,
    IMAGE_SCALE,
    Block,
    lower_blocks,
    upper_blocks,
)
from capsieve.learned.network.weights import Weights, folded
from capsieve.learned.training.trainer import GraphPart

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

__all__ = [
    "IMAGE",
    "OPSET",
    "LinearHead",
    "lower_graph",
    "network_graph",
    "require_onnx",
]

IMAGE = "image"
OPSET = 17


@dataclass(frozen=True, slots=True, eq=False)
class LinearHead:
    """What turns the mean of the last feature map into a logit: `weight` (1280) and `bias`."""

    weight: NDArray[np.float32]
    bias: float


def require_onnx() -> Any:
    """Return the module onnx.

    Raises
    ------
    MissingExtraError
        It is not installed.
    """
    try:
        import onnx
    except ImportError:
        raise MissingExtraError(
            'writing a network needs the package onnx; pip install "capsieve[train]"'
        ) from None
    return onnx


def lower_graph(weights: Weights, frozen: int, *, prefix: str = "") -> GraphPart:
    """Return the stem and the first bottlenecks.

    Parameters
    ----------
    weights
        See :mod:`capsieve.learned.network.weights`.
    frozen
        Number of bottlenecks.
    prefix
        Of every name but the input's.

    Returns
    -------
    GraphPart
        Its output is no logit but the feature map, N x C x H x W.
    """
    drawing = _Drawing(prefix)
    output = drawing.blocks(drawing.normalised(IMAGE), lower_blocks(frozen), weights)
    return drawing.part(output)


def network_graph(weights: Weights, head: LinearHead, *, frozen: int, prefix: str) -> GraphPart:
    """Return the whole network.

    The outputs are the logit, N x 1, and the map, N x rows x columns: what each place of the
    feature map adds to the logit, which is the mean of the map plus the bias of the head.

    Parameters
    ----------
    weights, head
        Of the trained network.
    frozen
        Number of bottlenecks that were not trained.
    prefix
        Of every name but the input's.
    """
    drawing = _Drawing(prefix)
    blocks = (*lower_blocks(frozen), *upper_blocks(frozen))
    features = drawing.blocks(drawing.normalised(IMAGE), blocks, weights)
    linear = drawing.weight("linear", head.weight.reshape(1, -1, 1, 1))
    evidence = drawing.node("Conv", [features, linear], "evidence")
    pooled = drawing.node("ReduceMean", [evidence], "pooled", axes=[2, 3], keepdims=0)
    bias = drawing.weight("head.offset", np.array([head.bias], np.float32))
    logit = drawing.node("Add", [pooled, bias], "logit")
    axis = drawing.weight("axis.channel", np.array([1], np.int64))
    return drawing.part(logit, drawing.node("Squeeze", [evidence, axis], "map"))


class _Drawing:
    """Nodes and weights as they are added, every name behind the prefix."""

    def __init__(self, prefix: str) -> None:
        self._onnx = require_onnx()
        self._prefix = prefix
        self._nodes: list[NodeProto] = []
        self._weights: dict[str, TensorProto] = {}

    def part(self, logit: str, evidence: str = "") -> GraphPart:
        return GraphPart(logit, tuple(self._nodes), tuple(self._weights.values()), evidence)

    def weight(self, name: str, array: NDArray[Any]) -> str:
        name = self._prefix + name
        if name not in self._weights:
            self._weights[name] = self._onnx.numpy_helper.from_array(
                np.ascontiguousarray(array), name
            )
        return name

    def node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        output = self._prefix + output
        self._nodes.append(
            self._onnx.helper.make_node(kind, inputs, [output], name=output, **attributes)
        )
        return output

    def normalised(self, image: str) -> str:
        # Division by a power of two and multiplication by its inverse give the same bits.
        centre = self.weight("image.centre", np.array(IMAGE_CENTRE, np.float32))
        factor = self.weight("image.factor", np.array(1 / IMAGE_SCALE, np.float32))
        centred = self.node("Sub", [image, centre], "image.centred")
        return self.node("Mul", [centred, factor], "image.scaled")

    def blocks(self, x: str, blocks: tuple[Block, ...], weights: Weights) -> str:
        kernels = folded(weights, blocks)
        low = self.weight("clip.low", np.array(0, np.float32))
        high = self.weight("clip.high", np.array(6, np.float32))
        for block in blocks:
            before = x
            for layer in block.layers:
                kernel, bias = kernels[layer.name]
                first, last = layer.padding
                inputs = [
                    x,
                    self.weight(f"{layer.name}.weight", kernel),
                    self.weight(f"{layer.name}.bias", bias),
                ]
                x = self.node(
                    "Conv",
                    inputs,
                    f"{layer.name}.filtered",
                    kernel_shape=[layer.kernel, layer.kernel],
                    strides=[layer.stride, layer.stride],
                    pads=[first, first, last, last],
                    group=layer.groups,
                )
                if layer.clipped:
                    x = self.node("Clip", [x, low, high], f"{layer.name}.clipped")
            if block.residual:
                x = self.node("Add", [before, x], f"{block.layers[-1].name}.added")
        return x
