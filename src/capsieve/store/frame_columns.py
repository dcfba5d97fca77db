"""The table FRAMES as columns, and flagged columns as the tables FRAMES and EVENTS."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import ArrayLike, NDArray

from capsieve.errors import FileError
from capsieve.frame_table import Coded, FrameColumns, best_of_events
from capsieve.results import REJECTED
from capsieve.store.schema import EVENTS, SCREEN_AGAIN

COLUMNS = (
    *("head", "frame", "file", "time_s", "status", "score", "reason", "flagged", "event"),
    *("duplicate_of", "row", "col", "radius", "rows", "cols", "texture_max", "radius_max"),
    *("red", "green", "blue", "sharpness"),
)
"""The columns of the table that :func:`frame_columns` needs."""

pc: Any = pyarrow.compute  # its functions are made at run time, which pyright does not see


def frame_columns(exams: Mapping[str, pa.Table]) -> FrameColumns:
    """Return the frames of exams from their tables FRAMES, by the names of the exams.

    Raises
    ------
    FileError
        A table is not sorted by head and frame, a score is infinite, or a frame is a near-duplicate
        of an absent one.
    """
    table = pa.concat_tables([table.select(COLUMNS) for table in exams.values()])
    names, sizes = tuple(exams), [table.num_rows for table in exams.values()]
    code = np.repeat(np.arange(len(names), dtype=np.int32), sizes)
    head, frame = _numbers(table["head"], np.int16, 0), _numbers(table["frame"], np.int64, 0)
    file, reason = _joined(table["file"]), _coded(table["reason"])
    score = _numbers(table["score"], np.float64, np.nan)
    infinite = np.flatnonzero(np.isinf(score))
    if len(infinite):
        raise FileError(f"{names[code[infinite[0]]]}: a score is infinite; {SCREEN_AGAIN}")
    return FrameColumns(
        exam=Coded(names, code),
        head=head,
        frame=frame,
        file=None if file.null_count == len(file) else file.to_numpy(zero_copy_only=False),
        time=_numbers(table["time_s"], np.float64, np.nan),
        decoded=pc.equal(_joined(table["status"]), "decoded").to_numpy(zero_copy_only=False),
        score=np.where(reason.isin(REJECTED), -np.inf, score),
        reason=reason,
        flagged=_numbers(table["flagged"], np.bool_, False),
        event=_numbers(table["event"], np.int32, -1),
        duplicate_of=_rows(names, code, head, frame, _numbers(table["duplicate_of"], np.int64, -1)),
        row=_numbers(table["row"], np.float64, np.nan),
        col=_numbers(table["col"], np.float64, np.nan),
        radius=_numbers(table["radius"], np.float64, np.nan),
        rows=_numbers(table["rows"], np.int32, 0),
        cols=_numbers(table["cols"], np.int32, 0),
        texture_max=_numbers(table["texture_max"], np.float64, np.nan),
        radius_max=_numbers(table["radius_max"], np.float64, np.nan),
        red=_numbers(table["red"], np.float32, np.nan),
        green=_numbers(table["green"], np.float32, np.nan),
        blue=_numbers(table["blue"], np.float32, np.nan),
        sharpness=_numbers(table["sharpness"], np.float32, np.nan),
    )


def _rows(
    names: tuple[str, ...],
    exam: NDArray[np.int32],
    head: NDArray[np.int16],
    frame: NDArray[np.int64],
    first: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the row of the frame `first` of the same head; -1 for none."""
    of_head = (exam.astype(np.int64) << 48) + (head.astype(np.int64) << 40)
    key, known = of_head + frame, np.flatnonzero(first >= 0)
    row = np.searchsorted(key, (of_head + first)[known])
    unsorted = np.flatnonzero(np.diff(key) <= 0) + 1
    # A near-duplicate is later than the first frame of its run.
    absent = known[(row >= known) | (key[np.minimum(row, known)] != (of_head + first)[known])]
    for wrong, fault in ((unsorted, "are not sorted by head and frame"), (absent, "are damaged")):
        if len(wrong):
            raise FileError(f"the frames of {names[exam[wrong[0]]]} {fault}; {SCREEN_AGAIN}")
    rows = np.full(len(key), -1, np.int64)
    rows[known] = row
    return rows


def _numbers(column: pa.ChunkedArray, kind: Any, null: Any) -> NDArray[Any]:
    if column.null_count:
        column = pc.fill_null(column.cast(pa.float64()) if np.isnan(null) else column, null)
    return np.asarray(column.to_numpy()).astype(kind)


def _coded(column: pa.ChunkedArray) -> Coded:
    encoded = _joined(column).dictionary_encode()
    code = encoded.indices.fill_null(-1).to_numpy().astype(np.int32)
    return Coded(tuple(encoded.dictionary.to_pylist()), code)


def _joined(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)


def with_flags(table: pa.Table, frames: FrameColumns) -> pa.Table:
    """Return the table FRAMES of an exam with flags, events, reasons and near-duplicates."""
    first = frames.duplicate_of
    columns: dict[str, ArrayLike | pa.Array] = {
        "duplicate_of": pa.array(frames.frame[first], mask=first < 0),
        "flagged": frames.flagged,
        "event": pa.array(frames.event, mask=frames.event < 0),
        "reason": pa.array(frames.reason.names, pa.string()).take(
            pa.array(frames.reason.code, mask=frames.reason.code < 0)
        ),
    }
    for name, values in columns.items():
        position = table.schema.get_field_index(name)
        field = table.schema.field(position)
        table = table.set_column(position, field, pa.array(cast("Any", values), field.type))
    return table


def event_table(frames: FrameColumns, read: NDArray[np.bool_]) -> pa.Table:
    """Return the table EVENTS of an exam whose frames have events; `read` are those to read."""
    rows = np.flatnonzero(frames.event > 0)
    rows = rows[np.argsort(frames.event[rows], kind="stable")]
    event, start, count = np.unique(frames.event[rows], return_index=True, return_counts=True)
    first, last = rows[start], rows[start + count - 1]
    best = best_of_events(frames.event, frames.score)
    to_read = np.bincount(frames.event[read & (frames.event > 0)], minlength=len(event) + 1)
    columns = {
        "event": event,
        "head": frames.head[best],
        "first_frame": frames.frame[first],
        "last_frame": frames.frame[last],
        "best_frame": frames.frame[best],
        "score": frames.score[best],
        "frames": count,
        "to_read": to_read[event],
        "first_time_s": frames.time[first],
        "last_time_s": frames.time[last],
        "best_time_s": frames.time[best],
        "best_file": None if frames.file is None else frames.file[best],
        "row": None if frames.row is None else frames.row[best],
        "col": None if frames.col is None else frames.col[best],
        "radius": None if frames.radius is None else frames.radius[best],
    }
    return pa.table(
        [
            pa.nulls(len(event), field.type)
            if columns[field.name] is None
            else pa.array(columns[field.name], field.type, from_pandas=True)  # NaN is null
            for field in EVENTS
        ],
        schema=EVENTS,
    )
