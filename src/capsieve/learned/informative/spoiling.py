"""Frames spoiled on purpose: pairs of which it is certain which one shows more.

Each way takes a frame of 0..255 and a strength from 0 (a reader would notice) to 1 (hardly anything
is left). What the camera would add again after it, noise and compression, is added last, so that
no clean picture tells a spoiled frame.
"""

import math
from collections.abc import Callable, Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["WAYS", "spoil"]

_Image = NDArray[np.float32]
_TURBID = np.array([[118.0, 96.0, 30.0], [96.0, 70.0, 28.0], [120.0, 112.0, 70.0]], np.float32)
"""Colours of bile, residue and milky liquid."""


def spoil(
    frame: NDArray[np.uint8], way: str, strength: float, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Return a frame spoiled in one of :data:`WAYS`.

    Parameters
    ----------
    frame
        RGB, uint8.
    way
        "defocus", "motion", "bubbles", "veil", "over" or "under".
    strength
        0 to 1.
    rng
        Draws directions, places and noise.
    """
    picture = WAYS[way](frame.astype(np.float32), strength, rng)
    # The surround stays black: it is no part of the picture.
    seen = cv2.GaussianBlur((frame.max(axis=2) > 8).astype(np.float32), (0, 0), 2.0)
    picture *= np.clip(2.0 * seen, 0.0, 1.0)[:, :, None]
    picture += rng.normal(0.0, rng.uniform(0.5, 2.0), frame.shape).astype(np.float32)
    whole = np.rint(np.clip(picture, 0.0, 255.0)).astype(np.uint8)
    quality = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(85, 97))]
    encoded = cv2.imencode(".jpg", whole[:, :, ::-1], quality)[1]
    decoded = cv2.imdecode(encoded, cv2.IMREAD_COLOR)
    assert decoded is not None  # it was encoded a line above
    return np.ascontiguousarray(decoded[:, :, ::-1], np.uint8)


def _defocus(image: _Image, strength: float, _: np.random.Generator) -> _Image:
    sigma = image.shape[1] * (0.008 + 0.022 * strength)
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma), np.float32)


def _motion(image: _Image, strength: float, rng: np.random.Generator) -> _Image:
    length = image.shape[1] * (0.04 + 0.12 * strength)
    half = math.ceil(length / 2)
    angle = rng.uniform(0.0, math.pi)
    steps = np.linspace(-length / 2, length / 2, 4 * half + 1)
    kernel = np.zeros((2 * half + 1, 2 * half + 1), np.float32)
    rows = np.rint(half + steps * math.sin(angle)).astype(int)
    cols = np.rint(half + steps * math.cos(angle)).astype(int)
    np.add.at(kernel, (rows, cols), np.float32(1.0))
    return np.asarray(cv2.filter2D(image, -1, kernel / kernel.sum()), np.float32)


def _bubbles(image: _Image, strength: float, rng: np.random.Generator) -> _Image:
    rows, cols = image.shape[:2]
    wanted = 0.3 + 0.6 * strength
    typical = cols * rng.uniform(0.012, 0.04)
    out, covered = image.copy(), np.zeros((rows, cols), bool)
    y, x = np.mgrid[:rows, :cols].astype(np.float32)
    # A patch of foam, or foam all over: bubbles come in heaps.
    heap = rng.uniform(0.3, 0.7, 2) * (rows, cols)
    reach = cols * (0.15 + 0.5 * strength)
    for _ in range(4000):
        if covered.mean() >= 0.78 * wanted:  # of the square; the view is 78 % of it
            break
        row, col = heap + rng.normal(0.0, reach, 2)
        radius = float(np.clip(typical * rng.lognormal(0.0, 0.45), 2.0, 0.12 * cols))
        top, left = max(0, int(row - radius - 2)), max(0, int(col - radius - 2))
        cut = np.s_[top : int(row + radius + 3), left : int(col + radius + 3)]
        if row < -radius or col < -radius or not out[cut].size:  # beside the frame
            continue
        away = np.hypot(y[cut] - row, x[cut] - col) / radius
        level = float(np.median(out[cut])) + 20.0
        rim = np.exp(-(((away - 0.92) / 0.12) ** 2))
        glint = np.hypot(y[cut] - row + 0.4 * radius, x[cut] - col + 0.3 * radius) < 0.22 * radius
        inside = away < 0.85
        patch = out[cut]
        if inside.any():
            patch[inside] = 0.75 * patch[inside] + 0.25 * patch[inside].mean(axis=0)
        patch += (0.55 * level * rim)[:, :, None]
        patch[glint] = np.maximum(patch[glint], 235.0)
        covered[cut] |= away < 1.0
    return np.minimum(out, np.float32(255.0))


def _veil(image: _Image, strength: float, rng: np.random.Generator) -> _Image:
    rows, cols = image.shape[:2]
    level = float(image.mean()) / 100.0
    colour = _TURBID[rng.integers(len(_TURBID))] * np.float32(level * rng.uniform(0.8, 1.4))
    clouds = cv2.GaussianBlur(rng.normal(0, 1, (rows, cols)).astype(np.float32), (0, 0), cols / 8)
    clouds /= max(float(clouds.std()), 1e-6)
    cover = np.clip(0.45 + 0.45 * strength + 0.07 * clouds, 0.0, 0.98)[:, :, None]
    scattered = cv2.GaussianBlur(image, (0, 0), cols * (0.003 + 0.008 * strength))
    return ((1.0 - cover) * scattered + cover * colour).astype(np.float32)


def _over(image: _Image, strength: float, _: np.random.Generator) -> _Image:
    bright = np.minimum(image * np.float32(1.9 + 3.0 * strength), np.float32(400.0))
    bloom = cv2.GaussianBlur(bright, (0, 0), 0.02 * image.shape[1])
    return np.minimum(0.85 * bright + 0.15 * bloom, 255.0).astype(np.float32)


def _under(image: _Image, strength: float, _: np.random.Generator) -> _Image:
    return (image * np.float32(0.35 * (1.0 - strength) + 0.04)).astype(np.float32)


WAYS: Mapping[str, Callable[[_Image, float, np.random.Generator], _Image]] = {
    "defocus": _defocus,
    "motion": _motion,
    "bubbles": _bubbles,
    "veil": _veil,
    "over": _over,
    "under": _under,
}
"""All ways, by name."""
