"""Losses that FFmpeg does not report: truncated files, skipped bytes, missing frames.

The structure of the file is checked if the container does not count its frames: the elements of
Matroska, the packets of MPEG streams, the boxes of fragmented MP4, the size of ASF.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.base import NO_STAMP, PacketTable, Problem

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

__all__ = ["find_losses", "lacks_index"]

_MOST_NAMED = 20
_TOLERANCE_S = 2.0
_PERIODS = 1.75  # a repeated field makes 1.5
_CUT_OFF = "it is cut off or damaged"
_CHUNK = 2**20
_MATROSKA = "matroska,webm"  # its structure is checked instead of its duration

_MOST_BOXES = 2_000_000

# Matroska: RFC 9559, section 5.
_SEGMENT, _CLUSTER, _CUES = 0x18538067, 0x1F43B675, 0x1C53BB6B
_CLUSTER_ID = _CLUSTER.to_bytes(4)
_BLOCKS = {0xA3, 0xA0}  # SimpleBlock, BlockGroup
_ANYWHERE = {0xEC, 0xBF}  # Void, CRC-32
_IN_SEGMENT = _ANYWHERE | {
    *(_CLUSTER, _CUES, 0x114D9B74, 0x1549A966, 0x1654AE6B, 0x1941A469, 0x1043A770, 0x1254C367)
}
_IN_CLUSTER = _ANYWHERE | _BLOCKS | {0xE7, 0x5854, 0xA7, 0xAB, 0xAF}
_CUE_POSITION = (0xBB, 0xB7, 0xF1)  # CuePoint, CueTrackPositions, CueClusterPosition

_ASF_FILE_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
_ASF_BROADCAST = 1  # the size is not known

_PS_END, _PS_PACK = 0xB9, b"\0\0\1\xba"
_TS_LENGTH, _TS_SYNC = 188, 0x47
_TS_STRIDES = (_TS_LENGTH, 192, 204)  # with time stamps (M2TS), with error correction
_TS_ROWS = 8192


class _Gap(NamedTuple):
    position: int  # in the file
    what: str

    @classmethod
    def between(cls, start: int, end: int) -> "_Gap":
        return cls(start, f"{end - start} bytes are damaged here, and frames in them may be lost")


def find_losses(
    file: BinaryIO,
    container: "InputContainer",
    stream: "VideoStream",
    packets: PacketTable,
    positions: NDArray[np.int64],
) -> tuple[int | None, list[Problem], str]:
    """Compare a stream with what the container declares, and check the structure of the file.

    Parameters
    ----------
    file
        The file, opened for reading.
    container, stream, packets
        The same file in FFmpeg, and all packets that were read.
    positions
        Position of each packet in the file; negative if unknown.

    Returns
    -------
    declared
        Number of frames that the container declares, or None.
    problems
        Losses.
    warning
        A possible loss, or "".
    """
    kind = container.format.name
    stamped = (packets.pts != NO_STAMP) & ~packets.hidden
    times = np.where(stamped, packets.pts, 0) * float(stream.time_base or 1)
    gaps: list[_Gap] = []
    warning = ""
    size = file.seek(0, 2)
    if kind == _MATROSKA:
        blocks = len(packets) if len(container.streams) == 1 else None
        gaps, warning = _matroska_gaps(file, size, blocks)
    elif kind == "mpegts":
        gaps = _transport_gaps(file, size, stream.id, len(packets))
    elif kind == "mpeg":
        gaps = _program_gaps(file, size)
    elif kind == "asf":
        gaps = _asf_gaps(file, size)
    elif kind.startswith("mov,") and stream.frames == 0:
        gaps = _fragment_gaps(file, size)
    problems: list[Problem] = []
    for position, what in gaps[:_MOST_NAMED]:
        before = times[stamped & (positions >= 0) & (positions < position)]
        problems.append(Problem(what, float(before.max()) if len(before) else None))
    if len(gaps) > _MOST_NAMED:
        problems.append(Problem(f"{len(gaps) - _MOST_NAMED} more parts of the file are damaged"))
    shown = np.sort(times[stamped])
    if not gaps:
        problems += _time_gaps(stream, packets, shown)
    declared, missing = _missing(container, stream, packets, shown)
    return declared, problems + missing, warning


def _missing(
    container: "InputContainer",
    stream: "VideoStream",
    packets: PacketTable,
    times: NDArray[np.float64],
) -> tuple[int | None, list[Problem]]:
    """Compare the number of frames or, if none is declared, the duration."""
    hidden = int(packets.hidden.sum())
    found = len(packets) - hidden
    duration = _declared_duration(container, stream)
    held = float(times[-1] - times[0]) if len(times) else 0.0
    usual = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    short = duration is not None and duration - held > max(_TOLERANCE_S, 2 * usual)
    last = float(times[-1]) if len(times) and short else None
    if stream.frames > 0:
        declared = max(stream.frames - hidden - _repeated(container, packets), 0)
        what = f"the file declares {declared} frames and contains {found}: {_CUT_OFF}"
        # AVI stores no times. They are counted, so a loss anywhere shortens the end.
        time = None if container.format.name == "avi" else last
        return declared, [Problem(what, time)] if found < declared else []
    what = f"the file declares {duration or 0:.1f} s and contains {held:.1f} s: {_CUT_OFF}"
    return None, [Problem(what, last)] if short else []


def _declared_duration(container: "InputContainer", stream: "VideoStream") -> float | None:
    if stream.duration is not None:
        return float(stream.duration * (stream.time_base or 1))
    if container.duration is None or len(container.streams) > 1:
        return None  # another stream may be longer
    return None if container.format.name == _MATROSKA else container.duration * 1e-6


def _repeated(container: "InputContainer", packets: PacketTable) -> int:
    """Return how many packets of an AVI are empty: they repeat the previous frame.

    FFmpeg leaves them out, but counts them in the decoding times, one per packet.
    """
    known = packets.dts[packets.dts != NO_STAMP]
    if container.format.name != "avi" or len(known) == 0:
        return 0
    return max(int(known.max() - known.min()) + 1 - len(packets), 0)


def _time_gaps(
    stream: "VideoStream", packets: PacketTable, times: NDArray[np.float64]
) -> list[Problem]:
    """Return gaps in the times of MPEG-1 and MPEG-2, which have a constant frame rate."""
    constant = stream.codec_context.name in ("mpeg1video", "mpeg2video")
    # If stamps repeat, they are wrong, and a gap means nothing.
    distinct = len(np.unique(packets.pts)) == len(packets)
    if not (constant and distinct and stream.average_rate):
        return []
    gaps = np.diff(times)
    return [
        Problem(f"frames are missing for {gaps[place]:.2f} s here", float(times[place]))
        for place in np.flatnonzero(gaps > _PERIODS / float(stream.average_rate))[:_MOST_NAMED]
    ]


# MP4


def lacks_index(path: Path) -> bool:
    """Return whether a file is an MP4 or MOV without the box that locates its frames.

    Cameras and encoders write this box (``moov``) last, so truncated files do not have it.
    """
    try:
        with path.open("rb") as file:
            kinds = [kind for kind, _, _ in _boxes(file)]
    except OSError:
        return False
    return b"mdat" in kinds and b"moov" not in kinds


def _fragment_gaps(file: BinaryIO, size: int) -> list[_Gap]:
    for kind, start, end in _boxes(file):
        if not kind.isalnum() or end < start + 8:
            return [_Gap.between(start, size)]
        if end > size:
            return [_Gap(size, f"the file ends inside a fragment: {_CUT_OFF}")]
    return []


def _boxes(file: BinaryIO) -> Iterator[tuple[bytes, int, int]]:
    """Yield kind, start and end of each top-level box."""
    start, size = 0, file.seek(0, 2)
    for _ in range(_MOST_BOXES):
        file.seek(min(start, size))  # a length of 64 bits can exceed every file
        head = file.read(16)
        if len(head) < 8:
            return
        length, kind = struct.unpack_from(">I4s", head)
        if length == 1 and len(head) == 16:  # the length follows, in 64 bits
            (length,) = struct.unpack_from(">Q", head, 8)
        yield kind, start, size if length == 0 else start + length
        if length < 8:  # 0: up to the end of the file; others are not boxes
            return
        start += length


# ASF (WMV)


def _asf_gaps(file: BinaryIO, size: int) -> list[_Gap]:
    """Compare the declared size, because FFmpeg knows no duration of a truncated file."""
    file.seek(0)
    properties = file.read(_CHUNK).partition(_ASF_FILE_PROPERTIES)[2][:80]
    if len(properties) < 80:
        return [_Gap(0, "the header of the file is damaged")]
    declared, flags = struct.unpack_from("<24xQ40xI", properties)
    if declared <= size or flags & _ASF_BROADCAST:
        return []
    return [_Gap(size, f"the file declares {declared} bytes and has {size}: {_CUT_OFF}")]


# Matroska


class _Element(NamedTuple):
    ident: int
    start: int  # of the content
    end: int | None  # None: unknown


def _matroska_gaps(file: BinaryIO, size: int, packets: int | None) -> tuple[list[_Gap], str]:
    """Walk through all elements down to the blocks; return damage and a warning, or "".

    `packets` is the number of packets that FFmpeg found, None if there are several streams.
    """
    segment = next((e for e in _elements(file, 0, size) if e.ident == _SEGMENT), None)
    if segment is None:
        return [_Gap(0, "the header of the file is damaged")], ""
    gaps: list[_Gap] = []
    warning = ""
    end = size if segment.end is None else min(segment.end, size)
    if segment.end is None:
        warning = "the file does not declare its length: the recording may be incomplete"
    elif segment.end > size:
        gaps.append(_Gap(size, f"the file declares {segment.end} bytes and has {size}: {_CUT_OFF}"))
    elif _find(file, _CLUSTER_ID, end, size) < size:
        gaps.append(_Gap(end, f"{size - end} bytes follow the declared end of the file"))
    incomplete = segment.end is None or segment.end > size
    clusters: set[int] = set()
    cues: set[int] = set()
    blocks = 0
    at, cluster_end, open_end = segment.start, 0, False
    while at < end:
        element = _element(file, at)
        inside = at < cluster_end
        allowed = _IN_CLUSTER if inside else _IN_SEGMENT
        if inside and open_end:  # a cluster of unknown length ends with the next one
            allowed = _IN_CLUSTER | _IN_SEGMENT
        limit = cluster_end if inside else end
        if element is not None and element.ident == _CLUSTER and element.ident in allowed:
            clusters.add(at)
            at, open_end = element.start, element.end is None
            cluster_end = min(element.end or end, end)
        elif (
            element is None
            or element.ident not in allowed
            or element.end is None
            or element.end > limit
        ):
            following = _find(file, _CLUSTER_ID, at + 1, end)
            if following == end and incomplete:
                if segment.end is None:
                    gaps.append(_Gap(at, f"the file ends inside a frame: {_CUT_OFF}"))
                break
            gaps.append(_Gap.between(at, following))
            at = cluster_end = following
        else:
            blocks += element.ident in _BLOCKS
            if element.ident == _CUES:
                cues |= {segment.start + cue for cue in _cues(file, element)}
            at = element.end
    if not gaps and cues - clusters:
        what = f"the index names {len(cues - clusters)} places without frames: {_CUT_OFF}"
        gaps.append(_Gap(min(cues - clusters), what))
    if not gaps and packets is not None and blocks > packets:
        gaps.append(_Gap(0, f"{blocks - packets} frames cannot be read: the file is damaged"))
    return gaps, warning


def _cues(file: BinaryIO, parent: _Element, depth: int = 0) -> Iterator[int]:
    """Yield the positions of clusters in an index, relative to the start of the segment."""
    for element in _elements(file, parent.start, parent.end or parent.start):
        if element.ident == _CUE_POSITION[depth] and element.end is not None:
            if depth < len(_CUE_POSITION) - 1:
                yield from _cues(file, element, depth + 1)
            else:
                file.seek(element.start)
                yield int.from_bytes(file.read(min(element.end - element.start, 8)))


def _elements(file: BinaryIO, at: int, end: int) -> Iterator[_Element]:
    while at < end:
        element = _element(file, at)
        if element is None:
            return
        yield element
        if element.end is None:
            return
        at = element.end


def _element(file: BinaryIO, at: int) -> _Element | None:
    """Return the EBML element at a position; None if there is none."""
    file.seek(at)
    head = file.read(12)
    if len(head) < 2 or head[0] < 0x10:
        return None
    width = 9 - head[0].bit_length()
    length = 9 - head[width].bit_length() if len(head) > width else 9
    if length > 8 or len(head) < width + length:
        return None
    unknown = (1 << 7 * length) - 1
    value = int.from_bytes(head[width : width + length]) & unknown
    start = at + width + length
    return _Element(
        int.from_bytes(head[:width]), start, None if value == unknown else start + value
    )


# MPEG program stream


def _program_gaps(file: BinaryIO, size: int) -> list[_Gap]:
    """Walk through all packets; return where there are none."""
    gaps: list[_Gap] = []
    at = 0
    while at < size:
        file.seek(at)
        head = file.read(14).ljust(14, b"\0")
        if head[:3] != b"\0\0\1" or head[3] < _PS_END:
            following = _find(file, _PS_PACK, at + 1, size)
            gaps.append(_Gap.between(at, following))
            at = following
        elif head[3] == _PS_END:
            at = _find(file, _PS_PACK, at + 4, size)  # what follows is not part of the program
        elif head[3] == _PS_PACK[3]:
            at += 14 + (head[13] & 7) if head[4] & 0xC0 == 0x40 else 12  # MPEG-2, MPEG-1
        else:
            at += 6 + int.from_bytes(head[4:6])
    if at > size:
        gaps.append(_Gap(size, f"the file ends inside a packet: {_CUT_OFF}"))
    return gaps


# MPEG transport stream


def _transport_gaps(file: BinaryIO, size: int, pid: int, frames: int) -> list[_Gap]:
    """Return damaged packets and, by their counter, missing ones.

    `frames` is the number of frames that FFmpeg found. Each PES packet contains at least one.
    """
    file.seek(0)
    first = np.frombuffer(file.read(_CHUNK), np.uint8)
    stride = max(_TS_STRIDES, key=lambda each: _sync_places(first, each, last=False).sum())
    gaps: list[_Gap] = []
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
            gaps.append(_Gap(at + int(numbers[number]) * stride, "data are missing here"))
        if len(numbers):
            counter = int(rows[numbers[-1], 3] & 0x0F)
        at += count * stride
        if count < len(rows):
            following = _next_sync(file, at, size, stride)
            gaps.append(_Gap.between(at, following))
            at, counter = following, None
    if at - stride + _TS_LENGTH > size:
        gaps.append(_Gap(size, f"the file ends inside a packet: {_CUT_OFF}"))
    if not gaps and starts > frames:
        gaps.append(_Gap(0, f"{starts - frames} frames cannot be read: the file is damaged"))
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
        data = np.frombuffer(file.read(_CHUNK), np.uint8)
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


def _find(file: BinaryIO, wanted: bytes, start: int, end: int) -> int:
    """Return the next position of some bytes, or the end."""
    while start < end:
        file.seek(start)
        place = file.read(min(_CHUNK, end - start)).find(wanted)
        if place >= 0:
            return start + place
        start += _CHUNK - len(wanted) + 1
    return end
