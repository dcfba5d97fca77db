"""Where the packets of a video lie, and which of them a frame is made from.

Made once by reading through the file; afterwards any packet is read by its place in the file,
without the container. Its checksum tells that it is still the same. Packets that a container
stores in pieces (MPEG transport and program streams) have no single place: they are copied into a
file beside the index.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write
from capsieve.sources.source import Segment
from capsieve.sources.video.cutting import Order, Span, cut_into_segments
from capsieve.sources.video.packet_index import NO_STAMP, PacketIndex

__all__ = ["INDEX_VERSION", "VideoIndex", "load_index", "save_index"]

INDEX_VERSION = 1
"""It grows when the index, or what is made from it, changes its meaning."""

_NAME = b"capsieve"
_PACKETS = ("pts", "dts", "size", "check", "place", "key", "hidden")
_COLUMNS = ("offset", "copied", "row", "stop", "first_row")


@dataclass(frozen=True, slots=True, eq=False)
class VideoIndex:
    """The packets of a stream, in groups that can be decoded apart.

    Attributes
    ----------
    packets
        What reading through the file told.
    offset, copied
        Where each packet's bytes begin, and whether that is in the file of copies.
    row
        The number of the frame that each packet becomes; -1 where it is not shown.
    stop, first_row
        For a packet that begins a group: the packet after the last one that the decoder is fed,
        and the number of the group's first frame; 0 and -1 for all others.
    order
        See :class:`~capsieve.sources.video.cutting.Span`.
    stamps_are_true
        See :func:`~capsieve.sources.video.cutting.cut_into_segments`.
    time_base
        Seconds in a unit of the time stamps.
    """

    packets: PacketIndex
    offset: NDArray[np.int64]
    copied: NDArray[np.bool_]
    row: NDArray[np.int64]
    stop: NDArray[np.int64]
    first_row: NDArray[np.int64]
    order: Order
    stamps_are_true: bool
    time_base: Fraction

    @property
    def frames(self) -> int:
        """How many frames there are."""
        return int((self.row >= 0).sum())

    @property
    def longest_group(self) -> int:
        """The most packets that are decoded for the sake of one frame."""
        starts = np.flatnonzero(self.stop)
        return int((self.stop[starts] - starts).max()) if len(starts) else 0

    def packet_of(self) -> NDArray[np.int64]:
        """Return the packet of each frame."""
        shown = np.flatnonzero(self.row >= 0)
        return shown[np.argsort(self.row[shown])]

    def groups(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first packet and the first frame of each group that has frames."""
        starts = np.flatnonzero(self.first_row >= 0)
        return starts, self.first_row[starts]

    def span(self, start: int, owned: NDArray[np.int64]) -> Span:
        """Return what it takes to decode a group.

        Parameters
        ----------
        start
            Its first packet.
        owned
            The packets of its frames, in order.
        """
        stop = int(self.stop[start])
        packets = self.packets
        fed = packets.pts[start:stop].tolist()
        return Span(
            time_base=str(self.time_base),
            first=start,
            stamps=[None if stamp == NO_STAMP else stamp for stamp in fed],
            owned=(owned - start).tolist(),
            keys=np.flatnonzero(packets.key[start:stop]).tolist(),
            order=self.order,
            seek=None,
            size=int(packets.size[start]),
            check=int(packets.check[start]),
            bytes=int(packets.size[start:stop].sum()),
        )

    def screened_segments(self) -> tuple[Segment, ...]:
        """Return the segments in which the exam was screened."""
        return cut_into_segments(
            self.packets, time_base=self.time_base, stamps_are_true=self.stamps_are_true
        )


def save_index(index: VideoIndex, path: Path, *, identity: str) -> None:
    """Write an index, whole or not at all."""
    columns = {name: getattr(index.packets, name) for name in _PACKETS}
    columns |= {name: getattr(index, name) for name in _COLUMNS}
    content = {
        "version": INDEX_VERSION,
        "identity": identity,
        "order": index.order,
        "stamps_are_true": index.stamps_are_true,
        "packed": index.packets.packed,
        "time_base": str(index.time_base),
    }
    table = pa.table(columns).replace_schema_metadata({_NAME: json.dumps(content).encode()})
    with atomic_write(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def load_index(path: Path, *, identity: str) -> VideoIndex | None:
    """Read an index; None where there is none that holds for this source."""
    try:
        table = pq.read_table(path)
        content = json.loads((table.schema.metadata or {})[_NAME])
        if (content["version"], content["identity"]) != (INDEX_VERSION, identity):
            return None
        read = {name: table.column(name).to_numpy() for name in (*_PACKETS, *_COLUMNS)}
        order, packed = content["order"], content["packed"]
        true, base = content["stamps_are_true"], Fraction(content["time_base"])
    except (OSError, KeyError, ValueError, pa.ArrowException):  # torn, foreign: made anew
        return None
    packets: dict[str, Any] = {name: read[name] for name in _PACKETS}
    return VideoIndex(
        packets=PacketIndex(**packets, packed=packed, problems=()),
        **{name: read[name] for name in _COLUMNS},
        order=order,
        stamps_are_true=true,
        time_base=base,
    )
