import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.learned.network.kernels.depthwise import LANES, SIDE, tap_gradients


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
