"""The network, or its lower blocks alone, as nodes of an ONNX graph (opset 17)."""

from collections.abc import Sequence
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
    "PASSAGE",
    "LinearHead",
    "Member",
    "lower_graph",
    "network_graph",
    "require_onnx",
]

IMAGE = "image"
OPSET = 17
PASSAGE = 0.5
"""Width of the range of logits over which one look gives way to the mean of all looks."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearHead:
    """What turns the mean of the last feature map into a logit: `weight` (1280) and `bias`."""

    weight: NDArray[np.float32]
    bias: float


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A trained network: all its weights, and its head."""

    weights: Weights
    head: LinearHead


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
    members: Sequence[Member],
    *,
    frozen: int,
    prefix: str,
    second_look: float | None = None,
) -> GraphPart:
    """Return networks that were trained from the same frozen blocks, joined to one.

    The outputs are the logit, N x 1, and the map, N x rows x columns: what each place of the
    feature map adds to the logit, which is the mean of the map and a constant.

    The first member looks at every frame. Where its logit says that a frame may matter, all members
    look at it, straight and turned by 180 degrees, and the mean of all looks counts: the others
    will not be flagged, so that more looks at them would change nothing. One look gives way to the
    mean by and by, not in a step: no frame may change its place by a rounding error.

    Parameters
    ----------
    members
        One or more.
    frozen
        Number of bottlenecks in which no member differs from the first.
    prefix
        Of every name but the input's.
    second_look
        The logit of the first member from which on all looks count, by and by: fully from
        :data:`PASSAGE` above it. None: each member looks at every frame, once.
    """
    drawing = _Drawing(prefix)
    first = members[0]
    lower = drawing.lower(IMAGE, first.weights, frozen)
    evidence = drawing.evidence(lower, members, 0, frozen)
    if second_look is None:
        others = range(1, len(members))
        looks = [drawing.evidence(lower, members, number, frozen) for number in others]
        evidence = drawing.node("Mean", [evidence, *looks], "joined")
    else:
        least = second_look - first.head.bias
        evidence = _looked_at_again(drawing, lower, evidence, members, frozen, least)
    bias = drawing.weight("head.offset", np.array([first.head.bias], np.float32))
    logit = drawing.node("Add", [drawing.pooled(evidence, "pooled"), bias], "logit")
    axis = drawing.weight("axis.channel", np.array([1], np.int64))
    return drawing.part(logit, drawing.node("Squeeze", [evidence, axis], "map"))


