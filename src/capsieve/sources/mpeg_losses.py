"""Losses in MPEG program streams and transport streams: their packets, one after the other."""

from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.file_gaps import CHUNK, CUT_OFF, Gap, find_bytes

_PS_END, _PS_PACK = 0xB9, b"\0\0\1\xba"
_TS_LENGTH, _TS_SYNC = 188, 0x47
_TS_STRIDES = (_TS_LENGTH, 192, 204)  # with time stamps (M2TS), with error correction
_TS_ROWS = 8192


def program_gaps(file: BinaryIO, size: int) -> list[Gap]:
    """Walk through all packets; return where there are none."""
    gaps: list[Gap] = []
    at = 0
    while at < size:
        file.seek(at)
        head = file.read(14).ljust(14, b"\0")
        if head[:3] != b"\0\0\1" or head[3] < _PS_END:
            following = find_bytes(file, _PS_PACK, at + 1, size)
            gaps.append(Gap.between(at, following))
            at = following
        elif head[3] == _PS_END:
            at = find_bytes(file, _PS_PACK, at + 4, size)  # what follows is not part of the program
        elif head[3] == _PS_PACK[3]:
            at += 14 + (head[13] & 7) if head[4] & 0xC0 == 0x40 else 12  # MPEG-2, MPEG-1
        else:
            at += 6 + int.from_bytes(head[4:6])
    if at > size:
        gaps.append(Gap(size, f"the file ends inside a packet: {CUT_OFF}"))
    return gaps


def transport_gaps(file: BinaryIO, size: int, pid: int, frames: int) -> list[Gap]:
    """Return damaged packets and, by their counter, missing ones.

    `frames` is the number of frames that FFmpeg found. Each PES packet contains at least one.
    """
    file.seek(0)
    first = np.frombuffer(file.read(CHUNK), np.uint8)
    stride = max(_TS_STRIDES, key=lambda each: _sync_places(first, each, last=False).sum())
    gaps: list[Gap] = []
    starts = 0
    at = _next_sync(file, 0, size, stride)
    counter: int | None = None
    while at < size:
        file.seek(at)
        data = file.read(stride * _TS_ROWS)
        data += bytes(-len(data) % stride)
        rows = np.frombuffer(data, np.uint8).reshape(-1, stride)
        sound = rows[:, 0] == _TS_SYNC
        count = len(rows) if sound.all() else int(sound.argmin())
        numbers = np.flatnonzero(
            ((rows[:count, 1] & 0x1F).astype(int) << 8 | rows[:count, 2]) == pid
        )
        starts += int((rows[numbers, 1] & 0x40 != 0).sum())
        for number in _counter_breaks(rows[numbers], counter):
            gaps.append(Gap(at + int(numbers[number]) * stride, "data are missing here"))
        if len(numbers):
            counter = int(rows[numbers[-1], 3] & 0x0F)
        at += count * stride
        if count < len(rows):
            following = _next_sync(file, at, size, stride)
            gaps.append(Gap.between(at, following))
            at, counter = following, None
    if at - stride + _TS_LENGTH > size:
        gaps.append(Gap(size, f"the file ends inside a packet: {CUT_OFF}"))
    if not gaps and starts > frames:
        gaps.append(Gap(0, f"{starts - frames} frames cannot be read: the file is damaged"))
    return gaps


def _counter_breaks(rows: NDArray[np.uint8], counter: int | None) -> NDArray[np.int64]:
    """Return the rows before which packets of the stream are missing."""
    if len(rows) == 0:
        return np.zeros(0, np.int64)
    counters = (rows[:, 3] & 0x0F).astype(int)
    previous = np.concatenate(([counters[0] - 1 if counter is None else counter], counters[:-1]))
    announced = (rows[:, 3] & 0x20 != 0) & (rows[:, 4] > 0) & (rows[:, 5] & 0x80 != 0)
    step = (counters - previous) % 16
    broken = (step > 1) & ~announced  # the same number again is a copy, which is allowed
    return np.flatnonzero(broken)


def _next_sync(file: BinaryIO, start: int, end: int, stride: int) -> int:
    """Return where three packets in a row, or the last ones, start; otherwise the end."""
    while start < end:
        file.seek(start)
        data = np.frombuffer(file.read(CHUNK), np.uint8)
        last = start + len(data) >= end
        places = _sync_places(data, stride, last=last)
        if last:
            places[max(len(data) - _TS_LENGTH + 1, 0) :] = False
        if places.any():
            return start + int(places.argmax())
        start += len(data) if last else len(data) - 2 * stride
    return end


def _sync_places(data: NDArray[np.uint8], stride: int, *, last: bool) -> NDArray[np.bool_]:
    """Return where this and the next two packets would start; nothing contradicts after the end."""
    count = len(data)
    sync = np.concatenate((data == _TS_SYNC, np.full(2 * stride, last)))
    return sync[:count] & sync[stride : count + stride] & sync[2 * stride :]
