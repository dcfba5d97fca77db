"""Decode packets of a video to pictures, and pictures to RGB, whatever is wrong with them."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.ffv1_checks import is_damaged_ffv1
from capsieve.sources.video_container import LIMITS

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.video.codeccontext import VideoCodecContext

MOST_DELAYED = 32
"""Longest delay of a picture in packets. H.264 and HEVC reorder at most 16 frames, and a frame may
have two packets."""

DAMAGED = "the frame is damaged: the decoder replaced lost parts"

_MARKED = "the container marks the data as damaged"
_CUT_JPEG = "the frame may be damaged: its data lack the start or the end of a JPEG"


class PacketDecoder:
    """Decodes packets; returns every picture with the number of its packet.

    Errors of the decoder never end decoding.

    Parameters
    ----------
    context
        The decoder, as made by :func:`~capsieve.sources.video_container.open_video`.

    Attributes
    ----------
    problems
        Faults of packets by number.
    """

    def __init__(self, context: "VideoCodecContext") -> None:
        self._context = context
        self.problems: dict[int, str] = {}

    def decode(self, number: int, packet: "Packet") -> list[tuple[int, "VideoFrame"]]:
        """Decode a packet; return finished pictures, which may be of earlier packets."""
        from av.error import FFmpegError

        # PyAV recognises an opaque by its identity, in all threads of a process together. Small
        # integers are shared: if one thread freed them, another one would lose them.
        packet.opaque = _Number(number)
        if packet.is_corrupt:
            self.problems[number] = _MARKED
        try:
            pictures = self._context.decode(packet)
        except FFmpegError as error:
            pictures = self._rest_of_jpeg(packet)
            failed = DAMAGED if pictures else f"the decoder failed ({error.strerror})"
            self.problems.setdefault(number, failed)
        codec, extradata = self._context.name, self._context.extradata or b""
        if codec == "mjpeg" and _is_cut_jpeg(bytes(packet)):
            self.problems.setdefault(number, _CUT_JPEG)
        elif codec == "ffv1" and is_damaged_ffv1(bytes(packet), extradata):
            self.problems.setdefault(number, DAMAGED)
        return [(_number(picture), picture) for picture in pictures]

    def flush(self) -> list[tuple[int, "VideoFrame"]]:
        """Return the remaining pictures."""
        from av.error import FFmpegError

        try:
            return [(_number(picture), picture) for picture in self._context.decode(None)]
        except FFmpegError:
            return []

    def _rest_of_jpeg(self, packet: "Packet") -> list["VideoFrame"]:
        """Decode a damaged JPEG with a decoder that ignores errors."""
        from av import VideoCodecContext
        from av.error import FFmpegError

        if self._context.name != "mjpeg":
            return []
        other = VideoCodecContext.create(self._context.codec, "r")
        assert isinstance(other, VideoCodecContext)
        other.codec_tag, other.extradata = self._context.codec_tag, self._context.extradata
        other.width, other.height = self._context.width, self._context.height
        other.thread_count = 1
        other.copy_opaque = True
        other.options = LIMITS
        try:
            return other.decode(packet)
        except FFmpegError:
            return []


class _Number:
    """The number of a packet; a new object for each, because its identity matters."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value


def _number(picture: "VideoFrame") -> int:
    carried = picture.opaque
    return carried.value if isinstance(carried, _Number) else -1


def _is_cut_jpeg(data: bytes) -> bool:
    return not (data.startswith(b"\xff\xd8") and data.rstrip(b"\0\xff").endswith(b"\xff\xd9"))


class ToRGB:
    """Converts pictures to RGB; one per decoder, because it keeps the tables of the conversion."""

    def __init__(self) -> None:
        from av.video.reformatter import VideoReformatter

        self._reformatter = VideoReformatter()

    def __call__(self, picture: "VideoFrame") -> NDArray[np.uint8] | None:
        """Return rows x columns x 3, as stored, not rotated; None if FFmpeg cannot convert it."""
        from av.error import FFmpegError

        try:
            # By default, PyAV starts a thread per processor, which takes longer than converting.
            image = self._reformatter.reformat(picture, format="rgb24", threads=1)
            return np.ascontiguousarray(image.to_ndarray(), np.uint8)
        except (FFmpegError, ValueError, MemoryError):
            return None