def _looked_at_again(
    drawing: "_Drawing",
    lower: str,
    evidence: str,
    members: Sequence[Member],
    frozen: int,
    least: float,
) -> str:
    """Return the evidence, that of frames with a mean of at least `least` by all looks.

    The frames in question are gathered, so that the others cost nothing.
    """
    rows = drawing.rows_in_question(evidence, least)
    usual = drawing.node("Gather", [evidence, rows], "again.usual")
    below = drawing.node("Gather", [lower, rows], "again.lower")
    frames = drawing.node("Gather", [IMAGE, rows], "again.frames")
    turned = drawing.half_turned(frames, "again.turned")
    below_turned = drawing.lower(turned, members[0].weights, frozen, name="turned.")
    looks = [drawing.evidence(below, members, number, frozen) for number in range(1, len(members))]
    for number in range(len(members)):
        look = drawing.evidence(below_turned, members, number, frozen, name="turned.")
        looks.append(drawing.half_turned(look, f"again.straight{number}"))
    return drawing.replaced(evidence, rows, usual, looks, least)


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

    def lower(self, image: str, weights: Weights, frozen: int, *, name: str = "") -> str:
        """Return what the frozen blocks give; `name` begins the names of nodes."""
        return self.blocks(self.normalised(image, name), lower_blocks(frozen), weights, name=name)

    def evidence(
        self, lower: str, members: Sequence[Member], number: int, frozen: int, *, name: str = ""
    ) -> str:
        """Return the evidence of a member at every place, N x 1 x rows x columns.

        The member's own constant is in it, as far as it differs from that of the first.
        """
        member, owner = members[number], f"member{number}."
        blocks = upper_blocks(frozen)
        features = self.blocks(lower, blocks, member.weights, name=name + owner, owner=owner)
        linear = self.weight(f"{owner}linear", member.head.weight.reshape(1, -1, 1, 1))
        offset = np.array([member.head.bias - members[0].head.bias], np.float32)
        inputs = [features, linear, self.weight(f"{owner}offset", offset)]
        return self.node("Conv", inputs, f"{name}{owner}evidence")

    def rows_in_question(self, evidence: str, least: float) -> str:
        """Return the numbers of frames whose mean evidence is at least so much."""
        bound = self.weight("again.least", np.array(least, np.float32))
        flat = self.weight("again.flat", np.array([-1], np.int64))
        mean = self.node("Reshape", [self.pooled(evidence, "first"), flat], "first.mean")
        found = self.node("NonZero", [self.node("GreaterOrEqual", [mean, bound], "doubt")], "found")
        return self.node("Reshape", [found, flat], "again.rows")

    def replaced(
        self, evidence: str, rows: str, usual: str, looks: Sequence[str], least: float
    ) -> str:
        """Return the evidence, that of some rows moved from the usual to the mean with looks."""
        bound = self.weight("again.least", np.array(least, np.float32))
        steep = self.weight("again.steepness", np.array(1 / PASSAGE, np.float32))
        low = self.weight("again.none", np.array(0, np.float32))
        high = self.weight("again.all", np.array(1, np.float32))
        column = self.weight("again.column", np.array([-1, 1], np.int64))
        pooled = self.node("ReduceMean", [usual], "again.pooled", axes=[2, 3], keepdims=1)
        above = self.node("Sub", [pooled, bound], "again.above")
        way = self.node("Mul", [above, steep], "again.way")
        share = self.node("Clip", [way, low, high], "again.share")
        mean = self.node("Mean", [usual, *looks], "again.mean")
        change = self.node("Mul", [self.node("Sub", [mean, usual], "again.new"), share], "change")
        moved = self.node("Add", [usual, change], "again.moved")
        places = self.node("Reshape", [rows, column], "again.places")
        return self.node("ScatterND", [evidence, places, moved], "joined")

    def pooled(self, evidence: str, name: str) -> str:
        return self.node("ReduceMean", [evidence], name, axes=[2, 3], keepdims=0)

    def half_turned(self, x: str, name: str) -> str:
        """Turn pictures or maps by 180 degrees."""
        # From the last (-1) to before the first, which a number below all sizes stands for.
        lowest = np.iinfo(np.int64).min
        numbers = {"from": [-1, -1], "to": [lowest, lowest], "axes": [2, 3], "steps": [-1, -1]}
        inputs = [self.weight(f"turn.{key}", np.array(of)) for key, of in numbers.items()]
        return self.node("Slice", [x, *inputs], name)

    def normalised(self, image: str, name: str = "") -> str:
        # Division by a power of two and multiplication by its inverse give the same bits.
        centre = self.weight("image.centre", np.array(IMAGE_CENTRE, np.float32))
        factor = self.weight("image.factor", np.array(1 / IMAGE_SCALE, np.float32))
        centred = self.node("Sub", [image, centre], f"{name}image.centred")
        return self.node("Mul", [centred, factor], f"{name}image.scaled")

    def blocks(
        self,
        x: str,
        blocks: tuple[Block, ...],
        weights: Weights,
        *,
        name: str = "",
        owner: str = "",
    ) -> str:
        """Run blocks; `name` begins the names of nodes, and `owner` those of weights."""
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
                    self.weight(f"{owner}{layer.name}.weight", kernel),
                    self.weight(f"{owner}{layer.name}.bias", bias),
                ]
                x = self.node(
                    "Conv",
                    inputs,
                    f"{name}{layer.name}.filtered",
                    kernel_shape=[layer.kernel, layer.kernel],
                    strides=[layer.stride, layer.stride],
                    pads=[first, first, last, last],
                    group=layer.groups,
                )
                if layer.clipped:
                    x = self.node("Clip", [x, low, high], f"{name}{layer.name}.clipped")
            if block.residual:
                x = self.node("Add", [before, x], f"{name}{block.layers[-1].name}.added")
        return x
