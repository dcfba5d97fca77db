"""Pictures that a browser shows as what was scored.

Stored JPEG and PNG files go as they are, unless a browser would do something to them that the
reading of frames does not: turn them by a note of the camera, change their colours by a profile,
let the page shine through. All else becomes JPEG of high quality with its colour in full
resolution. At 576 x 576, OpenCV takes four fifths of the time that Pillow takes for that.
"""

import io
import warnings
from typing import Any, Literal, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

__all__ = ["NOTHING", "THUMBNAIL", "Picture", "jpeg", "shown_as_stored", "thumbnail"]

Kind: TypeAlias = Literal["", "jpeg", "png", "webp"]
Picture: TypeAlias = tuple[Kind, bytes]
"""A kind and the bytes; the kind is empty where there is nothing to be shown."""

NOTHING: Picture = ("", b"")

THUMBNAIL = 160
"""The longer side of a small picture, in pixels."""

_QUALITY = 92
_SMALL_QUALITY = 80
_ORIENTATION = 0x0112
_UPRIGHT = (None, 1)
# Chunks and profiles by which a browser, but not the reading of frames, changes colours.
_CHANGE_COLOURS = ("icc_profile", "gamma", "chromaticity", "transparency")
_KINDS: dict[str, tuple[Kind, tuple[str, ...]]] = {
    "JPEG": ("jpeg", ("L", "RGB")),
    "PNG": ("png", ("L", "RGB", "P")),
}
_PNG_DEPTH = 24  # where the header of a PNG says how many bits a sample has
_MOST_PNG_BITS = 8


def shown_as_stored(content: bytes) -> Kind:
    """Return the kind of an image file that a browser shows as it was scored; "" for others."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(content), formats=tuple(_KINDS)) as image:
                kind, modes = _KINDS.get(image.format or "", ("", ()))
                plain = image.mode in modes and not any(
                    key in image.info for key in _CHANGE_COLOURS
                )
                upright = image.getexif().get(_ORIENTATION) in _UPRIGHT
        except Exception:  # Pillow raises errors of many types; what it doubts is encoded anew
            return ""
    if kind == "png" and content[_PNG_DEPTH] > _MOST_PNG_BITS:
        return ""
    return kind if plain and upright else ""


def jpeg(pixels: NDArray[Any], *, quality: int = _QUALITY) -> Picture:
    """Return pixels as JPEG: grey, RGB or RGBA without its alpha; 16 bits scaled to 8."""
    options = [cv2.IMWRITE_JPEG_QUALITY, quality]
    options += [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    _, content = cv2.imencode(".jpg", _as_opencv_has_it(pixels), options)
    return "jpeg", content.tobytes()


def thumbnail(pixels: NDArray[Any], *, side: int = THUMBNAIL) -> Picture:
    """Return a small JPEG, whose longer side is `side`; smaller frames keep their size."""
    scale = side / max(pixels.shape[:2])
    if scale < 1:
        rows, cols = (max(1, round(length * scale)) for length in pixels.shape[:2])
        pixels = cv2.resize(pixels, (cols, rows), interpolation=cv2.INTER_AREA)
    return jpeg(pixels, quality=_SMALL_QUALITY)


def _as_opencv_has_it(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    if pixels.dtype == np.uint16:
        # The same as the detector does: 65535 is white.
        pixels = np.rint(pixels.astype(np.float32) * np.float32(255 / 65535)).astype(np.uint8)
    if pixels.ndim == 2:
        return np.ascontiguousarray(pixels)
    swap = cv2.COLOR_RGBA2BGR if pixels.shape[2] == 4 else cv2.COLOR_RGB2BGR
    return np.asarray(cv2.cvtColor(pixels, swap), np.uint8)
