"""Empty packets of AVI: they repeat the previous frame, and are no loss."""

from typing import BinaryIO

import numpy as np

__all__ = ["empty_entries"]

_LARGEST_INDEX = 64 * 2**20  # 4 million entries
_ENTRY = np.dtype([("stream", "S2"), ("kind", "S2"), ("rest", "<u4", 2), ("size", "<u4")])


def empty_entries(file: BinaryIO, size: int, stream: int) -> int | None:
    """Return how many entries of the index are empty packets of a video stream.

    None if the index is missing, damaged, or not the only one: files of more than 1 GB have several
    (OpenDML), which refer to each other by chunks called indx.

    Parameters
    ----------
    file, size
        The file and its size in bytes.
    stream
        Number of the stream.
    """
    position = 12  # after RIFF, its length and AVI
    while position + 8 <= size:
        file.seek(position)
        head = file.read(12)
        length = int.from_bytes(head[4:8], "little")
        if head[:4] == b"LIST" and head[8:] == b"hdrl" and length < _LARGEST_INDEX:
            if b"indx" in file.read(length):
                return None
        elif head[:4] == b"idx1" and length < _LARGEST_INDEX:
            file.seek(position + 8)
            content = file.read(length - length % _ENTRY.itemsize)
            entries = np.frombuffer(content[: len(content) // 16 * 16], _ENTRY)
            ours = (entries["stream"] == b"%02d" % stream) & (entries["size"] == 0)
            return int(np.count_nonzero(ours))
        position += 8 + length + length % 2
    return None
