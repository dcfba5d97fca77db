"""The network in torch, as a pure function of its weights; needed for training alone."""

from collections.abc import Mapping
from typing import Any

from capsieve.learned.network.architecture import IMAGE_CENTRE, IMAGE_SCALE, Block
from capsieve.learned.network.depthwise import depthwise
from capsieve.learned.network.weights import folded, require_torch

__all__ = ["feature_map", "normalised", "pooled_logits"]


def normalised(image: Any) -> Any:
    """Return an RGB image of 0..255 as the network expects it."""
    return (image - IMAGE_CENTRE) / IMAGE_SCALE


def feature_map(
    x: Any,
    blocks: tuple[Block, ...],
    weights: Mapping[str, Any],
    *,
    kept: Mapping[int, Any] | None = None,
) -> Any:
    """Run blocks.

    Parameters
    ----------
    x
        Tensor, N x C x H x W with even H and W wherever a step of 2 follows.
    blocks
        Of :mod:`capsieve.learned.network.architecture`.
    weights
        Tensors by name, see :mod:`capsieve.learned.network.weights`.
    kept
        By the number of a block with a residual, a factor per frame (N x 1 x 1 x 1) for what it
        adds: 0 skips it (stochastic depth; Huang et al., 2016, arXiv:1603.09382).
    """
    functional = require_torch().nn.functional
    kernels = folded(weights, blocks)
    for number, block in enumerate(blocks):
        before = x
        for layer in block.layers:
            weight, bias = kernels[layer.name]
            first, last = layer.padding
            if first != last:
                x = functional.pad(x, (first, last, first, last))
            padding = first if first == last else 0
            if layer.groups > 1:
                x = depthwise(x, weight, bias, stride=layer.stride, padding=padding)
            else:
                x = functional.conv2d(x, weight, bias, layer.stride, padding)
            if layer.clipped:
                x = functional.relu6(x)
        if block.residual:
            x = before + (x if kept is None or number not in kept else x * kept[number])
    return x


def pooled_logits(features: Any, weight: Any, bias: Any, *, kept: Any = None) -> Any:
    """Return the logits of a last feature map.

    Parameters
    ----------
    features
        N x C x H x W.
    weight, bias
        Of the linear head: K x C and K.
    kept
        A factor per frame and channel (N x C), for dropout.
    """
    pooled = features.mean((2, 3))
    if kept is not None:
        pooled = pooled * kept
    return pooled @ weight.T + bias
