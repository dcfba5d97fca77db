from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.learned.network.depthwise import depthwise

torch = pytest.importorskip("torch")


def drawn(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


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


def inputs(kind: Any = torch.float32) -> list[Any]:
    shapes = (2, 32, 9, 9), (32, 1, 5, 5), (32,)
    return [
        torch.tensor(drawn(*shape, seed=len(shape)), dtype=kind, requires_grad=True)
        for shape in shapes
    ]


def test_numbers_of_double_precision_keep_it() -> None:
    assert torch.autograd.gradcheck(
        lambda *of: depthwise(*of, stride=1, padding=2), inputs(torch.float64), fast_mode=True
    )


def test_a_second_derivative_is_refused() -> None:
    x, weight, bias = inputs()
    y = depthwise(x, weight, bias, stride=1, padding=2)
    (first,) = torch.autograd.grad((y**2).sum(), weight, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
