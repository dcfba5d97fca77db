"""The tables of a screened exam, as much of them as the report needs."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from capsieve.results import Feature

__all__ = [
    "HEAD_COLUMNS",
    "BestFeature",
    "Event",
    "HeadFrames",
    "best_features",
    "event_list",
    "head_frames",
]

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
        NaN where the frame was not scored.
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


@dataclass(frozen=True, slots=True)
class BestFeature:
    """The feature with the best ball of a frame, and the way to the source's pixels.

    Attributes
    ----------
    feature
        In working pixels.
    scale, row_offset, col_offset
        source = offset + scale * working.
    """

    feature: Feature
    scale: float
    row_offset: float
    col_offset: float


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


def best_features(
    frames: pa.Table, features: pa.Table, keys: Collection[tuple[int, int]]
) -> tuple[dict[tuple[int, int], tuple[int, int]], dict[tuple[int, int], BestFeature]]:
    """Return what is drawn over some frames.

    Parameters
    ----------
    frames, features
        The tables of the exam.
    keys
        Head and number of the frames to draw over.

    Returns
    -------
    shapes, features
        For each frame its rows and columns, and its best feature where it has one.
    """
    shapes: dict[tuple[int, int], tuple[int, int]] = {}
    for row in _rows_of(frames.select(["head", "frame", "rows", "cols"]), keys):
        if row["rows"] and row["cols"]:
            shapes[row["head"], row["frame"]] = row["rows"], row["cols"]
    best: dict[tuple[int, int], BestFeature] = {}
    for row in _rows_of(features, keys):
        key = row["head"], row["frame"]
        # The largest ball, and of equals the first one, as FrameResult.best has it.
        if row["radius"] and (key not in best or row["radius"] > best[key].feature.radius):
            best[key] = _best_feature(row)
    return shapes, best


def _best_feature(row: dict[str, Any]) -> BestFeature:
    scale = row["source_radius"] / row["radius"]
    return BestFeature(
        feature=Feature(**{name: row[name] for name in Feature._fields}),
        scale=scale,
        row_offset=row["source_row"] - scale * row["ball_row"],
        col_offset=row["source_col"] - scale * row["ball_col"],
    )


def _rows_of(table: pa.Table, keys: Collection[tuple[int, int]]) -> list[dict[str, Any]]:
    """Return the rows of some frames."""
    head, frame = (_numbers(table[name], np.int64) for name in ("head", "frame"))
    chosen = np.zeros(len(head), dtype=bool)
    for number in {head for head, _ in keys}:
        frames = [frame for other, frame in keys if other == number]
        chosen |= (head == number) & np.isin(frame, frames)
    return table.filter(pa.array(chosen)).to_pylist()


def _numbers(column: pa.ChunkedArray, kind: type) -> NDArray[Any]:
    return np.asarray(column.to_numpy(), dtype=kind)


def _equal(column: pa.ChunkedArray, text: str) -> NDArray[np.bool_]:
    same = pc.equal(column, text)  # pyright: ignore[reportAttributeAccessIssue]
    return np.asarray(pc.fill_null(same, False).to_numpy(), dtype=bool)
