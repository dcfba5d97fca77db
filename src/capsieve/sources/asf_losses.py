"""Losses in ASF (WMV): the declared size, and the numbers of the frames in each packet.

FFmpeg passes over damaged packets and knows no duration of a truncated file. Every frame (media
object) of a stream has a number, which is one higher than that of the previous one. The format is
described in "Advanced Systems Format (ASF) Specification", sections 3.2 and 5.2.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from capsieve.sources.file_gaps import CHUNK, CUT_OFF, Gap

_FILE_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
_DATA = bytes.fromhex("3626b2758e66cf11a6d900aa0062ce6c")
_DATA_HEAD = 50  # bytes of the data object before its packets
_BROADCAST = 1  # sizes are not known
_UNSEEN = "the packets of the file have no common size, so lost frames cannot be recognised"
_DAMAGED = "data are damaged here, and frames in them may be lost"


def asf_gaps(file: BinaryIO, size: int, stream: int, frames: int) -> tuple[list[Gap], str]:
    """Compare the declared size, and walk through the packets; return damage and a warning, or "".

    `stream` is the number of the stream in the container, and `frames` how many FFmpeg found.
    """
    file.seek(0)
    head = file.read(CHUNK)
    properties = head.partition(_FILE_PROPERTIES)[2][:84]
    data = head.find(_DATA)
    if len(properties) < 84 or data < 0:
        return [Gap(0, "the header of the file is damaged")], ""
    declared, packets, flags, smallest, largest = struct.unpack("<24xQ8xQ24xIII", properties)
    gaps: list[Gap] = []
    if declared > size and not flags & _BROADCAST:
        gaps.append(Gap(size, f"the file declares {declared} bytes and has {size}: {CUT_OFF}"))
    if flags & _BROADCAST or smallest != largest or not largest:
        return gaps, _UNSEEN
    start = data + _DATA_HEAD
    whole = min(packets, (size - start) // largest)
    missing, held = _number_gaps(file, start, whole, largest, stream)
    if not (gaps or missing) and held > frames:
        gaps.append(Gap(0, f"{held - frames} frames cannot be read: the file is damaged"))
    return missing + gaps, ""


def _number_gaps(
    file: BinaryIO, start: int, count: int, length: int, stream: int
) -> tuple[list[Gap], int]:
    """Return where the numbers of the frames of a stream are not consecutive, and their count."""
    gaps: list[Gap] = []
    frames = 0
    last: tuple[int, int, int] | None = None  # of a payload: frame, its size, end of the payload
    sound = True
    for position in range(start, start + count * length, length):
        file.seek(position)
        try:
            payloads = list(_payloads(file.read(length)))
        except (IndexError, struct.error, ValueError):
            gaps += [Gap(position, _DAMAGED)] if sound else []  # one for consecutive packets
            sound, last = False, None
            continue
        sound = True
        for number, frame, offset, size, held in payloads:
            if number != stream:
                continue
            if last is not None:
                continued = frame == last[0] and offset == last[2]
                following = frame == (last[0] + 1) % 256 and offset == 0 and last[2] == last[1]
                if not (continued or following):
                    gaps.append(Gap(position, _DAMAGED))
            last = frame, size, offset + held
            frames += offset == 0
    return gaps, frames


def _payloads(packet: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Yield stream, frame (8 bits), offset in the frame, size of the frame and of the payload."""
    at = 0

    def value(kind: int) -> int:
        nonlocal at
        width = (0, 1, 2, 4)[kind & 3]
        at += width
        if at > len(packet):
            raise ValueError("the packet is too short")
        return int.from_bytes(packet[at - width : at], "little")

    if packet[0] & 0x80:  # error correction
        at = 1 + (packet[0] & 0x0F)
    lengths, fields = packet[at], packet[at + 1]
    at += 2
    declared = value(lengths >> 5)
    value(lengths >> 1)  # sequence
    end = (declared or len(packet)) - value(lengths >> 3)  # without padding
    if fields & 0xC0 != 0x40 or end > len(packet):
        raise ValueError("not a packet")
    at += 6  # times
    several = lengths & 1
    number = value(1) if several else 1
    for _ in range(number & 0x3F):
        stream, frame = value(1) & 0x7F, value(fields >> 4) & 0xFF
        offset, described = value(fields >> 2), value(fields)
        if described < 8:
            raise ValueError("the payload has no description of its frame")
        (size,) = struct.unpack_from("<I", packet, at)
        at += described
        held = value(number >> 6) if several else end - at
        at += held
        if held <= 0 or offset + held > size or at > end:
            raise ValueError("the payload exceeds its frame")
        yield stream, frame, offset, size, held
