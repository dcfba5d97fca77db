"""Highlights, bubbles and the dark: what lies on the mucosa, and where nothing is seen."""

import math
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.learned.features.description import described
from capsieve.learned.features.kernels.statistics import count_beyond, count_peaks, zone_sums
from capsieve.learned.features.outline import Outline
from capsieve.learned.features.planes import Plane, blurred, halved, quantiles
from capsieve.learned.features.view import View

__all__ = ["DESCRIPTIONS", "spot_values"]

DESCRIPTIONS = described(
    "spots",
    (
        "highlight-share",
        "share",
        "Share of the view that is a highlight, a mirror image of a lamp.",
    ),
    ("highlight-count", "log", "How many highlights there are; log(1 + count)."),
    ("bubbles", "log", "How many small bright round spots there are; log(1 + count)."),
    ("pits", "log", "How many small dark round spots there are; log(1 + count)."),
    ("bright", "log", "Brightest part of the view against the typical one."),
    ("dark-share", "share", "Share of the view that is dark: the lumen, or far away."),
    ("lumen", "log", "Darkness of the darkest large region: the lumen."),
    ("lumen-distance", "0..1", "Distance of that region from the centre of the view."),
    ("middle", "log", "Brightness of the middle of the view against its outer part."),
)

_HIGHLIGHT = 0.30  # of the median: how far above its surround a highlight is
_WIDEST = np.ones((9, 9), np.uint8)  # a brighter region as wide as this is no highlight
_BUBBLE = np.float32(0.03)
_DARK = 0.45
_NEIGHBOURS = np.ones((5, 5), np.uint8)
_WITHIN = 0.85  # radii of the mask: where the lumen is looked for
_MIDDLE, _OUTER = 0.5, 0.7  # radii of the mask


def spot_values(view: View) -> list[float]:
    """Return the values of :data:`DESCRIPTIONS`."""
    seen, highlights = view.outline, _highlights(view)
    inside = view.inside(view.gray)
    middle, high = max(view.gray_median, 1.0), quantiles(inside, 0.95)[0]
    band = view.fine - blurred(view.light, 3.0)
    around = cv2.dilate(band, _NEIGHBOURS), cv2.erode(band, _NEIGHBOURS)
    bubbles, pits = count_peaks(band, *around, _BUBBLE, seen.starts, seen.stops)
    dark, _ = count_beyond(inside, _DARK * middle, np.inf)
    wide = blurred(halved(view.gray), 4.0)
    distance = _halved_distance(seen)
    wide[distance > _WITHIN] = np.inf
    row, col = divmod(int(wide.argmin()), wide.shape[1])
    near, nears, far, fars = zone_sums(
        view.gray, view.distance, _MIDDLE, _OUTER, seen.starts, seen.stops
    )
    return [
        float(np.count_nonzero(highlights) / seen.count),
        math.log1p(_count(highlights)),
        math.log1p(bubbles),
        math.log1p(pits),
        math.log((high + 1.0) / (middle + 1.0)),
        dark / inside.size,
        math.log(max(float(wide[row, col]) / middle, 0.02)),
        float(distance[row, col]),
        math.log((near / max(nears, 1) + 1.0) / (far / max(fars, 1) + 1.0)),
    ]


def _highlights(view: View) -> NDArray[np.bool_]:
    """Return where highlights are: small, white and far brighter than what is around."""
    level = max(view.gray_median, 1.0)
    excess = cv2.morphologyEx(view.white, cv2.MORPH_TOPHAT, _WIDEST)
    return view.mask & (excess > _HIGHLIGHT * level)


def _count(highlights: NDArray[np.bool_]) -> int:
    """Count the highlights; most frames have none."""
    if not highlights.any():
        return 0
    return cv2.connectedComponents(highlights.astype(np.uint8), connectivity=8)[0] - 1


@lru_cache(maxsize=32)
def _halved_distance(seen: Outline) -> Plane:
    return halved(seen.distance)
