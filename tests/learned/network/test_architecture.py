import math

import pytest

from capsieve.learned.network.architecture import (
    BLOCKS,
    HEAD,
    STEM,
    Layer,
    layers_of,
    lower_blocks,
    upper_blocks,
)


def test_sixteen_bottlenecks_shrink_the_image_by_32() -> None:
    everything = (STEM, *BLOCKS, HEAD)
    assert len(BLOCKS) == 16
    assert math.prod(layer.stride for layer in layers_of(everything)) == 32


def test_repeated_bottlenecks_are_added_to_their_input() -> None:
    assert [index for index, block in enumerate(BLOCKS) if block.residual] == [
        2, 4, 6, 7, 9, 10, 12, 13, 14,
    ]  # fmt: skip


@pytest.mark.parametrize("frozen", [0, 5, 16])
def test_lower_and_upper_blocks_are_the_whole(frozen: int) -> None:
    assert lower_blocks(frozen) + upper_blocks(frozen) == (STEM, *BLOCKS, HEAD)


@pytest.mark.parametrize("size", [64, 160])
@pytest.mark.parametrize(("kernel", "stride"), [(1, 1), (3, 1), (5, 1), (3, 2), (5, 2)])
def test_padding_gives_one_output_per_step(size: int, kernel: int, stride: int) -> None:
    first, last = Layer("", kernel=kernel, stride=stride).padding
    assert (size + first + last - kernel) // stride + 1 == math.ceil(size / stride)
    assert 0 <= last - first <= 1
