"""Examples whose polyps are bright discs: what a network learns in a few steps."""

import numpy as np

from capsieve.learned.training.examples import Examples
from capsieve.statistics.judged import NORMAL, OTHER, POLYP

__all__ = ["disc_frames"]


def disc_frames(count: int = 24, *, size: int = 64, seed: int = 0) -> Examples:
    """Return frames of the sources "round" and "plain"; every sixth is of the second.

    In the first, frames take turns: a polyp (a bright disc), normal, a polyp, another finding
    (dark stripes). The second has normal frames alone.
    """
    rng = np.random.default_rng(seed)
    rows, cols = np.mgrid[:size, :size]
    source = (np.arange(count) % 6 == 5).astype(np.int32)
    turn = np.cumsum(source == 0) % 4
    truth = np.select([source == 1, turn % 2 == 0, turn == 1], [NORMAL, POLYP, NORMAL], OTHER)
    crops = np.empty((count, size, size, 3), np.uint8)
    for frame in range(count):
        light = rng.uniform(70, 110, 3) + 30 * (rows / size)[..., None]
        if truth[frame] == POLYP:
            row, col = rng.uniform(0.35, 0.65, 2) * size
            light = light + 90 * (np.hypot(rows - row, cols - col) < 0.18 * size)[..., None]
        if truth[frame] == OTHER:
            light = light - 40 * (cols // 4 % 2 == 0)[..., None]
        crops[frame] = np.clip(light + rng.normal(0, 4, light.shape), 0, 255)
    shown = truth == POLYP
    return Examples(
        truth=truth.astype(np.int8),
        groups=tuple(f"exam-{number}" for number in range(4)),
        group=(np.arange(count) % 4).astype(np.int32),
        sources=("round", "plain"),
        source=source,
        polyps=("first", "second"),
        polyp=np.where(shown, np.cumsum(shown) % 4 == 0, -1).astype(np.int32),
        findings=("ulcer;erosion", "polyp", "normal"),
        finding=np.select([truth == OTHER, shown], [0, 1], 2).astype(np.int32),
        value_names=(),
        values=np.zeros((count, 0), np.float32),
        crops=crops,
    )
