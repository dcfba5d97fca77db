"""Several pictures in one answer.

For each picture, little-endian: its number (uint32), how many bytes it has (uint32), its kind
(uint8), three zeros, and the bytes.
"""

import struct
from collections.abc import Iterable
from typing import TypeAlias

__all__ = ["MEDIA_TYPES", "MOST_TOGETHER", "Picture", "pack"]

Picture: TypeAlias = tuple[str, bytes]
"""A kind and the bytes; the kind is empty where there is nothing to be shown."""

MOST_TOGETHER = 64
"""Pictures that one answer holds at most."""

MEDIA_TYPES = {"": "", "jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}
"""What a browser calls each kind; the empty one cannot be shown. Its place is its number."""

_HEADER = struct.Struct("<IIB3x")
_NUMBERS = {kind: number for number, kind in enumerate(MEDIA_TYPES)}


def pack(pictures: Iterable[tuple[int, Picture]]) -> bytes:
    """Return numbered pictures as one run of bytes."""
    parts: list[bytes] = []
    for number, (kind, content) in pictures:
        parts += [_HEADER.pack(number, len(content), _NUMBERS[kind]), content]
    return b"".join(parts)
