"""From decoded frames to RGB, and in words how.

A video stores luma and two differences of colour. Which matrix turns them into RGB, BT.601 or
BT.709, and whether the values fill the range of the bytes ("full") or leave room at its ends
("limited"), is tagged on the stream, or is not: then BT.601 and limited range are assumed, and full
range for motion JPEG. libswscale goes by the same tags and the same assumptions; a test compares it
with the formula.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from av import VideoFrame
    from av.video.codeccontext import VideoCodecContext

__all__ = ["RGB", "colour_in_words"]

# Of ITU-T H.273, as FFmpeg numbers them.
_MATRICES = {
    1: "BT.709",
    4: "FCC",
    5: "BT.601",
    6: "BT.601",
    7: "SMPTE 240M",
    9: "BT.2020",
    10: "BT.2020",
}
_RANGES = {1: "limited range", 2: "full range"}


class RGB:
    """Turns frames into RGB; one for each decoder, because it keeps its tables."""

    def __init__(self) -> None:
        from av.video.reformatter import VideoReformatter

        self._reformatter = VideoReformatter()

    def __call__(self, frame: "VideoFrame") -> NDArray[np.uint8]:
        """Return the pixels of a frame: rows x columns x 3, as stored, not rotated."""
        # One thread: PyAV starts as many as there are processors, and they cost more than they do.
        image = self._reformatter.reformat(frame, format="rgb24", threads=1)
        return np.ascontiguousarray(image.to_ndarray(), np.uint8)


def colour_in_words(context: "VideoCodecContext") -> str:
    """Say which matrix and range turn a stream's colour into RGB, and whether it says so itself."""
    name = context.pix_fmt or ""
    if name.startswith(("rgb", "bgr", "gbr", "argb", "abgr", "pal8", "0rgb", "0bgr")):
        return "RGB, as stored"
    tags: Any = context
    matrix = _MATRICES.get(int(tags.colorspace))
    values = _RANGES.get(int(tags.color_range))
    if name.startswith("yuvj"):
        values = _RANGES[2]  # that is what the j says
    if name.startswith("gray"):
        return f"grey, {values or _RANGES[1]}, {'tagged' if values else 'assumed'}"
    if matrix and values:
        return f"{matrix}, {values}, tagged"
    if not matrix and not values:
        return "BT.601, limited range, assumed"
    if matrix:
        return f"{matrix}, tagged; limited range, assumed"
    return f"BT.601, assumed; {values}, tagged"
