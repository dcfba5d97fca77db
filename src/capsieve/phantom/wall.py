"""The wall of the colon: radius R over (s, theta), with haustral folds, and how it contracts."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.noise import field, generator, smoothstep, wave

__all__ = ["COLUMNS", "ROW_MM", "SIGHT_MM", "Wall", "make_wall"]

ROW_MM = 0.75
SIGHT_MM = 180.0  # farther than any camera sees along a bent tube with folds
COLUMNS = 192
_NARROWEST = 1.2  # mm: what a closed lumen leaves open


@dataclass(frozen=True)
class Wall:
    """The wall of one colon.

    Attributes
    ----------
    relaxed
        float32, R in mm of the relaxed colon; rows along s (`ROW_MM` apart), columns around.
    pleats
        float32, what a full contraction adds to R in mm: lengthwise pleats.
    tint
        float32, two slow fields of deviation 1 over the same grid: for colour, for darkness.
    tone, waves
        The contraction along s at rest, and the waves of peristalsis: amplitude, frequency along s
        (1/mm), frequency in activity, phase.
    """

    relaxed: NDArray[np.float32]
    pleats: NDArray[np.float32]
    tint: NDArray[np.float32]
    tone: NDArray[np.float32]
    waves: NDArray[Any]

    def contraction(self, activity: float, rows: slice = slice(None)) -> NDArray[Any]:
        """Return per row of the map how far the colon is contracted: 0 wide open, 1 closed.

        Parameters
        ----------
        activity
            The clock of the gut, which stands where the capsule stands.
        rows
            The rows that are asked for.
        """
        s = ROW_MM * np.arange(len(self.tone))[rows]
        amplitude, along, in_time, phase = self.waves.T
        angle = np.multiply.outer(s, along) + in_time * activity + phase
        squeeze = smoothstep(np.sin(angle) @ amplitude, 0.55, 2.3)
        return 1 - (1 - 0.86 * squeeze) * (1 - self.tone[rows])

    def radius(self, activity: float, capsule_mm: float) -> NDArray[np.float32]:
        """Return the map of R at one state of the gut.

        The capsule holds it open where it is. Beyond its sight the map is left closed.
        """
        middle, sight = int(capsule_mm / ROW_MM), int(SIGHT_MM / ROW_MM)
        near = slice(max(middle - sight, 0), middle + sight)
        closed = self.contraction(activity, near).astype(np.float32)[:, np.newaxis]
        s = ROW_MM * np.arange(len(self.tone), dtype=np.float32)[near]
        held = 8.5 * np.exp(-(((s - np.float32(capsule_mm)) / 19) ** 4)).astype(np.float32)
        radius = self.relaxed[near] * (1 - closed)
        radius += self.pleats[near] * (closed * (1 - 0.5 * closed))
        out = np.full(self.relaxed.shape, _NARROWEST, np.float32)
        out[near] = np.maximum(radius, np.maximum(held, np.float32(_NARROWEST))[:, np.newaxis])
        return out


@lru_cache(maxsize=8)
def make_wall(seed: int, length_mm: int) -> Wall:
    """Return the wall of one colon."""
    rng = generator(seed, "wall")
    rows = int(length_mm / ROW_MM) + 1
    shape = (rows, COLUMNS)
    base = 23.5 + 2.6 * field(rng, (rows,), 90 / ROW_MM)
    radius = np.repeat(base[:, np.newaxis], COLUMNS, axis=1).astype(np.float64)
    theta = np.arange(COLUMNS) * (2 * np.pi / COLUMNS)
    _add_bands(rng, radius, theta)
    _add_folds(rng, radius, theta, length_mm)
    radius += 0.55 * field(rng, shape, 9 / ROW_MM) + 0.16 * field(rng, shape, 3 / ROW_MM)
    radius *= smoothstep(np.minimum(np.arange(rows), rows - 1 - np.arange(rows)) * ROW_MM, 0, 30)[
        :, np.newaxis
    ]
    lobes = rng.integers(5, 9)
    warp = 0.8 * field(rng, shape, (16 / ROW_MM, 14))
    drift = 1.6 * field(rng, (rows, 1), (40 / ROW_MM, 1))
    pleats = np.sqrt(np.cos(0.5 * lobes * theta + warp + drift) ** 2 + 0.03)
    depth = 8.5 + 2.5 * field(rng, shape, (14 / ROW_MM, 20))
    waves = wave(rng, 4, 1 / 40, 1 / 12)
    along = np.column_stack([waves[:, 0], waves[:, 1], rng.uniform(-1, 1, 4), waves[:, 2]])
    tone = np.clip(0.48 + 0.16 * field(rng, (rows,), 60 / ROW_MM), 0.05, 0.75)
    return Wall(
        relaxed=np.maximum(radius, _NARROWEST).astype(np.float32),
        pleats=(depth * (pleats - 0.25)).astype(np.float32),
        tint=np.stack(
            [field(rng, shape, 22 / ROW_MM), field(rng, shape, 9 / ROW_MM)], axis=2
        ).astype(np.float32),
        tone=tone.astype(np.float32),
        waves=along,
    )


def _add_bands(rng: np.random.Generator, radius: NDArray[Any], theta: NDArray[Any]) -> None:
    """Press in the three taeniae, which give the lumen its three corners."""
    drift = 0.35 * field(rng, (len(radius),), 70 / ROW_MM)[:, np.newaxis]
    radius -= 1.6 * np.cos(3 * (theta + drift))


def _add_folds(
    rng: np.random.Generator,
    radius: NDArray[Any],
    theta: NDArray[Any],
    length_mm: int,
) -> None:
    """Raise the haustral folds: crescents that span a third to two thirds of the way around."""
    s = ROW_MM * np.arange(len(radius))
    place = 12.0
    sector = int(rng.integers(3))
    while place < length_mm - 12:
        sector += int(rng.integers(1, 3))
        middle = sector * 2 * np.pi / 3 + rng.normal(0, 0.25)
        half = rng.uniform(0.85, 2.1)
        off = np.abs((theta - middle + np.pi) % (2 * np.pi) - np.pi)
        crescent = np.cos(np.minimum(off / half, 1) * (np.pi / 2)) ** 1.2
        lean = 2.4 * np.sin(theta * 2 + rng.uniform(0, 6)) + 4 * rng.uniform(-1, 1) * np.sin(
            theta + rng.uniform(0, 6)
        )
        near = slice(
            max(int((place - 22) / ROW_MM), 0), min(int((place + 22) / ROW_MM), len(radius))
        )
        across = s[near, np.newaxis] - place - lean
        width = rng.uniform(1.9, 4.0)
        depth = rng.uniform(3.0, 9.5)
        ridge = np.exp(-((np.abs(across) / width) ** 2.2))
        foot = 0.25 * np.exp(-((across / (2.6 * width)) ** 2))
        radius[near] -= depth * crescent * (ridge + foot)
        place += rng.uniform(9, 26)
