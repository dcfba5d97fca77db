"""Geometry of the colon: a bent centreline, and a wall with folds that contracts.

A point of the wall has the coordinates s (mm along the centreline) and theta (angle around it).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.noise import field, generator, smoothstep, wave

LENGTH_MM = 1500
ROW_MM = 0.75  # distance of the rows of the wall's maps
COLUMNS = 192
SIGHT_MM = 180.0  # a camera never sees farther along the bent and folded tube
_TIGHTEST = 0.019  # 1/mm: a radius of curvature of 53 mm, so that the tube does not cross itself
_AROUND = 24  # columns
_NARROWEST = 1.2  # mm, radius of a closed lumen


@dataclass(frozen=True)
class Colon:
    """A colon; the maps have rows along s, `ROW_MM` apart, and `COLUMNS` columns around."""

    # One row per millimetre: point, tangent, normal, binormal (x, y, z each). The normal
    # follows by parallel transport, so that theta does not twist.
    line: NDArray[np.float32]
    relaxed: NDArray[np.float32]  # radius R in mm of the relaxed colon
    pleats: NDArray[np.float32]  # what a full contraction adds to R in mm: pillows and creases
    # Two slow fields with standard deviation 1: for colour and for darkness.
    tint: NDArray[np.float32]
    tone: NDArray[np.float32]  # contraction at rest, per row
    # Waves of peristalsis: amplitude, frequency along s (1/mm), frequency in activity, phase.
    waves: NDArray[Any]

    def at(self, s: float) -> NDArray[Any]:
        """Return point, tangent, normal and binormal at s as the rows of a 4 x 3 array."""
        place = min(max(s, 0.0), len(self.line) - 1 - 1e-3)
        low = int(place)
        part = place - low
        rows = self.line[low : low + 2].astype(np.float64)
        return ((1 - part) * rows[0] + part * rows[1]).reshape(4, 3)

    def contraction(self, activity: float, rows: slice = slice(None)) -> NDArray[Any]:
        """Return the contraction per row, 0 (open) to 1 (closed).

        Parameters
        ----------
        activity
            Clock of the gut; it stops when the capsule stands still.
        rows
            Rows to compute.
        """
        s = ROW_MM * np.arange(len(self.tone))[rows]
        amplitude, along, in_time, phase = self.waves.T
        angle = np.multiply.outer(s, along) + in_time * activity + phase
        squeeze = smoothstep(np.sin(angle) @ amplitude, 0.55, 2.3)
        return 1 - (1 - 0.86 * squeeze) * (1 - self.tone[rows])

    def radius(self, activity: float, capsule_mm: float) -> NDArray[np.float32]:
        """Return the map of R at a time of the gut's clock.

        The capsule keeps the lumen open around itself. The map is closed beyond `SIGHT_MM`.
        """
        middle, sight = int(capsule_mm / ROW_MM), int(SIGHT_MM / ROW_MM)
        near = slice(max(middle - sight, 0), middle + sight)
        closed = self.contraction(activity, near).astype(np.float32)[:, np.newaxis]
        s = ROW_MM * np.arange(len(self.tone), dtype=np.float32)[near]
        held = 8.5 * np.exp(-(((s - np.float32(capsule_mm)) / 19) ** 4)).astype(np.float32)
        radius = self.relaxed[near] * (1 - closed)
        radius += self.pleats[near] * (closed * (1 - 0.5 * closed))
        # The capsule pushes the wall outwards; folds and creases remain.
        mean = radius.mean(axis=1, keepdims=True)
        radius += np.maximum(held[:, np.newaxis] - mean, 0)
        out = np.full(self.relaxed.shape, _NARROWEST, np.float32)
        least = np.maximum(np.float32(0.6) * held, np.float32(_NARROWEST))
        out[near] = np.maximum(radius, least[:, np.newaxis])
        return out

    def creases(self, radius: NDArray[np.float32], capsule_mm: float) -> NDArray[np.float32]:
        """Return how deep every place of the map of R lies below its surroundings.

        1 is deep in a crease, where little light arrives; negative is the crest of a fold. It is 0
        beyond `SIGHT_MM`.
        """
        middle, sight = int(capsule_mm / ROW_MM), int(SIGHT_MM / ROW_MM)
        near = slice(max(middle - sight, 0), middle + sight)
        turn = np.pad(radius[near], ((0, 0), (_AROUND, _AROUND)), mode="wrap")
        narrow, wide = (cv2.GaussianBlur(turn, (0, 0), sigma / ROW_MM) for sigma in (1.8, 5.0))
        out = np.zeros(radius.shape, np.float32)
        depth = (0.7 * (turn - narrow) + 0.5 * (turn - wide))[:, _AROUND:-_AROUND]
        out[near] = np.clip(depth, -0.6, 1.6)
        return out


@lru_cache(maxsize=8)
def make_colon(seed: int) -> Colon:
    """Return the colon of a seed."""
    line = _centreline(generator(seed, "centreline"))
    rng = generator(seed, "wall")
    rows = int(LENGTH_MM / ROW_MM) + 1
    shape = (rows, COLUMNS)
    theta = np.arange(COLUMNS) * (2 * np.pi / COLUMNS)
    base = 23.5 + 2.6 * field(rng, (rows,), 90 / ROW_MM)
    radius = np.repeat(base[:, np.newaxis], COLUMNS, axis=1).astype(np.float64)
    # The three taeniae are bands that give the lumen its three corners.
    drift = 0.35 * field(rng, (rows,), 70 / ROW_MM)[:, np.newaxis]
    radius -= 1.6 * np.cos(3 * (theta + drift))
    _add_folds(rng, radius, theta)
    radius += 0.55 * field(rng, shape, 9 / ROW_MM) + 0.16 * field(rng, shape, 3 / ROW_MM)
    from_end = ROW_MM * np.minimum(np.arange(rows), rows - 1 - np.arange(rows))
    radius *= smoothstep(from_end, 0, 30)[:, np.newaxis]
    lobes = rng.integers(5, 9)
    warp = 1.2 * field(rng, shape, (16 / ROW_MM, 14))
    turn = 1.6 * field(rng, (rows, 1), (40 / ROW_MM, 1))
    # Round pillows that touch each other in narrow creases.
    pleats = np.sqrt(np.cos(0.5 * lobes * theta + warp + turn) ** 2 + 0.06)
    s = ROW_MM * np.arange(rows)[:, np.newaxis]
    across = np.pi * s / rng.uniform(14, 26) + 1.1 * field(rng, shape, (12 / ROW_MM, 18))
    pleats *= 1 - rng.uniform(0.2, 0.8) * (1 - np.sqrt(np.cos(across) ** 2 + 0.05))
    depth = 9.0 + 2.5 * field(rng, shape, (14 / ROW_MM, 20))
    amplitude, along, phase = wave(rng, 4, 1 / 40, 1 / 12).T
    waves = np.column_stack([amplitude, along, rng.uniform(-1, 1, 4), phase])
    tone = np.clip(0.48 + 0.16 * field(rng, (rows,), 60 / ROW_MM), 0.05, 0.75)
    tint = [field(rng, shape, 22 / ROW_MM), field(rng, shape, 9 / ROW_MM)]
    return Colon(
        line=line,
        relaxed=np.maximum(radius, _NARROWEST).astype(np.float32),
        pleats=(depth * (0.62 - pleats)).astype(np.float32),
        tint=np.stack(tint, axis=2).astype(np.float32),
        tone=tone.astype(np.float32),
        waves=waves,
    )


def _centreline(rng: np.random.Generator) -> NDArray[np.float32]:
    count = LENGTH_MM + 1
    bends = np.stack([field(rng, (count,), scale) for scale in (28, 32)])
    # The hepatic and the splenic flexure are the sharp bends of every colon.
    s = np.arange(count)
    for place in (0.30, 0.56):
        at = (place + rng.uniform(-0.04, 0.04)) * LENGTH_MM
        turn = rng.uniform(0, 2 * np.pi)
        bump = np.exp(-(((s - at) / 38) ** 2))
        bends[0] += 2.6 * np.cos(turn) * bump
        bends[1] += 2.6 * np.sin(turn) * bump
    bends = 0.0075 * bends
    size = np.hypot(*bends)
    bends *= np.where(size > _TIGHTEST, _TIGHTEST / np.maximum(size, 1e-9), 1)

    frame = np.eye(3)
    table = np.zeros((count, 4, 3))
    for i in range(count):
        table[i, 1:] = frame
        if i:
            table[i, 0] = table[i - 1, 0] + 0.5 * (table[i - 1, 1] + frame[0])
        tangent = frame[0] + bends[0, i] * frame[1] + bends[1, i] * frame[2]
        tangent /= np.linalg.norm(tangent)
        normal = frame[1] - (frame[1] @ tangent) * tangent
        normal /= np.linalg.norm(normal)
        frame = np.stack([tangent, normal, np.cross(tangent, normal)])
    return table.reshape(count, 12).astype(np.float32)


def _add_folds(rng: np.random.Generator, radius: NDArray[Any], theta: NDArray[Any]) -> None:
    """Add the haustral folds: crescents over a third to two thirds of the circumference."""
    s = ROW_MM * np.arange(len(radius))
    place = 12.0
    sector = int(rng.integers(3))
    while place < LENGTH_MM - 12:
        sector += int(rng.integers(1, 3))
        middle = sector * 2 * np.pi / 3 + rng.normal(0, 0.25)
        half = rng.uniform(0.85, 2.1)
        off = np.abs((theta - middle + np.pi) % (2 * np.pi) - np.pi)
        crescent = np.cos(np.minimum(off / half, 1) * (np.pi / 2)) ** 1.2
        lean = 2.4 * np.sin(theta * 2 + rng.uniform(0, 6))
        lean = lean + 4 * rng.uniform(-1, 1) * np.sin(theta + rng.uniform(0, 6))
        first, last = max(int((place - 22) / ROW_MM), 0), int((place + 22) / ROW_MM)
        across = s[first:last, np.newaxis] - place - lean
        width = rng.uniform(1.9, 4.5)
        depth = rng.uniform(3.0, 10.5)
        ridge = np.exp(-((np.abs(across) / width) ** 2.2))
        foot = 0.25 * np.exp(-((across / (2.6 * width)) ** 2))
        radius[first:last] -= depth * crescent * (ridge + foot)
        place += rng.uniform(5, 19)
