"""What an exam's record says of a video."""

from typing import TYPE_CHECKING, Any

from capsieve.sources.video.colour import colour_in_words
from capsieve.sources.video.packet_index import PacketIndex, stream_time_base

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

__all__ = ["describe", "stamps_are_true"]

_MICROSECOND = 1e-6  # the unit of a container's duration


def describe(
    container: "InputContainer", stream: "VideoStream", index: PacketIndex
) -> dict[str, Any]:
    """Return container, codec, size, times and colour of a stream in plain numbers and texts.

    What does not apply is left out. Rotation and the shape of the pixels are not applied to frames.
    """
    context = stream.codec_context
    description: dict[str, Any] = {
        "container": container.format.name,
        "codec": context.name,
        "rows": context.height,
        "cols": context.width,
        "pixel_format": context.pix_fmt,
        "colour": colour_in_words(context),
        "time_base": str(stream_time_base(stream)),
        "key_frames": int(index.key.sum()),
    }
    if stream.average_rate:
        description["average_rate"] = str(stream.average_rate)
    if container.duration is not None:
        description["duration_s"] = container.duration * _MICROSECOND
    shape = stream.sample_aspect_ratio
    if shape and shape != 1:
        description["pixel_aspect_ratio"] = str(shape)
    if index.hidden.any():
        description["hidden_frames"] = int(index.hidden.sum())
    return description


def stamps_are_true(container: "InputContainer", stream: "VideoStream", index: PacketIndex) -> bool:
    """Tell whether pictures come out in the order of the time stamps that the container tells.

    AVI stores no presentation times. FFmpeg works them out, but for codecs whose pictures refer to
    each other in more ways than those of MPEG-4 it cannot, and numbers them in the stored order.
    Nor can it where packets hold several pictures.
    """
    context = stream.codec_context
    reordered = context.has_b_frames and context.name in ("h264", "hevc")
    return not index.packed and not (container.format.name == "avi" and reordered)
