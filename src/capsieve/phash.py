"""Perceptual hash of a frame: 256 bits that survive compression, scaling and brightness changes.

Two frames are near-duplicates if their hashes differ in at most :data:`NEAR_DUPLICATE_BITS` bits.
docs/leaks.md shows how much the hashes of other frames differ.
"""

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.frame_images import eight_bits

__all__ = ["BITS", "NEAR_DUPLICATE_BITS", "phash"]

BITS = 256
NEAR_DUPLICATE_BITS = 31

_LEAST_CONTRAST = 1.0  # grey levels; below it, the signs are those of noise and rounding
_SAMPLED = 96  # pixels across the frame; more do not make the hash more stable
_SIDE = 32  # pixels of the small grey image
_WAVES = 20  # per axis; 16 longer ones per axis are not enough for 256 without the constant ones
_PRECISION = 4096  # integer waves make the sums exact on every machine


def phash(pixels: NDArray[Any]) -> bytes | None:
    """Return the perceptual hash of a frame.

    The frame is reduced to a grey image x of 32 x 32 pixels and multiplied with cosine waves under
    a window that fades out the border,

        c_uv = sum_rs w_r w_s cos(pi u (r + 1/2) / 32) cos(pi v (s + 1/2) / 32) x_rs,
        w_r = (1 - cos(2 pi (r + 1/2) / 32)) / 2.

    The hash contains the signs of c for the 256 longest waves. A change of brightness multiplies
    all c and keeps their signs. The window hides crops of one or two percent and captions in the
    corners. The hash depends on the pixels only, not on the field of view.

    Parameters
    ----------
    pixels
        Rows x columns, or with three or more channels (RGB first); 8 or 16 bits.

    Returns
    -------
    bytes or None
        32 bytes; every group of 16 bits contains waves of all lengths. None if half of the waves
        are weaker than one grey level: such featureless frames resemble each other.
    """
    waves, order, norm = _waves()
    c = (waves @ _small_grey(pixels) @ waves.T).ravel()[order]
    contrast = np.partition(np.abs(c / norm), BITS // 2)[BITS // 2]
    return np.packbits(c > 0).tobytes() if contrast >= _LEAST_CONTRAST else None


def _small_grey(pixels: NDArray[Any]) -> NDArray[np.float64]:
    pixels = eight_bits(pixels)
    if pixels.ndim == 3:
        pixels = pixels[:, :, :3] if pixels.shape[2] >= 3 else pixels[:, :, 0]
    # Sampling first: a mean over all pixels would take as long as the frame hash.
    sampled = cv2.resize(pixels, (_SAMPLED, _SAMPLED), interpolation=cv2.INTER_LINEAR)
    grey = sampled if sampled.ndim == 2 else cv2.cvtColor(sampled, cv2.COLOR_RGB2GRAY)
    return cv2.resize(grey, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA).astype(np.float64)


@lru_cache(maxsize=1)
def _waves() -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Return the windowed waves of one axis, the chosen products of two, and their norms."""
    place = (np.arange(_SIDE) + 0.5) / _SIDE
    window = 0.5 - 0.5 * np.cos(2 * np.pi * place)
    waves = np.round(_PRECISION * window * np.cos(np.pi * np.arange(_WAVES)[:, None] * place))
    u, v = np.mgrid[:_WAVES, :_WAVES]
    # Under the window these four respond to the mean brightness; the others do not.
    constant = np.isin(u, (0, 2)) & np.isin(v, (0, 2))
    longest = np.argsort(np.where(constant, np.inf, u * u + v * v).ravel(), kind="stable")[:BITS]
    order = longest.reshape(BITS // 16, 16).T.ravel()
    norm = np.sqrt((waves * waves).sum(axis=1))
    return waves, order, np.outer(norm, norm).ravel()[order]
