"""The table of EfficientNet-Lite0, from which training and running build the same network.

EfficientNet-Lite is EfficientNet (Tan and Le, 2019, arXiv:1905.11946, table 1) without
squeeze-and-excitation and with ReLU6 in place of swish; stem and head are not scaled. An inverted
bottleneck (MBConv; Sandler et al., 2018, arXiv:1801.04381) widens by 1 x 1, filters each channel by
k x k, narrows by 1 x 1 without an activation, and is added to its input where the shapes agree.
"""

from dataclasses import dataclass

__all__ = [
    "BLOCKS",
    "FEATURES",
    "HEAD",
    "IMAGE_CENTRE",
    "IMAGE_SCALE",
    "STEM",
    "STRIDE",
    "Block",
    "Layer",
    "layers_of",
    "lower_blocks",
    "upper_blocks",
]

FEATURES = 1280
"""Channels of the last feature map."""
STRIDE = 32
"""Pixels of the image per pixel of the last feature map: image sizes are multiples of it."""
IMAGE_CENTRE, IMAGE_SCALE = 127.0, 128.0
"""The network was trained on (x - 127) / 128 for x in 0..255."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution, its batch norm and its activation.

    Attributes
    ----------
    kernel, stride
        Side of the filter, and its step.
    groups
        As many as channels where each channel is filtered on its own, else 1.
    clipped
        Whether ReLU6 follows: min(max(x, 0), 6).
    """

    name: str
    kernel: int = 1
    stride: int = 1
    groups: int = 1
    clipped: bool = True

    @property
    def padding(self) -> tuple[int, int]:
        """Zeros before and after, in rows and in columns.

        TensorFlow's "same" padding, which the weights were trained with: with a step of 2 on an
        even size one zero less stands before than after.
        """
        total = self.kernel - self.stride if self.stride > 1 else self.kernel - 1
        return total // 2, total - total // 2


@dataclass(frozen=True, slots=True)
class Block:
    """Layers one after the other; the input is added to what comes out where `residual`."""

    layers: tuple[Layer, ...]
    residual: bool = False


# Times, kernel, stride of the first, expansion, channels in and out.
_STAGES = (
    (1, 3, 1, 1, 32, 16),
    (2, 3, 2, 6, 16, 24),
    (2, 5, 2, 6, 24, 40),
    (3, 3, 2, 6, 40, 80),
    (3, 5, 1, 6, 80, 112),
    (4, 5, 2, 6, 112, 192),
    (1, 3, 1, 6, 192, 320),
)


def _bottleneck(
    index: int, kernel: int, stride: int, expansion: int, wide: tuple[int, int]
) -> Block:
    """Return an inverted bottleneck from and to so many channels."""
    channels = wide[0] * expansion
    expand = (Layer(f"{index}.expand"),) if expansion > 1 else ()
    depthwise = Layer(f"{index}.depthwise", kernel=kernel, stride=stride, groups=channels)
    project = Layer(f"{index}.project", clipped=False)
    return Block((*expand, depthwise, project), residual=stride == 1 and wide[0] == wide[1])


def _bottlenecks() -> tuple[Block, ...]:
    blocks: list[Block] = []
    for times, kernel, stride, expansion, before, after in _STAGES:
        for repeat in range(times):
            first = repeat == 0
            wide = (before if first else after, after)
            blocks.append(_bottleneck(len(blocks), kernel, stride if first else 1, expansion, wide))
    return tuple(blocks)


STEM = Block((Layer("stem", kernel=3, stride=2),))
BLOCKS = _bottlenecks()
"""The 16 inverted bottlenecks."""
HEAD = Block((Layer("head"),))


def lower_blocks(frozen: int) -> tuple[Block, ...]:
    """Return the stem and the first bottlenecks."""
    return (STEM, *BLOCKS[:frozen])


def upper_blocks(frozen: int) -> tuple[Block, ...]:
    """Return the other bottlenecks and the head."""
    return (*BLOCKS[frozen:], HEAD)


def layers_of(blocks: tuple[Block, ...]) -> tuple[Layer, ...]:
    """Return the layers of blocks, in the order of their work."""
    return tuple(layer for block in blocks for layer in block.layers)
