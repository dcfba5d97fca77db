from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.learned.network.depthwise import depthwise
from capsieve.learned.network.kernels.depthwise import LANES, SIDE, tap_gradients

torch = pytest.importorskip("torch")


def drawn(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def literal_gradients(
    x: NDArray[np.float32], g: NDArray[np.float32], stride: int, padding: int
) -> NDArray[np.float64]:
    """Sum over frames and places, tap by tap; beyond the image there are zeros."""
    total = np.zeros((x.shape[3], SIDE, SIDE))
    for a in range(SIDE):
        for b in range(SIDE):
            for i in range(g.shape[1]):
                for j in range(g.shape[2]):
                    row, col = i * stride + a - padding, j * stride + b - padding
                    if 0 <= row < x.shape[1] and 0 <= col < x.shape[2]:
                        total[:, a, b] += (x[:, row, col].astype(float) * g[:, i, j]).sum(0)
    return total


@pytest.mark.parametrize(
    ("size", "stride", "padding"), [(6, 1, 2), (7, 1, 0), (9, 2, 0), (8, 2, 2), (10, 2, 1)]
)
def test_gradients_are_sums_over_frames_and_places(size: int, stride: int, padding: int) -> None:
    steps = (size + 2 * padding - SIDE) // stride + 1
    x, g = drawn(3, size, size, 2 * LANES), drawn(3, steps, steps, 2 * LANES, seed=1)
    found = np.empty((2 * LANES, SIDE, SIDE), np.float32)
    tap_gradients(x, g, stride, padding, found)
    np.testing.assert_allclose(
        found, literal_gradients(x, g, stride, padding), rtol=1e-5, atol=2e-5
    )


@pytest.mark.parametrize("layout", [torch.channels_last, torch.contiguous_format])
@pytest.mark.parametrize(("side", "channels"), [(5, 32), (5, 20), (3, 32)])
@pytest.mark.parametrize("stride", [1, 2])
def test_all_gradients_are_those_of_torch(
    side: int, channels: int, stride: int, layout: Any
) -> None:
    def gradients(ours: bool) -> list[NDArray[np.float32]]:
        x = torch.tensor(drawn(2, channels, 9, 9)).contiguous(memory_format=layout)
        weight, bias = (
            torch.tensor(drawn(*shape, seed=1))
            for shape in ((channels, 1, side, side), (channels,))
        )
        inputs = [tensor.requires_grad_() for tensor in (x, weight, bias)]
        if ours:
            y = depthwise(*inputs, stride=stride, padding=side // 2)
        else:
            y = torch.nn.functional.conv2d(*inputs, stride, side // 2, 1, channels)
        (y**2).sum().backward()
        return [y.detach().numpy(), *(tensor.grad.numpy() for tensor in inputs)]

    for found, expected in zip(gradients(True), gradients(False), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)
