"""Domes: where the surface that the light draws bulges in both directions.

The curvature way, see :mod:`capsieve.curvature.domes`, on the light over its median: exposure does
not matter.
"""

import numpy as np

from capsieve.curvature.domes import Constants, find_domes
from capsieve.learned.features.description import described
from capsieve.learned.features.view import View

__all__ = ["DESCRIPTIONS", "dome_values"]

_SCALES = {"fine": 1 / 40, "coarse": 1 / 25}
"""Standard deviations of the smoothing, in widths of the frame."""

_MEDIAN = 100.0  # grey levels: a common median of frames
_CONSTANTS = Constants(scales=tuple(_SCALES.values()))

DESCRIPTIONS = described(
    "dome",
    *(
        entry
        for scale in _SCALES
        for entry in (
            (
                f"radius-{scale}",
                "share",
                f"How far the largest dome of {scale} structures bulges, as the radius of a "
                "half-ball in widths of the view; 0: none.",
            ),
            (f"turn-{scale}", "half-balls", f"How much of a half-ball that {scale} dome is."),
            (f"area-{scale}", "share", f"Area of that {scale} dome, as a share of the view."),
            (f"shape-{scale}", "0..1", f"Shape of that {scale} dome: 1 a cap, 0.6 nearly a ridge."),
            (f"bend-{scale}", "share", f"How strongly that {scale} dome is bent on average."),
            (f"peak-{scale}", "share", f"The sharpest tip among {scale} domes."),
        )
    ),
)


def dome_values(view: View) -> list[float]:
    """Return the values of :data:`DESCRIPTIONS`."""
    surface = view.light * np.float32(_MEDIAN)
    width = surface.shape[1]
    seen = max(float(view.mask.sum()), 1.0)
    values: list[float] = []
    for found in find_domes(surface, view.mask, _CONSTANTS):
        best = found.best
        if best is None:
            values += [0.0, 0.0, 0.0, 0.0, 0.0, found.peak]
        else:
            bulge = best.radius / width
            values += [bulge, best.total, best.pixels / seen, best.shape, best.curvedness]
            values.append(found.peak)
    return values
