"""Inputs that were once lost, changed or misread without a word, or ended in a traceback.

Each case damages the intact file of a subject of :mod:`soak.subjects`, or replaces it.
"""

import io
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from soak.trials import Class, damaged

__all__ = ["CASES", "Case"]


class Case(NamedTuple):
    """Damage, and what must become of it."""

    subject: str
    damage: Callable[[bytes], bytes]
    expected: Class
    words: str = ""  # in the message


def _zero_end(share: float, content: bytes) -> bytes:
    kept = round(len(content) * (1 - share))
    return content[:kept] + bytes(len(content) - kept)


def _flip(where: bytes, offset: int, mask: int, content: bytes) -> bytes:
    """Flip bits after the last place of some bytes."""
    changed = bytearray(content)
    changed[content.rindex(where) + offset] ^= mask
    return bytes(changed)


def _without_last_fragment(content: bytes) -> bytes:
    return content[: content.rindex(b"moof") - 4]


def _inside_slice(content: bytes) -> bytes:
    changed = bytearray(content)
    changed[len(content) // 2] ^= 16
    return bytes(changed)


def _replace(old: bytes, new: bytes, content: bytes) -> bytes:
    assert old in content
    return content.replace(old, new, 1)


def _composition_times(content: bytes) -> bytes:
    """Move the first frames of an MP4 before its edit list."""
    changed = bytearray(content)
    entry = content.index(b"ctts") + 12  # after version, flags and count
    for number in range(8):
        changed[entry + 8 * number + 4 : entry + 8 * number + 8] = struct.pack(">i", -(2**30))
    return bytes(changed)


def _parquet(name: str, column: pa.Array, content: bytes) -> bytes:
    """Replace a column of a Parquet file."""
    table = pq.read_table(io.BytesIO(content))
    columns = {each: table[each] for each in table.column_names} | {name: column}
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def _odd(values: Any, kind: pa.DataType | None = None) -> pa.Array:
    return pa.array([values] * 60, kind)


def _from_1(content: bytes) -> bytes:
    header, *lines = content.decode().splitlines()
    rows = [line.split(",") for line in lines]
    shifted = [",".join([exam, str(int(frame) + 1), *rest]) for exam, frame, *rest in rows]
    return "\n".join([header, *shifted, ""]).encode()


def _reversed(content: bytes) -> bytes:
    header, *lines = content.decode().splitlines()
    rows = [line.split(",") for line in lines]
    polyp = [str(-float(int(row[1]) % 5 == 0)) for row in rows]
    new = [",".join([*row[:2], score, *row[3:]]) for row, score in zip(rows, polyp, strict=True)]
    return "\n".join([header, *new, ""]).encode()


def _wide(content: bytes) -> bytes:
    """Add columns in front, so that the header is longer than 64 KiB."""
    names = b",".join(b"column-%d" % number for number in range(7000))
    header, *lines = content.splitlines()
    return b"\n".join([names + b"," + header, *(b"," * 7000 + line for line in lines), b""])


CASES: dict[str, Case] = {
    "ASF with a zeroed end": Case("video-wmv", partial(_zero_end, 0.5), "reported"),
    "PNG with a zeroed end": Case("image-png", partial(_zero_end, 0.2), "reported"),
    "ZIP: the ending of a name in the directory": Case(
        "zip-stored", partial(_flip, b".png", 3, 1), "refused"
    ),
    "MP4 without its last fragment": Case(
        "video-mp4-fragmented", _without_last_fragment, "reported"
    ),
    "FFV1: a bit of a slice": Case("video-mkv-ffv1", _inside_slice, "reported"),
    "MP4: damaged times hide frames": Case("video-mp4-h264", _composition_times, "reported"),
    "a cut table of results": Case("results-table", lambda content: content[:-9], "refused"),
    "two labels without a reader": Case(
        "labels-csv", lambda content: content + b"e0,0,normal,,0\n", "refused", "disagree"
    ),
    "scores numbered from 1": Case("scores-csv", _from_1, "reported", "from 1"),
    "reversed scores": Case("scores-csv", _reversed, "reported", "reversed"),
    "scores with video for exam": Case(
        "scores-csv", partial(_replace, b"exam,", b"video,"), "equal"
    ),
    "scores with a long header": Case("scores-csv", _wide, "equal"),
    "labels with a long header": Case("labels-csv", _wide, "reported", "not used"),
    **{
        f"scores with a {name} of {column.type}": Case(
            "scores-parquet", partial(_parquet, name, column), "refused", f"'{name}'"
        )
        for name in ("exam", "frame", "score", "time_s")
        for column in (
            _odd([1]),
            _odd({"a": 1}),
            _odd(b"\xff"),
            _odd([("a", 1)], pa.map_(pa.string(), pa.int8())),
        )
    },
    "scores with exams that are infinite": Case(
        "scores-parquet", partial(_parquet, "exam", _odd(float("inf"))), "refused"
    ),
    "scores over 2^53": Case(
        "scores-parquet", partial(_parquet, "score", _odd(2**63, pa.uint64())), "refused", "uint64"
    ),
}

# Damage by seeds that tests/soak found: subject, seed, what it may become.
FOUND: tuple[tuple[str, str, tuple[Class, ...]], ...] = (
    ("scores-parquet", "0-3", ("refused",)),
    ("labels-parquet", "0-5", ("refused",)),
    ("splits-parquet", "0-11", ("refused",)),
    ("video-mp4-mpeg4", "0-17", ("reported",)),
    ("video-mp4-h264-open", "1-23", ("reported",)),
    ("video-avi-mpeg4-b", "6-48", ("reported",)),
)
CASES |= {
    f"{subject} {seed}": Case(subject, partial(damaged, subject, seed), *expected)
    for subject, seed, expected in FOUND
}
