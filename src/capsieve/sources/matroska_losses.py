"""Losses in Matroska and WebM: the elements of the file down to the blocks.

The format is that of RFC 9559, section 5.
"""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from capsieve.sources.file_gaps import CUT_OFF, Gap, find_bytes

_SEGMENT, _CLUSTER, _CUES = 0x18538067, 0x1F43B675, 0x1C53BB6B
_CLUSTER_ID = _CLUSTER.to_bytes(4)
_BLOCKS = {0xA3, 0xA0}  # SimpleBlock, BlockGroup
_ANYWHERE = {0xEC, 0xBF}  # Void, CRC-32
_IN_SEGMENT = _ANYWHERE | {
    *(_CLUSTER, _CUES, 0x114D9B74, 0x1549A966, 0x1654AE6B, 0x1941A469, 0x1043A770, 0x1254C367)
}
_IN_CLUSTER = _ANYWHERE | _BLOCKS | {0xE7, 0x5854, 0xA7, 0xAB, 0xAF}
_CUE_POSITION = (0xBB, 0xB7, 0xF1)  # CuePoint, CueTrackPositions, CueClusterPosition


class _Element(NamedTuple):
    ident: int
    start: int  # of the content
    end: int | None  # None: unknown


def matroska_gaps(file: BinaryIO, size: int, packets: int | None) -> tuple[list[Gap], str]:
    """Walk through all elements down to the blocks; return damage and a warning, or "".

    `packets` is the number of packets that FFmpeg found, None if there are several streams.
    """
    segment = next((e for e in _elements(file, 0, size) if e.ident == _SEGMENT), None)
    if segment is None:
        return [Gap(0, "the header of the file is damaged")], ""
    gaps: list[Gap] = []
    warning = ""
    end = size if segment.end is None else min(segment.end, size)
    if segment.end is None:
        warning = "the file does not declare its length: the recording may be incomplete"
    elif segment.end > size:
        gaps.append(Gap(size, f"the file declares {segment.end} bytes and has {size}: {CUT_OFF}"))
    elif find_bytes(file, _CLUSTER_ID, end, size) < size:
        gaps.append(Gap(end, f"{size - end} bytes follow the declared end of the file"))
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
            following = find_bytes(file, _CLUSTER_ID, at + 1, end)
            if following == end and incomplete:
                if segment.end is None:
                    gaps.append(Gap(at, f"the file ends inside a frame: {CUT_OFF}"))
                break
            gaps.append(Gap.between(at, following))
            at = cluster_end = following
        else:
            blocks += element.ident in _BLOCKS
            if element.ident == _CUES:
                cues |= {segment.start + cue for cue in _cues(file, element)}
            at = element.end
    if not gaps and cues - clusters:
        problem = f"the index names {len(cues - clusters)} places without frames: {CUT_OFF}"
        gaps.append(Gap(min(cues - clusters), problem))
    if not gaps and packets is not None and blocks > packets:
        gaps.append(Gap(0, f"{blocks - packets} frames cannot be read: the file is damaged"))
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
