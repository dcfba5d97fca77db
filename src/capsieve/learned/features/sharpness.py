"""Blur, detail and informativeness: how the frame's power spreads over wavelengths."""

import math
from functools import lru_cache
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.learned.features.description import described
from capsieve.learned.features.kernels.statistics import band_power, deviation, window_frame
from capsieve.learned.features.planes import blurred, quantiles
from capsieve.learned.features.view import View

__all__ = ["DESCRIPTIONS", "sharpness_values"]

_EDGES = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # cycles across the view
DESCRIPTIONS = described(
    "sharpness",
    *(
        (
            f"band-{round(low)}",
            "log",
            f"Contrast in structures of {round(low)} to {round(high)} waves across the view.",
        )
        for low, high in pairwise(_EDGES)
    ),
    ("slope", "log", "How fast contrast falls from coarse to fine: steep for a blurred frame."),
    ("laplacian", "log", "Sharpness of edges against the contrast at hand."),
    ("detail", "log", "Fine detail in the typical part of the view."),
    ("detail-low", "log", "Fine detail in the smoothest tenth against the typical part."),
    ("detail-high", "log", "Fine detail in the roughest tenth against the typical part."),
    ("contrast", "share", "Unevenness of the light over the view, of a quarter view or less."),
)
_NOISE = 1e-7


def sharpness_values(view: View) -> list[float]:
    """Return the values of :data:`DESCRIPTIONS`."""
    rows, cols = view.light.shape
    window, bands, norm = _bands(rows, cols)
    framed = np.empty((rows, cols), np.float32)
    window_frame(view.light.ravel(), window.ravel(), framed.ravel())
    sums = np.zeros(len(_EDGES) + 1)
    band_power(cv2.dft(framed, flags=cv2.DFT_COMPLEX_OUTPUT), bands, sums)
    logs = 0.5 * np.log(sums[1 : len(_EDGES)] / norm + _NOISE)
    octaves = np.arange(len(logs)) - (len(logs) - 1) / 2
    slope = float((octaves @ logs) / (octaves @ octaves))
    nothing = _nothing(rows, cols)
    spans = view.outline.starts, view.outline.stops
    laplacian = deviation(cv2.Laplacian(view.light, cv2.CV_32F), nothing, *spans)
    contrast = deviation(view.light, blurred(view.light, 4.0), *spans)
    low, middle, high = quantiles(view.inside(view.detail), 0.1, 0.5, 0.9)
    return [
        *logs.tolist(),
        slope,
        math.log((laplacian + 1e-4) / (contrast + 1e-3)),
        middle,
        low - middle,
        high - middle,
        deviation(view.smooth, nothing, *spans),
    ]


@lru_cache(maxsize=16)
def _bands(rows: int, cols: int) -> tuple[NDArray[np.float32], NDArray[np.int64], float]:
    """Return a round Hann window, the band of each wave, and the power of a wave of height 1.

    Band 0 is left out.
    """
    y = (np.arange(rows) - (rows - 1) / 2) / (0.45 * rows)
    x = (np.arange(cols) - (cols - 1) / 2) / (0.45 * cols)
    away = np.minimum(np.hypot(y[:, None], x[None, :]), 1.0)
    window = (0.5 + 0.5 * np.cos(np.pi * away)).astype(np.float32)
    waves = np.hypot(np.fft.fftfreq(rows)[:, None] * cols, np.fft.fftfreq(cols)[None, :] * cols)
    return window, np.digitize(waves, _EDGES), float((window**2).sum()) * rows * cols


@lru_cache(maxsize=16)
def _nothing(rows: int, cols: int) -> NDArray[np.float32]:
    return np.zeros((rows, cols), np.float32)
