"""Fewer points on a curve, the same shape."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_POINTS", "thinned"]

MOST_POINTS = 500

Floats = NDArray[np.float64]


def thinned(
    x: Floats, y: Floats, *, most: int = MOST_POINTS, keep: Sequence[int] = ()
) -> NDArray[np.intp]:
    """Return the places of points that draw the same curve.

    Points on the straight line between their neighbours go first: without them the curve is
    exactly the same. If there are still too many, points are taken at even steps along the curve,
    both axes counted in the curve's own extent. With n points no left-out point then lies farther
    than 2 / n of an axis from the nearest that stays.

    Parameters
    ----------
    x, y
        The curve, in order. Points that are not numbers are left out.
    most
        How many points to keep, beside `keep`.
    keep
        Places that stay: operating points.
    """
    places = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    wanted = np.intersect1d(np.asarray(keep, dtype=np.intp), places)
    if places.size > 2:
        places = places[_moves(x[places], y[places])]
        places = places[_bends(x[places], y[places])]
    if places.size > most:
        way = np.cumsum(_steps(x[places]) + _steps(y[places]))
        targets = np.linspace(0.0, way[-1], most)
        places = places[np.unique(np.searchsorted(way, targets, side="left").clip(0, way.size - 1))]
    return np.union1d(places, wanted)


def _moves(x: Floats, y: Floats) -> NDArray[np.bool_]:
    """Which points are not the point before once more; the first stays."""
    return np.concatenate([[True], (np.diff(x) != 0) | (np.diff(y) != 0)])


def _bends(x: Floats, y: Floats) -> NDArray[np.bool_]:
    """Which points do not lie on the line between their neighbours; both ends stay."""
    before = np.diff(x)[:-1] * np.diff(y)[1:]
    after = np.diff(x)[1:] * np.diff(y)[:-1]
    turn = ~np.isclose(before, after, rtol=1e-9, atol=1e-15)
    back = (np.diff(x)[:-1] * np.diff(x)[1:] < 0) | (np.diff(y)[:-1] * np.diff(y)[1:] < 0)
    return np.concatenate([[True], turn | back, [True]])[: x.size]


def _steps(values: Floats) -> Floats:
    """How far each point lies from the one before, in the curve's extent."""
    extent = float(np.ptp(values)) or 1.0
    return np.abs(np.diff(values, prepend=values[:1])) / extent
