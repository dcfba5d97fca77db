"""The channel that the sieve looks at, 0..255.

Grey is 0.2989 R + 0.5870 G + 0.1140 B, not rounded, as in the toolbox that the authors used. Red
and Lab a are what the paper proposes to study for polyps that are rich in vessels.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.paper.kernels import gray as kernels
from capsieve.parameters import Channel

__all__ = ["channel_of"]


def channel_of(
    pixels: NDArray[Any], *, channel: Channel = "gray", out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Return one channel of a frame of 0..255 as float32.

    Parameters
    ----------
    pixels
        uint8 or float32 on 0..255, grey or RGB.
    channel
        "gray", "red", or "lab-a": CIE Lab a (sRGB, D65) + 128. A grey frame is its own red, and
        its a is 128 everywhere.
    out
        Where to write, an array of rows x columns.
    """
    rows, cols = pixels.shape[:2]
    out = np.empty((rows, cols), np.float32) if out is None else out
    if channel == "lab-a":
        _lab_a(pixels, out)
    elif pixels.ndim == 2:
        out[...] = pixels
    elif channel == "red":
        out[...] = pixels[:, :, 0]
    else:
        kernels.gray(pixels, out)
    return out


def _lab_a(pixels: NDArray[Any], out: NDArray[np.float32]) -> None:
    if pixels.ndim == 2:
        out[...] = 128.0
        return
    import cv2

    lab = cv2.cvtColor(pixels.astype(np.float32) / np.float32(255.0), cv2.COLOR_RGB2LAB)
    np.clip(lab[:, :, 1] + np.float32(128.0), 0.0, 255.0, out=out)
