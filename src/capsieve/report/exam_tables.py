"""The tables of a screened exam, as much of them as the report needs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

HEAD_COLUMNS = (
    *("head", "frame", "time_s", "status", "flagged", "reason", "score"),
    *("red", "green", "blue"),
)
"""The columns of the table of frames that :func:`head_frames` needs."""


@dataclass(frozen=True, slots=True, eq=False)
class HeadFrames:
    """The frames of one head, column by column.

    Attributes
    ----------
    head
        Which camera.
    frame
        Numbers, growing.
    time
        Seconds; NaN where unknown.
    score
        NaN if the frame was not scored.
    undecodable, flagged, smooth, busy
        The result of each frame; smooth and busy are those that pre-selection rejected because of
        too little or too much texture.
    colour
        Mean red, green and blue, 0..255; NaN where unknown.
    """

    head: int
    frame: NDArray[np.int64]
    time: NDArray[np.float64]
    score: NDArray[np.float64]
    undecodable: NDArray[np.bool_]
    flagged: NDArray[np.bool_]
    smooth: NDArray[np.bool_]
    busy: NDArray[np.bool_]
    colour: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Event:
    """A candidate polyp: a row of the events."""

    event: int
    head: int
    first_frame: int
    last_frame: int
    best_frame: int
    score: float
    frames: int
    to_read: int
    first_time_s: float | None
    last_time_s: float | None
    best_time_s: float | None
    best_file: str | None
    row: float | None
    col: float | None
    radius: float | None


def head_frames(table: pa.Table) -> list[HeadFrames]:
    """Return the frames of every head, in the order of the heads, from the table of frames."""
    numbers = _numbers(table["head"], np.int64)
    columns = {
        "frame": _numbers(table["frame"], np.int64),
        "time": _numbers(table["time_s"], np.float64),
        "score": _numbers(table["score"], np.float64),
        "undecodable": ~_equal(table["status"], "decoded"),
        "flagged": _numbers(table["flagged"], np.bool_),
        "smooth": _equal(table["reason"], "texture-low"),
        "busy": _equal(table["reason"], "texture-high"),
        "colour": np.stack(
            [_numbers(table[name], np.float32) for name in ("red", "green", "blue")], axis=1
        ),
    }
    return [
        HeadFrames(
            head=int(head), **{name: column[numbers == head] for name, column in columns.items()}
        )
        for head in np.unique(numbers)
    ]


def event_list(table: pa.Table) -> list[Event]:
    """Return the events, best first, from the table of events."""
    return sorted((Event(**row) for row in table.to_pylist()), key=lambda event: event.event)


def _numbers(column: pa.ChunkedArray, kind: type) -> NDArray[Any]:
    return np.asarray(column.to_numpy(), dtype=kind)


def _equal(column: pa.ChunkedArray, text: str) -> NDArray[np.bool_]:
    same = pc.equal(column, text)  # pyright: ignore[reportAttributeAccessIssue]
    return np.asarray(pc.fill_null(same, False).to_numpy(), dtype=bool)
