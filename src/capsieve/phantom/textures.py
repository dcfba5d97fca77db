"""Fine structure of the mucosa as tiles: vessels, grain and relief, in levels of detail.

A tile is periodic. Its rows go along the colon, its columns around it. Each level has half the
rows and columns of the one before, so that a distant wall is sampled without aliasing.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.phantom.noise import field, generator

_WALL_MM = 85.0  # about the circumference of a half contracted colon: samples are square
_POLYP_MM = 24.0
_WALL = 1024
_POLYP = 512
_LEVELS = 5


class Tile(NamedTuple):
    """A tile."""

    # uint8, all levels in one list of samples. The values of a sample are vessel (0 to 255), grain,
    # slope along rows and slope along columns (128: none).
    samples: NDArray[np.uint8]
    # Rows and columns of the first level; width of the tile.
    size: int
    width_mm: np.float32


class Tiles(NamedTuple):
    """Tiles of the wall and of polyps."""

    wall: Tile
    polyp: Tile


@lru_cache(maxsize=4)
def make_tiles(variant: int) -> Tiles:
    """Return a set of tiles; exams of the same variant share it."""
    rng = generator(variant, "tiles")
    vessels = _vessels(rng, _WALL, trees=60, length=90, thick=2.6)
    coarse, fine = field(rng, (_WALL, _WALL), 7.0), field(rng, (_WALL, _WALL), 2.4)
    grain = 0.4 * coarse + 0.9 * fine
    # The innominate grooves of the colon: fine furrows.
    furrows = np.abs(field(rng, (_WALL, _WALL), (6.0, 9.0)))
    relief = 0.7 * coarse + 0.45 * fine + 1.1 * np.sqrt(furrows + 0.02)
    wall = _packed(vessels, grain, relief)

    net = _vessels(rng, _POLYP, trees=60, length=40, thick=2.8)
    pits = _pits(rng, _POLYP)
    lumps = field(rng, (_POLYP, _POLYP), 22)
    polyp = _packed(net, pits + 0.5 * lumps, 2.0 * pits + 2.2 * lumps)
    return Tiles(
        wall=Tile(_levels(wall), _WALL, np.float32(_WALL_MM)),
        polyp=Tile(_levels(polyp), _POLYP, np.float32(_POLYP_MM)),
    )


def _vessels(
    rng: np.random.Generator, size: int, *, trees: int, length: float, thick: float
) -> NDArray[Any]:
    """Draw branching trees, thick branches darker; 0..1."""
    canvas = np.zeros((size, size), np.float32)
    for _ in range(trees):
        start = rng.uniform(0, size, 2)
        _grow(rng, canvas, start, rng.uniform(0, 2 * math.pi), thick * rng.uniform(0.5, 1), length)
    return np.clip(_blur(canvas, 0.8), 0, 1)


def _grow(
    rng: np.random.Generator,
    canvas: NDArray[Any],
    start: NDArray[Any],
    heading: float,
    thick: float,
    length: float,
) -> None:
    """Draw a branch as a random line, then its two daughters by Murray's law."""
    place = start
    walked = 0.0
    while walked < length:
        step = 5.0
        heading += rng.normal(0, 0.16)
        end = place + step * np.array([math.cos(heading), math.sin(heading)])
        _line(canvas, place, end, thick)
        place = end
        walked += step
    if thick < 0.55:
        return
    share = rng.uniform(0.3, 0.7)
    for part, side in ((share, 1), (1 - share, -1)):
        daughter = thick * part ** (1 / 3) * 0.92
        turn = side * rng.uniform(0.25, 0.9) * (1.2 - 0.5 * part)
        _grow(rng, canvas, place, heading + turn, daughter, length * rng.uniform(0.6, 0.95))


def _line(canvas: NDArray[Any], start: NDArray[Any], end: NDArray[Any], thick: float) -> None:
    """Draw a line on a periodic canvas."""
    size = len(canvas)
    shift = np.floor(start / size) * size
    shade = float(min(0.30 + 0.22 * thick, 1.0))
    for row in (0, -size, size):
        for col in (0, -size, size):
            a, b = start - shift + (row, col), end - shift + (row, col)
            if min(*a, *b) > -20 and max(*a, *b) < size + 20:
                ends = [(round(16 * float(p[1])), round(16 * float(p[0]))) for p in (a, b)]
                cv2.line(canvas, ends[0], ends[1], shade, max(round(thick), 1), cv2.LINE_8, 4)


def _pits(rng: np.random.Generator, size: int) -> NDArray[Any]:
    """Pit pattern of a polyp: the distance to the nearest of many random points."""
    points = rng.integers(0, size, (int(size * size / 300), 2))
    seeds = np.full((size, size), 255, np.uint8)
    seeds[points[:, 0], points[:, 1]] = 0
    wide = np.pad(seeds, 32, mode="wrap")
    away = cv2.distanceTransform(wide, cv2.DIST_L2, 5)[32:-32, 32:-32]
    away = _blur(away, 1.0)
    return ((away - away.mean()) / away.std()).astype(np.float32)


def _blur(tile: NDArray[Any], sigma: float) -> NDArray[Any]:
    return cv2.GaussianBlur(np.pad(tile, 16, mode="wrap"), (0, 0), sigma)[16:-16, 16:-16]


def _packed(vessels: NDArray[Any], grain: NDArray[Any], relief: NDArray[Any]) -> NDArray[np.uint8]:
    """Vessel, grain and the two slopes of the relief as bytes."""
    slopes = [(np.roll(relief, -1, axis) - np.roll(relief, 1, axis)) / 2 for axis in (0, 1)]
    grain = grain / grain.std()
    scale = 1 / max(float(np.std(slopes)), 1e-6)
    values = [255 * vessels, 128 + 36 * grain, *(128 + 36 * scale * slope for slope in slopes)]
    return np.clip(np.rint(np.stack(values, axis=2)), 0, 255).astype(np.uint8)


def _levels(tile: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The tile and its reductions by 2, as one list of samples."""
    levels = [tile]
    for _ in range(_LEVELS - 1):
        last = levels[-1].astype(np.uint16)
        half = last[::2, ::2] + last[1::2, ::2] + last[::2, 1::2] + last[1::2, 1::2] + 2
        levels.append((half // 4).astype(np.uint8))
    return np.concatenate([level.reshape(-1, 4) for level in levels])
