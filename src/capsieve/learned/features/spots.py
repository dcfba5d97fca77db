"""Highlights, bubbles and the dark: what lies on the mucosa, and where nothing is seen."""

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.learned.features.description import described
from capsieve.learned.features.view import View, blurred, halved, quantiles

__all__ = ["DESCRIPTIONS", "highlights_of", "spot_values"]

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
_BUBBLE = 0.03
_DARK = 0.45


def highlights_of(view: View) -> NDArray[np.bool_]:
    """Return where highlights are: small, white and far brighter than what is around."""
    level = max(quantiles(view.gray[view.mask], 0.5)[0], 1.0)
    excess = cv2.morphologyEx(view.white, cv2.MORPH_TOPHAT, _WIDEST)
    return view.mask & (excess > _HIGHLIGHT * level)


def spot_values(view: View, highlights: NDArray[np.bool_]) -> list[float]:
    """Return the values of :data:`DESCRIPTIONS`."""
    marks = highlights.astype(np.uint8)
    count = cv2.connectedComponents(marks, connectivity=8)[0] - 1
    inside = view.gray[view.mask]
    middle, high = quantiles(inside, 0.5, 0.95)
    middle = max(middle, 1.0)
    band = blurred(view.light, 1.5) - blurred(view.light, 3.0)
    wide = blurred(halved(view.gray), 4.0) / np.float32(middle)
    distance = halved(view.distance)
    seen = np.where(distance <= 0.85, wide, np.float32(np.inf))
    row, col = divmod(int(seen.argmin()), seen.shape[1])
    near, far = view.distance <= 0.5, view.mask & (view.distance > 0.7)
    return [
        float(highlights.sum() / view.mask.sum()),
        float(np.log1p(count)),
        float(np.log1p(_peaks(band, view.mask))),
        float(np.log1p(_peaks(-band, view.mask))),
        float(np.log((high + 1.0) / (middle + 1.0))),
        float((inside < _DARK * middle).mean()),
        float(np.log(max(float(seen[row, col]), 0.02))),
        float(distance[row, col]),
        float(np.log((view.gray[near].mean() + 1.0) / (view.gray[far].mean() + 1.0))),
    ]


def _peaks(band: NDArray[np.float32], mask: NDArray[np.bool_]) -> int:
    """Count the local maxima of a band-pass that stand out."""
    highest = cv2.dilate(band, np.ones((5, 5), np.uint8))
    return int(((band >= highest) & (band > _BUBBLE) & mask).sum())
