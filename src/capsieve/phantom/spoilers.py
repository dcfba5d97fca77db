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
from capsieve.phantom.noise import field, generator, smoothstep

_SIGHT_MM = 70.0  # bubbles farther away are smaller than a pixel or behind a bend
_AROUND_MM = 60
_STRETCHES = 8  # badly cleaned
_LIQUIDS = ((0.10, 0.10, 0.03), (0.22, 0.20, 0.04), (0.34, 0.22, 0.04), (0.30, 0.27, 0.18))
_RESIDUES = ((0.16, 0.11, 0.03), (0.42, 0.28, 0.07), (0.62, 0.48, 0.14), (0.70, 0.64, 0.42))
_LARGEST = 0.22  # greatest radius of a bubble, as a share of the frame's side


@dataclass(frozen=True)
class Spoilers:
    """Bubbles, liquid and stool of one colon."""

    # float32, sorted by s; columns: s, theta, radius in mm, kind (0 a bubble, 1 foam, 2 a crumb).
    bubbles: NDArray[np.float32]
    # Pools of liquid; columns: s, half length, level (in radii), logarithm of the turbidity (1/mm),
    # colour (r, g, b).
    pools: NDArray[Any]
    stains: NDArray[Any]  # stool; columns: s, half length, amount, colour (r, g, b)


@lru_cache(maxsize=8)
def make_spoilers(seed: int) -> Spoilers:
    """Return the spoilers of the colon of a seed: most of them in a few badly cleaned stretches."""
    rng = generator(seed, "spoilers")
    dirty = rng.uniform(0, LENGTH_MM, _STRETCHES)
    bubbles = _bubbles(rng, dirty)
    turbidity = (math.log(0.006), math.log(0.12))
    pools = [
        [*(rng.uniform(*ends) for ends in ((0, LENGTH_MM), (20, 60), (-0.6, 1.3), turbidity)),
         *_colour(rng, _LIQUIDS)]
        for _ in range(rng.poisson(LENGTH_MM / 300))
    ]  # fmt: skip
    stains = [
        [rng.choice(dirty) + rng.normal(0, 40), rng.uniform(8, 24), rng.uniform(0.4, 1.5),
         *_colour(rng, _RESIDUES)]
        for _ in range(rng.poisson(LENGTH_MM / 180))
    ]  # fmt: skip
    return Spoilers(bubbles, np.array(pools).reshape(-1, 7), np.array(stains).reshape(-1, 6))


def _colour(rng: np.random.Generator, palette: tuple[tuple[float, ...], ...]) -> NDArray[Any]:
    """A mixture of two neighbours in a palette of linear RGB, lighter or darker."""
    k = rng.integers(len(palette) - 1)
    one, other = np.array(palette[k : k + 2])
    return (one + rng.uniform() * (other - one)) * rng.uniform(0.7, 1.15)


def _bubbles(rng: np.random.Generator, dirty: NDArray[Any]) -> NDArray[np.float32]:
    """Loose bubbles, foam and crumbs, in groups."""
    rows = [np.zeros((0, 4))]
    for _ in range(rng.poisson(LENGTH_MM / 15)):
        place = rng.choice(dirty) + rng.normal(0, 30)
        bearing, kind = rng.uniform(0, 2 * math.pi), rng.choice((0, 1, 2), p=(0.3, 0.55, 0.15))
        if kind == 1:
            rows.append(_foam(rng, place, bearing))
            continue
        count = int(rng.geometric(0.08 if kind == 0 else 0.03))
        typical = rng.uniform(0.3, 1.0) if kind == 0 else rng.uniform(0.08, 0.25)
        radius = np.minimum(typical * rng.lognormal(0, 0.5, count), 3.5)
        spread = 0.7 * typical * math.sqrt(count) + (0.5 if kind == 0 else 8.0)
        around = rng.normal(0, spread, count) / 14
        s = place + rng.normal(0, spread, count)
        rows.append(np.column_stack([s, bearing + around, radius, np.full(count, kind)]))
    table = np.concatenate(rows)
    return table[np.argsort(table[:, 0], kind="stable")].astype(np.float32)


def _foam(rng: np.random.Generator, place: float, bearing: float) -> NDArray[Any]:
    """Many small bubbles that touch each other, in a patch with a ragged edge."""
    typical, reach = rng.uniform(0.25, 0.65), rng.uniform(4, 17)
    count = math.ceil(reach / typical)
    i, j = np.mgrid[-count : count + 1, -count : count + 1]
    # Dense rows, each shifted by half a bubble, then shaken.
    x, y = typical * 1.75 * (i + 0.5 * (j % 2)), typical * 1.5 * j
    ragged = reach * (0.7 + 0.3 * field(rng, i.shape, max(count / 5, 1)))
    keep = np.hypot(x, y) < ragged
    x, y = (grid[keep] + rng.normal(0, 0.25 * typical, keep.sum()) for grid in (x, y))
    radius = typical * rng.lognormal(-0.1, 0.4, len(x))
    return np.column_stack([place + x, bearing + y / 14, radius, np.ones(len(x))])


def cleanest_place(spoilers: Spoilers, first_mm: float, last_mm: float) -> float:
    """Return the place between two with the least bubbles, crumbs, stool and liquid around it."""
    cover = np.zeros(LENGTH_MM)
    rows = spoilers.bubbles[:, 0].clip(0, LENGTH_MM - 1).astype(int)
    np.add.at(cover, rows, spoilers.bubbles[:, 2] ** 2)
    for s, half_mm, *_ in spoilers.stains:
        cover[max(int(s - 2 * half_mm), 0) : max(int(s + 2 * half_mm), 0)] += 10.0
    for s, half_mm, _, turbidity, *_ in spoilers.pools:
        cover[max(int(s - half_mm), 0) : max(int(s + half_mm), 0)] += 100 * math.exp(turbidity)
    around = np.convolve(cover, np.hanning(2 * _AROUND_MM + 1), mode="same")
    first, last = int(first_mm), max(int(last_mm), int(first_mm) + 1)
    return first + float(np.argmin(around[first:last]))


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
