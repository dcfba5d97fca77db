"""Artificial frames with known features."""

import numpy as np
from numpy.typing import NDArray

from capsieve.frames import FieldOfView
from capsieve.learned.features.registry import NAMES
from capsieve.learned.features.vector import frame_features

SIZE = 256
FIELD = FieldOfView("circle", 127.5, 127.5, 127.5)
MUCOSA = np.array([170.0, 110.0, 80.0])


def measured(frame: NDArray[np.uint8], field: FieldOfView | None = FIELD) -> dict[str, float]:
    """Return the features of a frame by name."""
    return dict(zip(NAMES, frame_features(frame, field).values.tolist(), strict=True))


def away(row: float, col: float) -> NDArray[np.float64]:
    """Return the distance of each pixel from a place."""
    rows, cols = np.indices((SIZE, SIZE))
    return np.hypot(rows - row, cols - col)


def coloured(light: NDArray[np.float64], *, seed: int = 0, grain: float = 1.0) -> NDArray[np.uint8]:
    """Return mucosa under some light, with a little noise."""
    noise = np.random.default_rng(seed).normal(0.0, grain, (SIZE, SIZE, 1))
    pixels = light[:, :, None] * MUCOSA + noise
    return np.clip(np.rint(pixels), 0, 255).astype(np.uint8)


def disc_frame(
    radius: float, contrast: float, row: float = 110.0, col: float = 140.0
) -> NDArray[np.uint8]:
    """Return even mucosa with a disc that is brighter by log contrast."""
    return coloured(np.where(away(row, col) <= radius, np.exp(contrast), 1.0))


def waves_frame(length: float) -> NDArray[np.uint8]:
    """Return mucosa under waves of that many pixels in both directions."""
    rows, cols = np.indices((SIZE, SIZE))
    turn = 2 * np.pi / length
    return coloured(1 + 0.15 * np.sin(turn * rows) + 0.15 * np.sin(turn * cols))
