"""Bubbles on the wall, turbid liquid with a level, and stool.

They belong to places of the colon, so their amount does not depend on the number of frames.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.camera import Lens
from capsieve.phantom.colon import COLUMNS, LENGTH_MM, ROW_MM, Colon
from capsieve.phantom.motion import Pose
from capsieve.phantom.noise import generator, smoothstep

__all__ = ["Spoilers", "bubbles_in_view", "liquid_at", "make_spoilers", "stool_at"]

_SIGHT_MM = 70.0  # bubbles farther away are smaller than a pixel or behind a bend
_LARGEST = 0.22  # greatest radius of a bubble, as a share of the frame's side


@dataclass(frozen=True)
class Spoilers:
    """Bubbles, liquid and stool of one colon."""

    # float32, sorted by s; columns: s, theta, radius in mm, foam (0 or 1).
    bubbles: NDArray[np.float32]
    # Pools of liquid; columns: s, half length, level (in radii), logarithm of the turbidity (1/mm),
    # colour (r, g, b).
    pools: NDArray[Any]
    stains: NDArray[Any]  # stool; columns: s, half length, amount, colour (r, g, b)


@lru_cache(maxsize=8)
def make_spoilers(seed: int) -> Spoilers:
    """Return the spoilers of the colon of a seed."""
    rng = generator(seed, "spoilers")
    bubbles = _bubbles(rng)
    turbidity = (math.log(0.012), math.log(0.09))
    pools = [
        [*(rng.uniform(*ends) for ends in ((0, LENGTH_MM), (20, 60), (-0.6, 1.3), turbidity)),
         *(np.array([0.36, 0.25, 0.05]) * rng.uniform(0.7, 1.1) + rng.normal(0, 0.03, 3))]
        for _ in range(rng.poisson(LENGTH_MM / 300))
    ]  # fmt: skip
    stains = [
        [*(rng.uniform(*ends) for ends in ((0, LENGTH_MM), (10, 28), (0.3, 1.5))),
         *(np.array([0.62, 0.40, 0.10]) * rng.uniform(0.6, 1.1) + rng.normal(0, 0.03, 3))]
        for _ in range(rng.poisson(LENGTH_MM / 380))
    ]  # fmt: skip
    return Spoilers(bubbles, np.array(pools).reshape(-1, 7), np.array(stains).reshape(-1, 6))


def _bubbles(rng: np.random.Generator) -> NDArray[np.float32]:
    rows = [np.zeros((0, 4))]
    for _ in range(rng.poisson(LENGTH_MM / 80)):
        place, bearing = rng.uniform(0, LENGTH_MM), rng.uniform(0, 2 * math.pi)
        foam = float(rng.uniform() < 0.5)
        count = int(rng.uniform(80, 420)) if foam else int(rng.geometric(0.08))
        typical = rng.uniform(0.3, 0.9) if foam else rng.uniform(0.3, 1.2)
        radius = np.minimum(typical * rng.lognormal(0, 0.5, count), 4.0)
        spread = (0.9 if foam else 0.7) * typical * math.sqrt(count) + 0.5
        around = rng.normal(0, spread, count) / 14
        s = place + rng.normal(0, spread, count)
        rows.append(np.column_stack([s, bearing + around, radius, np.full(count, foam)]))
    table = np.concatenate(rows)
    return table[np.argsort(table[:, 0], kind="stable")].astype(np.float32)


def liquid_at(
    spoilers: Spoilers, s_mm: float, colon: Colon, radius: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the liquid at s: turbidity (1/mm, 0 for none), level (z in mm), colour."""
    near = np.abs(spoilers.pools[:, 0] - s_mm) / spoilers.pools[:, 1]
    if near.min(initial=1) >= 1:
        return np.zeros(5, np.float32)
    _, _, filling, turbidity, *colour = spoilers.pools[int(np.argmin(near))]
    # The level falls towards the ends of a pool, so that it does not jump there.
    depth = float(smoothstep(1 - near.min(), 0, 0.35))
    reach = float(np.mean(radius[int(s_mm / ROW_MM)]))
    level = colon.at(s_mm)[0, 2] + reach * (-1.1 + depth * (filling + 1.1))
    return np.array([math.exp(turbidity), level, *colour], np.float32)


def stool_at(spoilers: Spoilers, s_mm: float) -> NDArray[np.float32]:
    """Return the stool at s: its s, half length (0 for none), amount, colour."""
    near = np.abs(spoilers.stains[:, 0] - s_mm) / spoilers.stains[:, 1]
    if near.min(initial=5) > 4:
        return np.zeros(6, np.float32)
    return spoilers.stains[int(np.argmin(near))].astype(np.float32)


def bubbles_in_view(
    spoilers: Spoilers, pose: Pose, lens: Lens, colon: Colon, radius: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the bubbles on a frame: row, column, radius, distance, foam; the farthest first."""
    s = spoilers.bubbles[:, 0]
    span = slice(*np.searchsorted(s, [pose.s_mm - _SIGHT_MM, pose.s_mm + _SIGHT_MM]))
    found = spoilers.bubbles[span].astype(np.float64)
    found = found[(found[:, 0] > 1) & (found[:, 0] < LENGTH_MM - 1)]
    rows = (found[:, 0] / ROW_MM).astype(int)
    cols = np.floor(found[:, 1] / (2 * math.pi) * COLUMNS).astype(int) % COLUMNS
    frames = colon.line[found[:, 0].astype(int)].astype(np.float64).reshape(-1, 4, 3)
    outward = np.cos(found[:, 1:2]) * frames[:, 2] + np.sin(found[:, 1:2]) * frames[:, 3]
    along = (found[:, 0] % 1)[:, np.newaxis] * frames[:, 1]
    lift = radius[rows, cols].astype(np.float64) - 0.7 * found[:, 2]
    away = frames[:, 0] + along + lift[:, np.newaxis] * outward - pose.position
    distance = np.maximum(np.linalg.norm(away, axis=1), 1.5)
    places = lens.project(away @ pose.rotation)
    size = found[:, 2] / distance * lens.pixels_per_radian
    size = np.minimum(size, _LARGEST * lens.size)
    shown = np.column_stack([places, size, distance - 1.2, found[:, 3]])
    reach = (size > 1.2 * lens.size / 512) & (np.abs(places - lens.size / 2).max(1) < lens.size)
    order = np.argsort(-distance[reach], kind="stable")
    return shown[reach][order].astype(np.float32)
