"""How unlike the surround every pixel is."""

from dataclasses import dataclass

import numpy as np

from capsieve.field_of_view.flat import MANY_VIEWS, Surround
from capsieve.field_of_view.intake import Exam, greatest

__all__ = ["Evidence", "distance_in_full_size", "evidence_maps"]

CAP = 64.0
"""A single frame (a flash, a page of text) may not count for more than this."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A map that is low in the surround and high in the field of view.

    Parameters
    ----------
    map
        Reduced size, float32.
    noise, level
        What the map holds in the surround, and in the bright part of the field.
    colours
        Colours of the surround, (n, channels); none: the map shows change over time.
    """

    map: np.ndarray
    noise: float
    level: float
    colours: np.ndarray


def evidence_maps(exam: Exam, surround: Surround) -> list[Evidence]:
    """Maps to search for the field of view, one per idea of what the surround looks like.

    Every set of colours that accounts for most flat places (a logo or a mark may be left over)
    makes a map; change over time makes another (surrounds with pictures in them, or no surround
    at all).
    """
    stack = exam.stack
    gaps = [
        greatest(np.moveaxis(np.abs(stack - colour[:, None, None]), 1, 0))
        for colour in surround.colours
    ]
    maps = []
    for chosen in surround.ideas():
        gap = np.minimum.reduce([gaps[k] for k in chosen])
        tiles = surround.tiles[np.isin(surround.numbers, chosen)]
        maps.append(_judged(gap, tiles, surround.colours[chosen]))
    if exam.views >= MANY_VIEWS:
        change = greatest(np.moveaxis(np.abs(stack - stack.mean(axis=0)), 1, 0))
        maps.append(_judged(change, surround.tiles, surround.colours[:0]))
    return [m for m in maps if m.level > 6.0 and m.level > 4.0 * m.noise]


def distance_in_full_size(exam: Exam, colours: np.ndarray) -> np.ndarray:
    """The same evidence in full size: root mean square distance to the surround's colour."""
    if len(colours) == 0:
        return exam.spread
    planes = np.moveaxis(exam.mean, -1, 0)
    gaps = [greatest(np.abs(planes - colour[:, None, None])) for colour in colours]
    return np.hypot(np.minimum.reduce(gaps), exam.spread)


def _judged(gap: np.ndarray, tiles: np.ndarray, colours: np.ndarray) -> Evidence:
    """Average over the frames, and measure how low the surround and how high the field is."""
    values = np.minimum(gap, CAP).mean(axis=0)
    quiet = [float(np.median(values[a:b, c:d])) for a, b, c, d in tiles]
    noise = float(np.median(quiet)) if quiet else 1.0
    top = float(np.percentile(values[::2, ::2], 99.5))
    # A small field in a large picture fills no fixed share of it: look above a quarter height.
    bright = values[values >= noise + 0.25 * (top - noise)]
    return Evidence(values.astype(np.float32), noise, float(np.median(bright)), colours)
