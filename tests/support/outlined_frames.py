"""Frames of an endoscope with outlines of polyps, from which windows are cut."""

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["CAPTION", "COLS", "GUT", "INSET", "POLYP", "ROWS", "outlined_frame", "write_outlined"]

ROWS, COLS = 200, 240
GUT, POLYP, CAPTION, INSET = (150, 100, 70), (200, 60, 160), (255, 255, 255), (20, 120, 20)
"""Colours; no two parts of a frame have the same one."""


def outlined_frame(number: int) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return a frame with black corners, a caption and an inset, and the mask of its polyp."""
    rng = np.random.default_rng(number)
    rows, cols = np.mgrid[:ROWS, :COLS]
    pixels = np.full((ROWS, COLS, 3), GUT, np.uint8)
    centre = rng.uniform((60, 120), (140, 190))
    radius = rng.uniform(12, 30)
    mask = (rows - centre[0]) ** 2 + (cols - centre[1]) ** 2 < radius**2
    pixels[mask] = POLYP
    pixels[rows + cols < 40] = pixels[(ROWS - rows) + (COLS - cols) < 40] = 0
    pixels[150:, :50] = INSET
    for left in range(6, 60, 6):
        pixels[80:90, left : left + 2] = CAPTION
    return pixels, mask


def write_outlined(folder: Path, *, count: int = 24) -> Path:
    """Write frames and masks into folders of these names."""
    for name in ("images", "masks"):
        (folder / name).mkdir(parents=True)
    for number in range(count):
        pixels, mask = outlined_frame(number)
        cv2.imwrite(str(folder / f"images/{number:03}.png"), pixels[..., ::-1])
        cv2.imwrite(str(folder / f"masks/{number:03}.png"), mask.astype(np.uint8) * 255)
    return folder
