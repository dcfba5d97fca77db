"""Which pictures are made from damaged ones.

Decoders mark the picture whose data are damaged, and none of those that are made from it. From a key
frame to the next, a picture may be made from any that is stored before it. A key frame's leading
pictures, which are shown before it, may also be made from those before the key frame.
"""

from bisect import bisect_right
from collections.abc import Container

from capsieve.sources.video.cutting import Span

__all__ = ["Ancestry"]


class Ancestry:
    """Tells which pictures of a segment may be made from damaged ones.

    Parameters
    ----------
    span
        The segment.
    """

    def __init__(self, span: Span) -> None:
        self._keys = span.keys
        self._stamps = span.stamps
        self._every_picture_is_key = span.order == "packets"

    def is_tainted(self, place: int, damaged: Container[int]) -> bool:
        """Tell whether a packet's picture may be made from one of the damaged packets."""
        if self._every_picture_is_key or not damaged:
            return False
        return any(earlier in damaged for earlier in range(self._oldest(place), place))

    def _oldest(self, place: int) -> int:
        """Return the first packet that a packet's picture may be made from."""
        group = bisect_right(self._keys, place) - 1
        if group < 0:
            return 0
        key = self._keys[group]
        stamp, key_stamp = self._stamps[place], self._stamps[key]
        leads = stamp is not None and key_stamp is not None and stamp < key_stamp
        if leads and group > 0:
            return self._keys[group - 1]
        return key
