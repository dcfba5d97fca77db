"""Places for the labels of features, so that no label covers another."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["label_places"]

_DIRECTIONS = 16
_STEPS = 8


def label_places(
    anchors: Sequence[tuple[float, float]],
    boxes: Sequence[tuple[float, float]],
    occupied: NDArray[np.bool_],
) -> list[tuple[float, float] | None]:
    """Find a centre for each label, near its anchor and off the occupied pixels.

    Labels are placed in the order given: the first ones get the best places.

    Parameters
    ----------
    anchors
        (row, col) of what each label belongs to.
    boxes
        (rows, cols) that each label takes.
    occupied
        Pixels that a label should rather not cover; its shape is the room for the labels.

    Returns
    -------
    list
        (row, col) of each label's centre; None where every place would cover another label.
    """
    covered = np.pad(occupied, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
    taken: list[tuple[float, float, float, float]] = []
    places: list[tuple[float, float] | None] = []
    for anchor, box in zip(anchors, boxes, strict=True):
        best: tuple[float, float] | None = None
        least = math.inf
        for place in _candidates(anchor, box):
            bounds = _bounds(place, box)
            if not _inside(bounds, occupied.shape) or any(_meet(bounds, one) for one in taken):
                continue
            cost = _gap(anchor, bounds) / box[0] + 12.0 * _share(covered, bounds)
            if cost < least:
                best, least = place, cost
        places.append(best)
        if best is not None:
            taken.append(_bounds(best, box))
    return places


def _candidates(anchor: tuple[float, float], box: tuple[float, float]) -> list[tuple[float, float]]:
    """Rings around the anchor; never on it, where the centre of mass is marked."""
    found = []
    for step in range(1, _STEPS + 1):
        for k in range(_DIRECTIONS):
            angle = 2 * math.pi * k / _DIRECTIONS
            row = anchor[0] - math.sin(angle) * box[0] * (0.5 + 0.6 * step)
            col = anchor[1] + math.cos(angle) * (box[1] / 2 + box[0] * 0.6 * step)
            found.append((row, col))
    return found


def _bounds(
    place: tuple[float, float], box: tuple[float, float]
) -> tuple[float, float, float, float]:
    top, left = place[0] - box[0] / 2, place[1] - box[1] / 2
    return top, left, top + box[0], left + box[1]


def _inside(bounds: tuple[float, float, float, float], shape: tuple[int, ...]) -> bool:
    top, left, bottom, right = bounds
    return top >= 0 and left >= 0 and bottom <= shape[0] and right <= shape[1]


def _gap(anchor: tuple[float, float], bounds: tuple[float, float, float, float]) -> float:
    """Distance from the anchor to the nearest edge of the box."""
    top, left, bottom, right = bounds
    away_row = max(top - anchor[0], anchor[0] - bottom, 0.0)
    away_col = max(left - anchor[1], anchor[1] - right, 0.0)
    return math.hypot(away_row, away_col)


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _share(covered: NDArray[np.int_], bounds: tuple[float, float, float, float]) -> float:
    """Share of the occupied pixels in the box, from the summed-area table."""
    top, left = int(bounds[0]), int(bounds[1])
    bottom, right = max(math.ceil(bounds[2]), top + 1), max(math.ceil(bounds[3]), left + 1)
    total = (
        covered[bottom, right] - covered[top, right] - covered[bottom, left] + covered[top, left]
    )
    return float(total) / ((bottom - top) * (right - left))
