"""The evidence map on a page: a veil over the picture."""

import io

import numpy as np
from numpy.typing import NDArray

from capsieve.report import page

__all__ = ["VEIL", "map_address", "veil"]

VEIL = (0, 229, 255)
"""Colour of the veil: tissue never has it, and it is told from the yellow circle by anybody."""

_STRONGEST = 0.5  # share of the veil's colour where the map is highest: the tissue stays visible


def map_address(png: bytes) -> str:
    """Return a kept map as the address of a veil."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        levels = np.asarray(image.convert("L"), np.float32) / np.float32(255)
    with io.BytesIO() as file:
        Image.fromarray(veil(levels), "RGBA").save(file, "PNG", optimize=True)
        return page.image(file.getvalue())


def veil(levels: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return levels of 0 to 1 as RGBA: one colour, the more opaque the higher.

    Opacity goes with the square: middling levels of a coarse map would cover most of the frame.
    """
    pixels = np.empty((*levels.shape, 4), np.uint8)
    pixels[..., :3] = VEIL
    pixels[..., 3] = np.rint(255 * _STRONGEST * levels**2)
    return pixels
