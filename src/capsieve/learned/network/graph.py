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

__all__ = ["IMAGE", "OPSET", "LinearHead", "lower_graph", "network_graph", "require_onnx"]

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


def network_graph(
    weights: Weights, head: LinearHead, *, prefix: str, mirrored: bool = False
) -> GraphPart:
    """Return the whole network.

    The map is the class activation map (Zhou et al., 2016, arXiv:1512.04150): the head's weights
    applied at every place of the last feature map. Its mean plus the head's bias is the logit.

    Parameters
    ----------
    weights
        See :mod:`capsieve.learned.network.weights`.
    head
        Applied to the mean of the last feature map.
    prefix
        Of every name but the input's.
    mirrored
        Whether the mean of the frame's and its mirror image's logit and map is taken.
    """
    drawing = _Drawing(prefix)
    image = drawing.with_mirror_image(IMAGE) if mirrored else IMAGE
    features = drawing.blocks(drawing.normalised(image), lower_blocks(0) + upper_blocks(0), weights)
    weighed = drawing.node(
        "Conv",
        [features, drawing.weight("head.linear", head.weight.reshape(1, -1, 1, 1))],
        "evidence",
    )
    if mirrored:
        weighed = drawing.mean_with_mirror_image(weighed)
    pooled = drawing.node("ReduceMean", [weighed], "pooled", axes=[2, 3], keepdims=0)
    bias = drawing.weight("head.offset", np.array([head.bias], np.float32))
    logit = drawing.node("Add", [pooled, bias], "logit")
    axis = drawing.weight("axis.channel", np.array([1], np.int64))
    evidence = drawing.node("Squeeze", [weighed, axis], "map")
    return drawing.part(logit, evidence)


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
        return self.node(
            "Mul", [self.node("Sub", [image, centre], "image.centred"), factor], "image.scaled"
        )

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

    def with_mirror_image(self, image: str) -> str:
        """Append the mirror images after the frames, so that both go through the same nodes."""
        return self.node("Concat", [image, self._mirror_image(image, "image")], "both", axis=0)

    def mean_with_mirror_image(self, x: str) -> str:
        names = [self._prefix + name for name in ("evidence.straight", "evidence.mirrored")]
        self._nodes.append(
            self._onnx.helper.make_node("Split", [x], names, name=f"{self._prefix}apart", axis=0)
        )
        return self.node("Mean", [names[0], self._mirror_image(names[1], "evidence")], "joined")

    def _mirror_image(self, x: str, name: str) -> str:
        # From the last column (-1) to before the first, which a number below all sizes stands for.
        numbers = {"start": -1, "end": np.iinfo(np.int64).min, "axis": 3, "step": -1}
        inputs = [
            self.weight(f"mirror.{key}", np.array([number], np.int64))
            for key, number in numbers.items()
        ]
        return self.node("Slice", [x, *inputs], f"{name}.turned")
