"""An exam as H.264 video in MP4."""

from fractions import Fraction
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

__all__ = ["Film"]

_CLOCK = 90_000  # ticks per second: time stamps are those of the frames, not number over rate
_QUALITY = "23"  # CRF
_KEY_FRAMES = 60  # at most that many frames from one key frame to the next
_BT709 = 1
_LIMITED = 1


class Film:
    """A video file that frames are added to; use it in a ``with`` statement.

    Parameters
    ----------
    path
        The file to write.
    size
        Rows and columns; even, because colour has half the resolution.
    rate
        Frames per second, for players that ask.
    """

    def __init__(self, path: Path, size: int, rate: float) -> None:
        import av

        self._av = av
        self._container = av.open(str(path), "w", format="mp4")
        stream = self._container.add_stream("libx264", rate=Fraction(rate).limit_denominator(1000))
        stream.width = stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.options = {"crf": _QUALITY, "preset": "veryfast", "g": str(_KEY_FRAMES)}
        context = stream.codec_context
        context.thread_count = 1  # the renderers have the cores, and the bytes repeat
        context.time_base = Fraction(1, _CLOCK)
        context.colorspace = context.color_primaries = context.color_trc = _BT709
        context.color_range = _LIMITED
        self._stream = stream

    def add(self, pixels: NDArray[np.uint8], time_s: float) -> None:
        """Add a frame at its time."""
        frame = self._av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(
            format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG"
        )
        frame.pts = round(time_s * _CLOCK)
        frame.time_base = Fraction(1, _CLOCK)
        for packet in self._stream.encode(frame):
            self._container.mux(packet)

    def __enter__(self) -> "Film":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            for packet in self._stream.encode(None):
                self._container.mux(packet)
        self._container.close()
