"""Cutting a stream at key frames into segments that can be decoded apart.

Pictures are stored in the order of decoding. Those that follow a key frame in that order but are
shown before it are its leading pictures: in an open group of pictures they need the group before.
They belong therefore to the segment before, which is fed the key frame too, for their sake. All
other pictures belong to the segment in which they are stored. So every picture belongs to one
segment, and every segment holds all that its pictures are made from.
"""

import struct
import zlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.source import Segment
from capsieve.sources.video.packet_index import NO_STAMP, PacketIndex

__all__ = ["LEAST_FRAMES", "Order", "Span", "cut_into_segments", "packet_record"]

LEAST_FRAMES = 240
"""Frames in a segment, at least: few enough to share out, many enough to pay for opening a file."""

Order = Literal["time", "packets", "decoder"]

# The same as packet_record gives, for many packets at once.
_RECORD = np.dtype([("size", "<i8"), ("check", "<u4")])


@dataclass(frozen=True, slots=True)
class Span:
    """What it takes to find and decode a segment again.

    Attributes
    ----------
    time_base
        Seconds in a unit of the time stamps, such as "1/90000".
    first
        Place of the first packet in the stream.
    stamps
        The presentation time stamp of each packet that the decoder is fed; None where there is
        none.
    owned
        Places, among those fed, of the packets whose pictures belong to the segment; in the order
        in which they come out, where that is known.
    keys
        Places, among those fed, where decoding can begin.
    order
        The order in which pictures come out: by their time stamps; as the packets are stored; or
        as only the decoder knows.
    seek
        The time stamp by which the first packet is sought; None where seeking is of no use.
    size, check
        Bytes of the first packet and their CRC-32, to know it by.
    bytes
        Of all packets.
    """

    time_base: str
    first: int
    stamps: list[int | None]
    owned: list[int]
    keys: list[int]
    order: Order
    seek: int | None
    size: int
    check: int
    bytes: int

    def plain(self) -> dict[str, Any]:
        """Return the content as numbers and texts."""
        return {name: getattr(self, name) for name in self.__slots__}


def packet_record(size: int, check: int) -> bytes:
    """Return what a packet adds to the digest of its segment."""
    return struct.pack("<qI", size, check)


def cut_into_segments(
    index: PacketIndex,
    *,
    time_base: Fraction,
    least: int = LEAST_FRAMES,
    stamps_are_true: bool = True,
) -> tuple[Segment, ...]:
    """Cut a stream into segments; they depend on the stream alone.

    Parameters
    ----------
    index
        The packets of the stream.
    time_base
        Seconds in a unit of their time stamps.
    least
        Frames in a segment, at least.
    stamps_are_true
        Whether pictures come out in the order of the time stamps that the container tells.
    """
    count = len(index)
    if count == 0:
        return ()
    order: Order = "decoder"
    clean, leads = np.zeros(0, np.int64), np.zeros(count, np.int64)
    if index.key.all():
        order, clean = "packets", np.arange(1, count)
    elif stamps_are_true and _identify(index.pts):
        order = "time"
        clean, leads = _clean_cuts(index)
    cuts = [0]
    for cut in clean.tolist():
        if cut - cuts[-1] >= least and count - cut >= least:
            cuts.append(cut)
    ends = [*cuts[1:], count]
    return tuple(
        _segment(index, number, start, end, leads, time_base, order)
        for number, (start, end) in enumerate(zip(cuts, ends, strict=True))
    )


def _identify(stamps: NDArray[np.int64]) -> bool:
    """Tell whether there is a time stamp for every packet, and another one for each.

    Where it is not so, the others cannot be believed either: a container that repeats a stamp has
    given it to the wrong picture.
    """
    return bool((stamps != NO_STAMP).all()) and len(np.unique(stamps)) == len(stamps)


def _clean_cuts(index: PacketIndex) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the key frames that part the pictures before from those after, and what leads them.

    A key frame parts them when everything stored before it is shown before it, and everything
    stored after it is shown after it but for the leading pictures, which follow it at once.
    """
    pts, count = index.pts, len(index)
    before = np.concatenate(([NO_STAMP], np.maximum.accumulate(pts)[:-1]))
    after = np.append(np.minimum.accumulate(pts[::-1])[::-1], np.iinfo(np.int64).max)
    leads = np.zeros(count, np.int64)
    clean: list[int] = []
    keys = np.flatnonzero(index.key).tolist()
    for key, following in zip(keys, [*keys[1:], count], strict=True):
        later = pts[key + 1 : following] >= pts[key]
        lead = int(later.argmax()) if later.any() else len(later)
        if key > 0 and before[key] < pts[key] <= after[key + 1 + lead]:
            leads[key] = lead
            clean.append(key)
    return np.array(clean, np.int64), leads


def _segment(
    index: PacketIndex,
    number: int,
    start: int,
    end: int,
    leads: NDArray[np.int64],
    time_base: Fraction,
    order: Order,
) -> Segment:
    tail = int(leads[end]) if end < len(index) else 0
    stop = end + 1 + tail if tail else end
    places = np.concatenate(
        (
            [start],
            np.arange(start + 1 + leads[start], end),
            np.arange(end + 1, stop) if tail else np.zeros(0, np.int64),
        )
    ).astype(np.int64)
    places = places[~index.hidden[places]]
    if order == "time":
        places = places[np.argsort(index.pts[places])]
    fed = slice(start, stop)
    records = np.empty(stop - start, _RECORD)
    records["size"], records["check"] = index.size[fed], index.check[fed]
    seek = index.dts[start] if index.dts[start] != NO_STAMP else index.pts[start]
    span = Span(
        time_base=str(time_base),
        first=start,
        stamps=[None if stamp == NO_STAMP else stamp for stamp in index.pts[fed].tolist()],
        owned=(places - start).tolist(),
        keys=np.flatnonzero(index.key[start:end]).tolist(),
        order=order,
        seek=None if seek == NO_STAMP else int(seek),
        size=int(index.size[start]),
        check=int(index.check[start]),
        bytes=int(index.size[fed].sum()),
    )
    digest = f"{zlib.crc32(records.tobytes()):08x}"
    return Segment(number=number, frames=len(places), digest=digest, span=span.plain())
