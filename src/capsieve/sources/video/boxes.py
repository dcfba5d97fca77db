"""The boxes of an MP4 file, as far as they tell why it cannot be opened."""

import struct
from pathlib import Path

__all__ = ["lacks_its_index"]

_FIRST = {b"ftyp", b"mdat", b"wide", b"free", b"skip"}
_MOST_BOXES = 1000


def lacks_its_index(path: Path) -> bool:
    """Tell whether a file is an MP4 or MOV without the box that says where its frames are.

    Cameras and encoders write that box (``moov``) last: it is what a cut-off file has lost.
    """
    kinds: list[bytes] = []
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = 0
            while start + 8 <= size and len(kinds) < _MOST_BOXES:
                file.seek(start)
                length, kind = struct.unpack(">I4s", file.read(8))
                if length == 1:  # the true length follows, in 64 bits
                    (length,) = struct.unpack(">Q", file.read(8))
                kinds.append(kind)
                if length < 8:  # 0: up to the end of the file; others are no boxes
                    break
                start += length
    except (OSError, struct.error):
        return False
    return bool(kinds) and kinds[0] in _FIRST and b"mdat" in kinds and b"moov" not in kinds
