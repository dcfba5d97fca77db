"""The look of a frame: a fingerprint of 256 bits that survives compression, scaling and light.

Two frames of nearly the same look are nearly the same picture, even where one was recompressed,
resized or made a little brighter. docs/leaks.md says how far apart the looks of other frames are.
"""

from functools import lru_cache
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["BITS", "LEAST_CONTRAST", "NEAR_DUPLICATE_BITS", "phash", "phash_contrast"]

BITS = 256
"""Of a look; it is stored in 32 bytes."""

NEAR_DUPLICATE_BITS = 31
"""Looks that differ in at most so many bits are near-identical."""

LEAST_CONTRAST = 1.0
"""Grey levels. Below it, the signs are those of noise and rounding, and say nothing."""

_SAMPLED = 96  # pixels taken across the frame: more make the look no steadier
_SIDE = 32  # of the small grey picture
_WAVES = 20  # per axis; more than 256 of their products are below _SIDE's resolution
_PRECISION = 4096  # of the waves: integers, so that the sums below are exact on any machine
_BAND = 16  # bits


def phash(pixels: NDArray[Any]) -> bytes | None:
    """Return the look of a frame, or None where there is too little to be seen in it.

    The frame is brought to a grey picture of 32 x 32 pixels, x, and compared with waves under a
    window that lets the middle count and the rim not,

        c_uv = sum_rs w_r w_s cos(pi u (r + 1/2) / 32) cos(pi v (s + 1/2) / 32) x_rs,
        w_r = (1 - cos(2 pi (r + 1/2) / 32)) / 2.

    The signs of the 256 longest waves are the look. More light multiplies all of c, so that signs
    stay. The window hides what a crop of a percent or two changes, and captions in the corners.
    It depends on the pixels alone, not on the exam's field of view: the same picture in two
    data sets has the same look.

    Parameters
    ----------
    pixels
        Rows x columns, or with three or more channels (RGB first); 8 or 16 bits.

    Returns
    -------
    bytes or None
        32 bytes. Each 16 bits hold waves of all lengths, so that no part of it is poorer in
        information than others. None where half of the waves are weaker than
        :data:`LEAST_CONTRAST`: black and featureless frames resemble each other, and are no copies.
    """
    waves = _compared(pixels)
    if _median_strength(waves) < LEAST_CONTRAST:
        return None
    return np.packbits(waves > 0).tobytes()


def phash_contrast(pixels: NDArray[Any]) -> float:
    """Return how strongly a frame answers to the waves: the median of |c|, in grey levels."""
    return _median_strength(_compared(pixels))


def _compared(pixels: NDArray[Any]) -> NDArray[np.float64]:
    waves, order, _ = _waves()
    return (waves @ _small_grey(pixels) @ waves.T).ravel()[order]


def _median_strength(compared: NDArray[np.float64]) -> float:
    _, _, lengths = _waves()
    strengths = np.abs(compared / lengths)
    return float(np.partition(strengths, BITS // 2)[BITS // 2])  # numpy.median takes thrice as long


def _small_grey(pixels: NDArray[Any]) -> NDArray[np.float64]:
    if pixels.dtype != np.uint8:
        pixels = (pixels >> 8).astype(np.uint8)
    if pixels.ndim == 3:
        pixels = pixels[:, :, :3] if pixels.shape[2] >= 3 else pixels[:, :, 0]
    # Few pixels first: an average over all of them would take as long as the SHA-1.
    few = cv2.resize(pixels, (_SAMPLED, _SAMPLED), interpolation=cv2.INTER_LINEAR)
    grey = few if few.ndim == 2 else cv2.cvtColor(few, cv2.COLOR_RGB2GRAY)
    return cv2.resize(grey, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA).astype(np.float64)


@lru_cache(maxsize=1)
def _waves() -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Return the windowed waves of one axis, which products make the look, and their lengths.

    All numbers are integers below 2**53, so that the order in which they are added, which differs
    between processors, does not matter.
    """
    place = (np.arange(_SIDE) + 0.5) / _SIDE
    window = 0.5 - 0.5 * np.cos(2 * np.pi * place)
    waves = np.round(_PRECISION * window * np.cos(np.pi * np.arange(_WAVES)[:, None] * place))
    u, v = np.mgrid[:_WAVES, :_WAVES]
    # Under the window, light itself answers to these four; all others have no mean.
    light = np.isin(u, (0, 2)) & np.isin(v, (0, 2))
    longest = np.argsort(np.where(light, np.inf, u * u + v * v).ravel(), kind="stable")[:BITS]
    order = longest.reshape(BITS // _BAND, _BAND).T.ravel()
    length = np.sqrt((waves * waves).sum(axis=1))
    return waves, order, np.outer(length, length).ravel()[order]
