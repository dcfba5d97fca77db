"""What is wrong with pictures, and with those that are made from them.

Decoders mark the picture whose data are damaged, and none of those that are made from it. From a
key frame to the next, a picture may be made from any that is stored before it. A key frame's
leading pictures, which are shown before it, may also be made from those before the key frame.
"""

from bisect import bisect_left, bisect_right, insort

from capsieve.sources.video.cutting import Span

__all__ = ["Damage"]

# H.264 makes a picture of almost any bytes: where damage begins, the decoder often sees nothing.
_BESIDE = "the picture may be damaged: the one stored after it is"
_TAINTED = "the picture may be damaged: it is made from one that is"


class Damage:
    """Takes down what is wrong with packets, and tells what that means for pictures.

    Parameters
    ----------
    span
        The segment whose packets they are.
    """

    def __init__(self, span: Span) -> None:
        self._span = span
        self._owned = frozenset(span.owned)
        self._problems: dict[int, str] = {}
        self._places: list[int] = []  # sorted

    def note(self, place: int, problem: str) -> None:
        """Take down what is wrong with a packet or its picture; the first word stands."""
        if place not in self._problems and not self._belongs_before(place):
            self._problems[place] = problem
            insort(self._places, place)

    def of(self, place: int) -> str:
        """Say what is wrong with a packet's picture, as far as that is known by now; or ""."""
        if place in self._problems:
            return self._problems[place]
        if self._is_tainted(place):
            return _TAINTED
        return _BESIDE if place + 1 in self._problems else ""

    def _belongs_before(self, place: int) -> bool:
        """Tell whether a packet's picture leads the segment's first key frame.

        It is not the segment's, cannot be decoded here, and nothing that follows is made from it.
        """
        stamp, first = self._span.stamps[place], self._span.stamps[0]
        earlier = stamp is not None and first is not None and stamp < first
        return earlier and place not in self._owned

    def _is_tainted(self, place: int) -> bool:
        if not self._places or self._span.order == "packets":  # then each is a key frame
            return False
        nearest = bisect_left(self._places, self._oldest_ancestor(place))
        return nearest < len(self._places) and self._places[nearest] < place

    def _oldest_ancestor(self, place: int) -> int:
        keys, stamps = self._span.keys, self._span.stamps
        group = bisect_right(keys, place) - 1
        if group < 0:
            return 0
        stamp, key_stamp = stamps[place], stamps[keys[group]]
        leads = stamp is not None and key_stamp is not None and stamp < key_stamp
        return keys[group - 1] if leads and group > 0 else keys[group]
