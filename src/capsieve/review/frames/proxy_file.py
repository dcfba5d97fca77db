"""The file of a proxy: frames one after the other, each with its number.

It begins with a line of JSON that says what it is made from. Each frame is its number, its length
and its checksum (three uint32, little-endian), and then its bytes. While it is made it has another
name, and grows at its end: what a killed process left is gone on with. When it is whole, a table
beside it says where each frame begins.
"""

import json
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write
from capsieve.review.frames.proxy_packing import Packing

__all__ = ["ProxyTable", "append", "begin", "go_on", "load_table", "save_table"]

_HEADER = struct.Struct("<III")
_LONGEST_LINE = 4096
_NAME = b"capsieve"


@dataclass(frozen=True, slots=True, eq=False)
class ProxyTable:
    """Where the frames of a proxy begin.

    Attributes
    ----------
    packing
        How they are stored; None where they cannot be.
    offset, size, check
        Of each frame of the head: where its bytes begin, how many there are, and their CRC-32. A
        size of 0 stands for a frame that the proxy does not hold.
    """

    packing: Packing | None
    offset: NDArray[np.int64]
    size: NDArray[np.int64]
    check: NDArray[np.int64]

    @classmethod
    def empty(cls, packing: Packing | None, frames: int) -> "ProxyTable":
        """Return the table of a proxy without a frame."""
        return cls(packing, *(np.zeros(frames, np.int64) for _ in range(3)))

    def holds(self, frame: int) -> bool:
        """Tell whether a frame is in the proxy."""
        return bool(self.size[frame])


def begin(file: BinaryIO, packing: Packing, *, identity: str) -> None:
    """Write what a proxy is made from."""
    file.write(json.dumps({"identity": identity, "packing": packing.plain()}).encode() + b"\n")


def append(file: BinaryIO, table: ProxyTable, frame: int, content: bytes) -> None:
    """Write a frame at the end of a proxy, and note it in the table."""
    check = zlib.crc32(content)
    file.write(_HEADER.pack(frame, len(content), check))
    table.offset[frame], table.size[frame], table.check[frame] = file.tell(), len(content), check
    file.write(content)


def go_on(file: BinaryIO, frames: int, *, identity: str) -> ProxyTable | None:
    """Read what an unfinished proxy holds, and cut off what is torn; None: begin anew."""
    file.seek(0)
    line = file.readline(_LONGEST_LINE)
    try:
        content = json.loads(line)
        if content["identity"] != identity:
            return None
        table = ProxyTable.empty(Packing(**content["packing"]), frames)
    except (KeyError, TypeError, ValueError):
        return None
    whole = len(line)
    while len(header := file.read(_HEADER.size)) == _HEADER.size:
        frame, size, check = _HEADER.unpack(header)
        if frame >= frames or zlib.crc32(file.read(size)) != check:
            break
        table.offset[frame], table.size[frame] = whole + _HEADER.size, size
        table.check[frame] = check
        whole = file.tell()
    file.seek(whole)
    file.truncate()
    return table


def save_table(table: ProxyTable, path: Path, *, identity: str) -> None:
    """Write the table of a proxy, whole or not at all."""
    packing = None if table.packing is None else table.packing.plain()
    content = {"identity": identity, "packing": packing}
    columns = {"offset": table.offset, "size": table.size, "check": table.check}
    written = pa.table(columns).replace_schema_metadata({_NAME: json.dumps(content).encode()})
    with atomic_write(path) as temporary:
        pq.write_table(written, temporary, compression="zstd")


def load_table(path: Path, *, identity: str) -> ProxyTable | None:
    """Read the table of a proxy; None where there is none that holds for this source."""
    try:
        table = pq.read_table(path)
        content: dict[str, Any] = json.loads((table.schema.metadata or {})[_NAME])
        if content["identity"] != identity:
            return None
        packing = None if content["packing"] is None else Packing(**content["packing"])
        columns = [table.column(name).to_numpy() for name in ("offset", "size", "check")]
    except (OSError, KeyError, TypeError, ValueError, pa.ArrowException):
        return None
    return ProxyTable(packing, *columns)
