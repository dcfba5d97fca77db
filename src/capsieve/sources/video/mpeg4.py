"""Packets of MPEG-4 part 2 (DivX, Xvid) that do not hold one picture each.

AVI has one packet for each moment. An encoder fills a moment in which nothing changed with a
picture that says "not coded". And because AVI knows no order of presentation, many encoders pack a
picture together with the one that is shown before it, and put "not coded" where that one belongs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from av import Packet
    from av.video.stream import VideoStream

__all__ = ["is_not_coded", "is_packed"]

_CODEC = "mpeg4"
_START = b"\0\0\1\xb6"  # of a picture ("VOP"); no other data hold these bytes
_PREDICTED = 1  # the two bits after it

# A predicted picture that is coded has at least 19 bits of header and one for each macroblock of
# 16 x 16 pixels; one that is not coded ends before.
_HEADER_BITS = 19
_MOST_BYTES = 5


def is_packed(packet: "Packet", stream: "VideoStream") -> bool:
    """Tell whether a packet holds several pictures."""
    return stream.codec_context.name == _CODEC and bytes(packet).count(_START) > 1


def is_not_coded(packet: "Packet", stream: "VideoStream") -> bool:
    """Tell whether a packet says no more than that nothing changed."""
    context = stream.codec_context
    if context.name != _CODEC or packet.size > len(_START) + _MOST_BYTES:
        return False
    macroblocks = -(-context.width // 16) * -(-context.height // 16)
    if _HEADER_BITS + macroblocks <= 8 * _MOST_BYTES:
        return False  # too small to tell
    start, after = bytes(packet)[: len(_START)], bytes(packet)[len(_START) :]
    return start == _START and len(after) > 0 and after[0] >> 6 == _PREDICTED
