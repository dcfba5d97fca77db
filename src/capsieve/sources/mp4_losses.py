"""Losses in MP4 and MOV: an absent index, and the fragments of a fragmented file.

The boxes are those of ISO/IEC 14496-12, section 8.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from capsieve.errors import FileError
from capsieve.sources.file_gaps import CUT_OFF, Gap
from capsieve.user_files import open_file

_MOST_BOXES = 2_000_000
_HEAD = 8  # bytes: length and kind
_SEQUENCE = 20  # of a fragment: heads of moof and mfhd, then version and flags


def lacks_index(path: Path) -> bool:
    """Return whether a file is an MP4 or MOV without the box that locates its frames.

    Cameras and encoders write this box (``moov``) last, so truncated files do not have it.
    """
    try:
        with open_file(path) as file:
            kinds = [kind for kind, _, _ in _boxes(file)]
    except (FileError, OSError):
        return False
    return b"mdat" in kinds and b"moov" not in kinds


def is_fragmented(file: BinaryIO) -> bool:
    """Return whether frames may follow in fragments: then no box declares their number."""
    return any(
        kind == b"moov" and any(inner == b"mvex" for inner, _, _ in _boxes(file, start, end))
        for kind, start, end in _boxes(file)
    )


def fragment_gaps(file: BinaryIO, size: int, held: int | None) -> tuple[list[Gap], str]:
    """Walk through the fragments, which are numbered; return damage and a warning, or "".

    `held` is the size of all frames that FFmpeg found, None if there are several streams.
    """
    gaps: list[Gap] = []
    media = 0
    number: int | None = None
    kinds: set[bytes] = set()
    for kind, start, end in _boxes(file):
        kinds.add(kind)
        if not kind.isalnum() or end < start + _HEAD:
            return [*gaps, Gap.between(start, size)], ""
        if end > size:
            return [*gaps, Gap(size, f"the file ends inside a fragment: {CUT_OFF}")], ""
        if kind == b"moof":
            following = _sequence_number(file, start)
            if number is not None and following != number + 1:
                gaps.append(Gap(start, "fragments of the video are missing here"))
            number = following
        if kind == b"mdat":
            media += end - start - _HEAD
    if not gaps and held is not None and media > held:
        problem = f"{media - held} bytes of the video belong to no frame: the file is damaged"
        gaps.append(Gap(0, problem))
    if gaps or b"mfra" in kinds:
        return gaps, ""
    return [], "the file has no index of its fragments at the end: the recording may be incomplete"


def _sequence_number(file: BinaryIO, start: int) -> int | None:
    file.seek(start + _HEAD)
    head = file.read(_SEQUENCE - _HEAD + 4)
    return int.from_bytes(head[-4:]) if head[4:8] == b"mfhd" else None


def _boxes(
    file: BinaryIO, start: int = 0, end: int | None = None
) -> Iterator[tuple[bytes, int, int]]:
    """Yield kind, start and end of each top-level box, or of those inside another one."""
    size = file.seek(0, 2)
    start, limit = (0, size) if end is None else (start + _HEAD, min(end, size))
    for _ in range(_MOST_BOXES):
        if start >= limit:  # a length of 64 bits can exceed every file
            return
        file.seek(start)
        head = file.read(16)
        if len(head) < _HEAD:
            return
        length, kind = struct.unpack_from(">I4s", head)
        if length == 1 and len(head) == 16:  # the length follows, in 64 bits
            (length,) = struct.unpack_from(">Q", head, 8)
        yield kind, start, limit if length == 0 else start + length
        if length < _HEAD:  # 0: up to the end of the file; others are not boxes
            return
        start += length
