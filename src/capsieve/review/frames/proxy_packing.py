"""How a frame of a proxy is stored: so that exactly the same pixels come out again.

Ut Video, a lossless code in which every picture stands alone. The planes of a video go into it as
they are, and come out with the tags by which they are turned into RGB. Where that does not give
the same pixels, because the code has no such planes, the RGB pixels themselves are stored: that
holds for every video, and takes about twice the room.
"""

from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.video.colour import RGB

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.video.codeccontext import VideoCodecContext

__all__ = ["Packing", "packing_for", "packings"]

_CODEC = "utvideo"
_PLANES = {"yuv420p": (2, 2), "yuv422p": (1, 2), "yuv444p": (1, 1)}
_AS_RGB = "gbrp"
_MILLISECOND = Fraction(1, 1000)
_FULL_RANGE = 2


@dataclass(frozen=True, slots=True)
class Packing:
    """All that a decoder and an encoder of a proxy must know.

    Attributes
    ----------
    rows, cols
        Of the frames.
    stored
        The pixel format in the proxy: that of the video, or ``"gbrp"``.
    colorspace, color_range
        The tags that planes come out with, as FFmpeg numbers them.
    tag, extradata
        What the decoder is told; the second in hexadecimal digits.
    """

    rows: int
    cols: int
    stored: str
    colorspace: int
    color_range: int
    tag: str = ""
    extradata: str = ""

    def plain(self) -> dict[str, Any]:
        """Return the content as numbers and texts."""
        return asdict(self)

    def encode(self, encoder: "VideoCodecContext", frame: "VideoFrame", rgb: RGB) -> "Packet":
        """Return a frame as the one packet that it becomes."""
        from av import VideoFrame

        if self.stored == _AS_RGB:
            packed = VideoFrame.from_ndarray(rgb(frame), format="rgb24").reformat(format=_AS_RGB)
        else:
            planes = frame.to_ndarray()
            packed = VideoFrame.from_ndarray(planes, format=self.stored)
        packed.pts, packed.time_base = 0, _MILLISECOND
        (packet,) = encoder.encode(packed)
        return packet

    def pixels(self, frame: "VideoFrame", rgb: RGB) -> NDArray[np.uint8]:
        """Return the pixels of a frame that the proxy's decoder gave."""
        if self.stored != _AS_RGB:
            frame.colorspace, frame.color_range = self.colorspace, self.color_range
        return rgb(frame)

    def encoder(self) -> "VideoCodecContext":
        """Return a new encoder."""
        context = self._context("w")
        context.time_base, context.framerate = _MILLISECOND, Fraction(25)
        context.options = {"pred": "median"}
        context.open()
        return context

    def decoder(self) -> "VideoCodecContext":
        """Return a new decoder."""
        context = self._context("r")
        context.codec_tag = self.tag
        context.extradata = bytes.fromhex(self.extradata)
        return context

    def _context(self, way: Any) -> "VideoCodecContext":
        from av import VideoCodecContext

        context = VideoCodecContext.create(_CODEC, way)
        assert isinstance(context, VideoCodecContext)
        context.height, context.width, context.pix_fmt = self.rows, self.cols, self.stored
        context.thread_count = 1
        return context


def packings(frame: "VideoFrame") -> list[Packing]:
    """Return the ways in which frames such as this one can be stored, the best first."""
    name = frame.format.name.replace("yuvj", "yuv")
    stored = [_AS_RGB]
    row_step, col_step = _PLANES.get(name, (0, 0))
    if row_step and frame.height % row_step == 0 and frame.width % col_step == 0:
        stored.insert(0, name)
    full = "yuvj" in frame.format.name  # that is what the j says
    tags = int(frame.colorspace), _FULL_RANGE if full else int(frame.color_range)
    return [Packing(frame.height, frame.width, each, *tags) for each in stored]


def packing_for(frame: "VideoFrame") -> tuple[Packing, "VideoCodecContext"] | None:
    """Return the best way that gives back the pixels of a frame, and its encoder; or None."""
    from av.error import FFmpegError

    rgb = RGB()
    pixels = rgb(frame)
    for packing in packings(frame):
        try:
            encoder = packing.encoder()
            told = replace(
                packing, tag=encoder.codec_tag, extradata=(encoder.extradata or b"").hex()
            )
            packet = told.encode(encoder, frame, rgb)
            (back,) = told.decoder().decode(packet)
        except (FFmpegError, ValueError):  # the code cannot store it
            continue
        if np.array_equal(told.pixels(back, rgb), pixels):
            return told, encoder
    return None
