"""Columns of all frames of a head in binary form, for the page's timeline.

The form, little-endian: a uint32 with the length of a JSON header; the header; zeros up to a
multiple of 8 bytes; then the columns, each padded with zeros to a multiple of 8 bytes. The header
has ``frames`` (their number), ``reasons`` (texts, numbered by the column ``reason``; the first is
empty) and ``columns``: name, type and number of elements of each.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.store.exam import Exam

pc: Any = pyarrow.compute  # its functions are made at run time, which pyright does not see

_COLOURS = ("red", "green", "blue")
_PLAIN = ("time_s", "score", "flagged", "reason", "event", "duplicate_of", "status")
_STATUS = {"decoded": 0, "undecodable": 1, "unscreened": 2}
_NOT_SCORED = 255
_NONE = -1
_STEP = 8


def timeline_bytes(folder: Path, *, head: int) -> bytes:
    """Return columns of the frames of a head in the form that the page reads.

    Times are from the first frame of the exam.

    Parameters
    ----------
    folder
        The folder of the exam.
    head
        Number of the camera.

    Raises
    ------
    FileError
        The table cannot be read, or there is no such head.
    """
    table = Exam(folder).columns("head", *_PLAIN, *_COLOURS)
    rows = table.filter(pa.array(table.column("head").to_numpy() == head))
    if rows.num_rows == 0:
        raise FileError(f"the exam {folder.name} has no head {head}")
    zero = pc.min(table.column("time_s")).as_py()
    read = {name: rows.column(name).combine_chunks() for name in (*_PLAIN, *_COLOURS)}
    reasons, reason = _reasons(read["reason"])
    columns: dict[str, NDArray[Any]] = {
        "time_s": _numbers(read["time_s"], "<f8", np.nan) - (zero or 0.0),
        "score": _numbers(read["score"], "<f4", np.nan),
        "flagged": read["flagged"].to_numpy(zero_copy_only=False).astype(np.uint8),
        "reason": reason,
        "event": _numbers(read["event"], "<i4", _NONE),
        "duplicate_of": _numbers(read["duplicate_of"], "<i4", _NONE),
        "rgb": _colours([read[name] for name in _COLOURS]),
        "status": _codes(read["status"], _STATUS),
    }
    header = {
        "frames": rows.num_rows,
        "reasons": reasons,
        "columns": [
            {"name": name, "type": values.dtype.name, "length": values.size}
            for name, values in columns.items()
        ],
    }
    text = json.dumps(header, ensure_ascii=False).encode()
    first = len(text).to_bytes(4, "little") + text
    return b"".join(_filled(part) for part in (first, *(v.tobytes() for v in columns.values())))


def _filled(content: bytes) -> bytes:
    return content + bytes(-len(content) % _STEP)


def _numbers(column: pa.Array, kind: str, absent: float) -> NDArray[Any]:
    return column.fill_null(absent).to_numpy(zero_copy_only=False).astype(kind)


def _codes(column: pa.Array, codes: dict[str, int]) -> NDArray[np.uint8]:
    """Return the number of each text, and the number for "not scored" for null and other texts."""
    texts = column.dictionary_encode()
    numbers = [codes.get(text, _NOT_SCORED) for text in texts.dictionary.to_pylist()]
    table = np.array([*numbers, _NOT_SCORED], np.uint8)
    return table[texts.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False)]


def _reasons(column: pa.Array) -> tuple[list[str], NDArray[np.uint8]]:
    reasons = ["", *sorted(text for text in column.unique().to_pylist() if text)]
    codes = {text: number for number, text in enumerate(reasons)}
    return reasons, _codes(column.fill_null(""), codes)


def _colours(columns: list[pa.Array]) -> NDArray[np.uint8]:
    values = np.stack([_numbers(column, "<f4", 0.0) for column in columns], axis=1)
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)
