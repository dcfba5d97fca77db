"""What folders and archives of images have in common: a list of stored images."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.sources.image_file import decode_image
from capsieve.sources.image_names import count_kinds
from capsieve.sources.source import Segment, SourceFrame, Survey

__all__ = [
    "LARGEST_IMAGE",
    "Row",
    "changed",
    "cut_into_segments",
    "decode_frame",
    "describe",
    "expected_frames",
    "rows_of",
    "sample_frames",
]

LARGEST_IMAGE = 200_000_000
"""Bytes of an image file that is still read; no frame of a capsule comes near."""

Row = Sequence[Any]
"""A stored image in the span of a segment: its name, the checksum of its stored bytes, and what
the source needs besides to find it. Plain numbers and texts."""

_SEGMENT_IMAGES = 240
_SAMPLED_BYTES = 500_000_000
_TRIES = 8


def cut_into_segments(rows: Sequence[Row]) -> tuple[Segment, ...]:
    """Cut a list of stored images into segments of some hundred."""
    starts = range(0, len(rows), _SEGMENT_IMAGES)
    return tuple(
        _segment(number, rows[start : start + _SEGMENT_IMAGES])
        for number, start in enumerate(starts)
    )


def _segment(number: int, rows: Sequence[Row]) -> Segment:
    listing = "".join(f"{name}\0{checksum}\n" for name, checksum, *_ in rows)
    digest = f"{zlib.crc32(listing.encode('utf-8', 'surrogatepass')):08x}"
    return Segment(number, len(rows), digest, {"images": [list(row) for row in rows]})


def rows_of(segment: Segment) -> list[Row]:
    """Return the stored images of a segment."""
    return segment.span["images"]


def expected_frames(segment: Segment) -> Iterator[SourceFrame]:
    """Yield the frames of a segment without reading them."""
    for name, *_ in rows_of(segment):
        yield SourceFrame(None, file=name)


def decode_frame(name: str, data: bytes | str) -> SourceFrame:
    """Return the frame that a stored image is.

    Parameters
    ----------
    name
        Its name.
    data
        Its content, or the reason why that cannot be had.
    """
    if isinstance(data, str):
        return SourceFrame(None, file=name, problem=data)
    try:
        return SourceFrame(decode_image(data, name=name), file=name)
    except FileError as error:
        # A frame carries its name already.
        why = str(error).removeprefix(f"cannot read {name}: ")
        return SourceFrame(None, file=name, problem=why)


def sample_frames(
    survey: Survey, count: int, decode: Callable[[Row], SourceFrame]
) -> list[NDArray[Any]]:
    """Return pixels of about `count` images spread evenly, those that decode.

    In the place of an image that does not decode comes one of the next few. Huge images end the
    list early, before they fill the memory.
    """
    rows = [row for segment in survey.segments for row in rows_of(segment)]
    count = min(count, len(rows))
    sampled: list[NDArray[Any]] = []
    budget = _SAMPLED_BYTES
    for number in range(count):
        # The middle of each share, so that neither end of the exam weighs more.
        first = (2 * number + 1) * len(rows) // (2 * count)
        last = max(first + 1, (2 * number + 3) * len(rows) // (2 * count))
        for row in rows[first : min(last, first + _TRIES)]:
            pixels = decode(row).pixels
            if pixels is not None:
                sampled.append(pixels)
                budget -= pixels.nbytes
                break
        if budget < 0:
            break
    return sampled


def describe(
    container: str, rows: Sequence[Row], decode: Callable[[Row], SourceFrame]
) -> dict[str, Any]:
    """Return what the exam's record says of a list of images; its size is that of the first."""
    shape: tuple[int, ...] | None = None
    for row in rows[:_TRIES]:
        pixels = decode(row).pixels
        if pixels is not None:
            shape = pixels.shape
            break
    return {
        "container": container,
        "codec": count_kinds([name for name, *_ in rows]),
        "rows": shape[0] if shape else None,
        "cols": shape[1] if shape else None,
        "colour": "as stored (sRGB assumed)",
    }


def changed(path: str, name: str, why: str) -> FileError:
    """Return the error for a source that is not what was surveyed."""
    return FileError(
        f"{path} changed while it was being read ({name} {why}); "
        "screen it again when nothing writes to it any more"
    )
