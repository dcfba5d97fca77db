"""Parts of a video file that are damaged or missing, whatever the container."""

from typing import BinaryIO, NamedTuple

CHUNK = 2**20
"""Bytes to read at once."""

CUT_OFF = "it is cut off or damaged"


class Gap(NamedTuple):
    """A part of a file that is damaged or missing."""

    position: int  # in the file
    what: str

    @classmethod
    def between(cls, start: int, end: int) -> "Gap":
        """Return the gap of some damaged bytes."""
        return cls(start, f"{end - start} bytes are damaged here, and frames in them may be lost")


def find_bytes(file: BinaryIO, wanted: bytes, start: int, end: int) -> int:
    """Return the next position of some bytes, or the end."""
    while start < end:
        file.seek(start)
        offset = file.read(min(CHUNK, end - start)).find(wanted)
        if offset >= 0:
            return start + offset
        start += CHUNK - len(wanted) + 1
    return end
