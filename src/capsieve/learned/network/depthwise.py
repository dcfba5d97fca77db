"""Filters of one channel each, in torch, with a gradient of our own where that is faster."""

from functools import cache
from typing import Any

import numpy as np

from capsieve.learned.network.weights import require_torch

__all__ = ["depthwise"]


def depthwise(x: Any, weight: Any, bias: Any, *, stride: int, padding: int) -> Any:
    """Filter every channel by its own filter.

    Parameters
    ----------
    x
        Tensor, N x C x H x W; fastest with the channels last in memory.
    weight, bias
        C x 1 x k x k, and C.
    stride, padding
        Step of the filter, and zeros around the image, in rows and columns.
    """
    from capsieve.learned.network.kernels.depthwise import LANES, SIDE

    torch = require_torch()
    ours = (
        torch.is_grad_enabled()
        and (x.dtype, x.device.type) == (torch.float32, "cpu")
        and weight.shape[-1] == SIDE
        and len(weight) % LANES == 0
    )
    if ours:
        return _function().apply(x, weight, bias, stride, padding)
    return torch.nn.functional.conv2d(x, weight, bias, stride, padding, 1, len(weight))


@cache
def _function() -> Any:
    """Return the class that tells torch the gradient; made late, since torch is imported late."""
    from capsieve.learned.network.kernels.depthwise import SIDE, tap_gradients

    torch = require_torch()

    class Depthwise(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, weight: Any, bias: Any, stride: int, padding: int) -> Any:
            ctx.save_for_backward(x, weight)
            ctx.steps = stride, padding
            return torch.nn.functional.conv2d(x, weight, bias, stride, padding, 1, len(weight))

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, gradient: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
            x, weight = ctx.saved_tensors
            stride, padding = ctx.steps
            channels = len(weight)
            steps = [stride, stride], [padding, padding], [1, 1], False, [0, 0], channels
            mask = [ctx.needs_input_grad[0], False, False]
            of_x, _, _ = torch.ops.aten.convolution_backward(
                gradient, x, weight, None, *steps, mask
            )
            taps = np.empty((channels, SIDE, SIDE), np.float32)
            tap_gradients(_channels_last(x), _channels_last(gradient), stride, padding, taps)
            of_weight = torch.from_numpy(taps).reshape(weight.shape)
            return of_x, of_weight, gradient.sum((0, 2, 3)), None, None

    return Depthwise


def _channels_last(x: Any) -> Any:
    """Return a tensor as an array N x H x W x C, without a copy where it lies so in memory."""
    return np.ascontiguousarray(x.detach().permute(0, 2, 3, 1).numpy())
