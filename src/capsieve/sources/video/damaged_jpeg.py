"""Pictures of motion JPEG whose data are damaged.

FFmpeg's decoder marks no such picture: it fills in what was lost and says nothing, or it is told to
fail at the first error. It is told to fail, so that damage is seen; the picture is then decoded
once more by a decoder that goes on, because what is left of it may be worth seeing. JPEG has no
checksum: damage that reads as other values, and ends as it should, goes unseen.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from av import Packet, VideoFrame
    from av.video.codeccontext import VideoCodecContext

__all__ = ["FAIL_AT_ERRORS", "is_cut_jpeg", "what_is_left"]

FAIL_AT_ERRORS = {"err_detect": "explode"}
"""The decoder's option by which damage is seen."""

_CODEC = "mjpeg"
_START, _END = b"\xff\xd8", b"\xff\xd9"
_PADDING = b"\0\xff"


def is_cut_jpeg(context: "VideoCodecContext", packet: "Packet") -> bool:
    """Tell whether a packet of motion JPEG lacks the beginning or the end of its picture."""
    if context.name != _CODEC:
        return False
    data = bytes(packet)
    return not (data.startswith(_START) and data.rstrip(_PADDING).endswith(_END))


def what_is_left(
    context: "VideoCodecContext", packet: "Packet", *, options: dict[str, str]
) -> list["VideoFrame"]:
    """Return the picture of a packet on which a decoder failed, as far as it can be decoded.

    Parameters
    ----------
    context
        The decoder that failed. For other codecs than motion JPEG nothing is left.
    packet
        What it failed on.
    options
        What the other decoder is told.
    """
    from av import VideoCodecContext
    from av.error import FFmpegError

    if context.name != _CODEC:
        return []
    other = VideoCodecContext.create(context.codec, "r")
    assert isinstance(other, VideoCodecContext)
    other.codec_tag, other.extradata = context.codec_tag, context.extradata
    other.width, other.height = context.width, context.height
    other.thread_count = 1
    other.copy_opaque = True
    other.options = options
    try:
        return other.decode(packet)
    except FFmpegError:
        return []
