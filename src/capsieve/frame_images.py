"""Frames as image files: 16 to 8 bits, smaller copies, JPEG, and stored files for a browser."""

import io
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.processes import ignored_warnings

_ORIENTATION = 0x0112
_UPRIGHT = (None, 1)
_CHANGE_COLOURS = ("icc_profile", "gamma", "chromaticity", "transparency")
_MODES = {"JPEG": ("L", "RGB"), "PNG": ("L", "RGB", "P")}
_PNG_DEPTH = 24  # position of the bits per sample in a PNG file


def eight_bits(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Return uint8 pixels unchanged and uint16 pixels rescaled: 65535 becomes 255."""
    if pixels.dtype == np.uint8:
        return pixels
    return np.rint(pixels.astype(np.float32) * np.float32(255 / 65535)).astype(np.uint8)


def rgb(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Return 8-bit RGB pixels of a grey, RGB or RGBA frame."""
    pixels = eight_bits(pixels)
    if pixels.ndim == 2:
        return np.repeat(pixels[:, :, None], 3, axis=2)
    return np.ascontiguousarray(pixels[:, :, :3])


def shrink(pixels: NDArray[Any], *, width: int = 0, side: int = 0) -> NDArray[Any]:
    """Return a smaller copy with at most `width` columns, or `side` pixels on the longer side.

    Frames that are already small enough are returned unchanged.
    """
    rows, cols = pixels.shape[:2]
    scale = width / cols if width else side / max(rows, cols)
    if scale >= 1:
        return pixels
    size = max(1, round(cols * scale)), max(1, round(rows * scale))
    return cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)


def jpeg(pixels: NDArray[Any], *, quality: int = 92) -> bytes:
    """Return a JPEG file of a grey, RGB or RGBA frame, with colours in full resolution.

    OpenCV takes four fifths of Pillow's time for a frame of 576 x 576 pixels.
    """
    image = eight_bits(pixels)
    if image.ndim == 3:
        swap = cv2.COLOR_RGBA2BGR if image.shape[2] == 4 else cv2.COLOR_RGB2BGR
        image = cv2.cvtColor(image, swap)
    full_colour = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    _, content = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality, *full_colour])
    return content.tobytes()


def browser_kind(content: bytes) -> Literal["", "jpeg", "png"]:
    """Return the format of an image file that a browser shows with the scored pixels, or "".

    A browser applies the camera's orientation, colour profiles, gamma and transparency; capsieve
    does not. Files that have any of these, and PNG files of 16 bits, must be encoded again.
    """
    from PIL import Image

    with ignored_warnings():
        try:
            with Image.open(io.BytesIO(content), formats=tuple(_MODES)) as image:
                kind = image.format or ""
                plain = image.mode in _MODES[kind] and not any(
                    key in image.info for key in _CHANGE_COLOURS
                )
                upright = image.getexif().get(_ORIENTATION) in _UPRIGHT
        except Exception:  # Pillow raises many classes of errors for damaged files
            return ""
    if not (plain and upright) or (kind == "PNG" and content[_PNG_DEPTH] > 8):
        return ""
    return "png" if kind == "PNG" else "jpeg"
