"""The checksums of FFV1, which FFmpeg computes but does not report (RFC 9043, section 4.9).

A frame is a sequence of slices. A slice ends with its size, and if the stream has checksums with a
state and a parity that makes the CRC-32 of the whole slice zero.
"""

import zlib

_SIZE, _CHECKED = 3, 8  # bytes after a slice, without and with a checksum
_BACKWARDS = bytes(int(f"{value:08b}"[::-1], 2) for value in range(256))


def is_damaged_ffv1(packet: bytes, extradata: bytes) -> bool:
    """Return whether a frame is damaged; versions without checksums count as intact.

    Whether a stream of version 3 has checksums is seen from the slices: without them, the sizes
    alone lead from the end of the frame to its start.
    """
    if not extradata or _crc(extradata):  # versions 0 and 1, or 4
        return False
    slices = _slices(packet, _CHECKED)
    checked = bool(slices) and not any(_crc(packet[start:end]) for start, end in slices)
    return not checked and not _slices(packet, _SIZE)


def _slices(packet: bytes, trailer: int) -> list[tuple[int, int]]:
    """Return start and end of each slice, the last one first; none if the sizes do not fit."""
    slices: list[tuple[int, int]] = []
    end = len(packet)
    while end:
        size = int.from_bytes(packet[end - trailer : end - trailer + _SIZE]) if end > trailer else 0
        start = end - trailer - size
        if size == 0 or start < 0:
            return []
        slices.append((start, end))
        end = start
    return slices


def _crc(data: bytes) -> int:
    """Return the CRC-32 with the highest bit first and without inversion, in reversed order."""
    return zlib.crc32(data.translate(_BACKWARDS), 0xFFFFFFFF) ^ 0xFFFFFFFF
