"""Flat, unchanging places near the border of the image: what the surround looks like."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from capsieve.field_of_view.intake import Exam

__all__ = ["MANY_VIEWS", "Surround", "flat_places"]

TILE = 0.05
"""Side of a tile as a share of the image's shorter side."""

FLAT = 6.0
"""Half of a tile's pixels, over all frames, must lie this close to its colour."""

WEIGHTS = (4.0, 1.0, 0.5, 0.25)
"""Of a tile in the corner, next to it, one further, and of other tiles along the border.

A capsule at rest shows flat mucosa along the border, hardly ever in the corners.
"""

MOST_COLOURS = 4

MANY_VIEWS = 6
"""From so many different views on, what stays the same is no part of the gut."""


@dataclass(frozen=True, slots=True)
class Surround:
    """Tiles along the border of the image that have one colour in all frames.

    Parameters
    ----------
    colours
        (n, channels), the one with most tiles first, near repetitions left out.
    numbers
        For every flat tile the number of its colour.
    tiles
        First row, end row, first column, end column of every flat tile.
    weights
        How much every flat tile tells; those in the corners tell most.
    """

    colours: np.ndarray
    numbers: np.ndarray
    tiles: np.ndarray
    weights: np.ndarray

    def ideas(self) -> list[list[int]]:
        """Sets of colours that account for half of the flat tiles or corners, at most six."""
        corner = self.corner_weights()
        found = []
        for count in range(1, len(self.colours) + 1):
            for chosen in combinations(range(len(self.colours)), count):
                mine = np.isin(self.numbers, chosen)
                if any(w[mine].sum() >= 0.5 * max(w.sum(), 1e-9) for w in (self.weights, corner)):
                    found.append(list(chosen))
        return found[:6]

    def corner_weights(self) -> np.ndarray:
        """Weights of the tiles in the corners, 0 for the others; all where no corner is flat."""
        near = self.weights >= WEIGHTS[1]
        return np.where(near, self.weights, 0.0) if near.any() else self.weights

    def centres(self) -> np.ndarray:
        """Centres of the flat tiles, (n, 2)."""
        first, last = self.tiles[:, 0::2], self.tiles[:, 1::2] - 1
        return (first + last) / 2


def flat_places(exam: Exam) -> Surround:
    """Find flat tiles in the two outermost rings of the image.

    Parameters
    ----------
    exam
        The frames. A few views cannot tell smooth mucosa from surround; then only the corners
        are looked at.
    """
    stack = exam.stack
    tiles, places = _rings(stack.shape[-2], stack.shape[-1])
    many = exam.views >= MANY_VIEWS
    colours: list[np.ndarray] = []
    kept, numbers, weights = [], [], []
    for tile, from_corner in zip(tiles, places, strict=True):
        weight = WEIGHTS[min(from_corner, 3)] if from_corner < 3 or many else 0.0
        if weight == 0:
            continue
        part = stack[:, :, tile[0] : tile[1], tile[2] : tile[3]]
        values = np.moveaxis(part, 1, -1).reshape(-1, stack.shape[1])
        colour = np.median(values, axis=0)
        # The median keeps letters and single odd frames out of the judgement.
        if np.median(np.abs(values - colour).max(axis=1)) > FLAT:
            continue
        near = [n for n, other in enumerate(colours) if np.abs(colour - other).max() < 2 * FLAT]
        numbers.append(near[0] if near else len(colours))
        if not near:
            colours.append(colour)
        kept.append(tile)
        weights.append(weight)
    return _ranked(
        np.array(colours, dtype=np.float32).reshape(-1, stack.shape[1]),
        np.array(numbers, dtype=int),
        np.array(kept, dtype=int).reshape(-1, 4),
        np.array(weights),
    )


def _ranked(
    colours: np.ndarray, numbers: np.ndarray, tiles: np.ndarray, weights: np.ndarray
) -> Surround:
    """Order colours by the weight of their tiles, and forget the rare ones."""
    votes = np.bincount(numbers, weights=weights, minlength=len(colours))
    order = np.argsort(-votes, kind="stable")[:MOST_COLOURS]
    rank = np.full(len(colours), -1)
    rank[order] = np.arange(len(order))
    numbers = rank[numbers] if len(numbers) else numbers
    known = numbers >= 0
    return Surround(colours[order], numbers[known], tiles[known], weights[known])


def _rings(rows: int, cols: int) -> tuple[list[tuple[int, int, int, int]], list[int]]:
    """Tiles of the two outermost rings, and how far each lies from the nearest corner."""
    side = max(4, round(TILE * min(rows, cols)))
    down = np.linspace(0, rows, max(4, rows // side) + 1).astype(int)
    across = np.linspace(0, cols, max(4, cols // side) + 1).astype(int)
    tiles, places = [], []
    for i in range(len(down) - 1):
        for j in range(len(across) - 1):
            vertical = min(i, len(down) - 2 - i)
            horizontal = min(j, len(across) - 2 - j)
            if min(vertical, horizontal) < 2:
                tiles.append((down[i], down[i + 1], across[j], across[j + 1]))
                places.append(max(vertical, horizontal))
    return tiles, places
