"""From the segments of an exam to its three tables, in two passes and little memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from capsieve.events import Event, Flagged, group
from capsieve.store.schema import EVENTS, FEATURES, FRAMES, described
from capsieve.store.tally import COLUMNS, PAPER_REJECTIONS, Tally

__all__ = ["MEASURED", "FirstPass", "first_pass", "write_tables"]

MEASURED = ("texture_max", "red", "green", "blue")
"""The columns whose values are compared with the detector's reference."""

_GROUPED = ["score", "row", "col", "radius", "signature"]
_ROW_GROUP = 4096  # rows written at once; few enough for little memory

Rows = Callable[[int, int, list[str] | None], pa.Table]
"""Returns the rows of a segment: of which head, which number, which columns."""


@dataclass(frozen=True, slots=True)
class FirstPass:
    """What is known of an exam once all of its segments have been looked at.

    Attributes
    ----------
    tallies
        By head.
    events
        Ranked, best first.
    measured
        All values of the columns :data:`MEASURED`, where a frame was scored.
    """

    tallies: Mapping[int, Tally]
    events: Sequence[Event]
    measured: Mapping[str, NDArray[np.float64]]


def first_pass(
    segments: Mapping[int, int],
    rows: Rows,
    *,
    rejections: Sequence[str] = PAPER_REJECTIONS,
) -> FirstPass:
    """Count, group and measure.

    Parameters
    ----------
    segments
        For each head the number of its segments.
    rows
        Where their rows come from.
    rejections
        The detector's reasons to reject a frame, which are counted even where none met them.
    """
    tallies = {head: Tally(head, rejections) for head in sorted(segments)}
    flagged: list[Flagged] = []
    values: dict[str, list[NDArray[np.float64]]] = {name: [np.empty(0)] for name in MEASURED}
    for head, tally in tallies.items():
        for number in range(segments[head]):
            table = rows(head, number, list(dict.fromkeys([*COLUMNS, *_GROUPED, *MEASURED])))
            for name in MEASURED:
                column = table[name].drop_null().to_numpy().astype(np.float64)
                values[name].append(column)
            first = tally.found
            tally.add(table.select(COLUMNS).to_pylist())
            labels = table["label"].to_pylist()
            places = [place for place, label in enumerate(labels) if label == "polyp"]
            chosen = table.take(pa.array(places, pa.int64()))  # an empty list has no type
            for place, row in zip(places, chosen.to_pylist(), strict=True):
                flagged.append(_flagged(head, first + place, row))
    measured = {name: np.concatenate(parts) for name, parts in values.items()}
    return FirstPass(tallies, group(flagged), measured)


def write_tables(
    folder: Path,
    exam: str,
    segments: Mapping[int, int],
    rows: Rows,
    known: FirstPass,
    *,
    pictures: int,
) -> dict[tuple[int, int], bytes]:
    """Write frames.parquet, features.parquet and events.parquet into a folder.

    Returns
    -------
    dict
        Thumbnails by head and frame, not more than `pictures`: of the best frames of the events
        first, best event first, then of their other frames to read.
    """
    ranks, repeats = _by_frame(known.events)
    best = {(event.best.head, event.best.frame) for event in known.events}
    wanted = _to_be_shown(known.events, pictures)
    files: dict[tuple[int, int], str | None] = {}
    thumbnails: dict[tuple[int, int], bytes] = {}
    frames = _Writer(folder / "frames.parquet", described(FRAMES, "frames", exam))
    features = _Writer(folder / "features.parquet", described(FEATURES, "features", exam))
    with frames, features:
        for head, first, table in _numbered(segments, rows):
            count = table.num_rows
            keys = [(head, first + place) for place in range(count)]
            columns = {name: table[name] for name in FRAMES.names if name in table.column_names}
            columns |= {
                "head": pa.array([head] * count, pa.int16()),
                "frame": pa.array([frame for _, frame in keys], pa.int64()),
                "event": pa.array([ranks.get(key) for key in keys], pa.int32()),
                "repeats": pa.array([repeats.get(key) for key in keys], pa.int64()),
            }
            frames.add(pa.table([columns[name] for name in FRAMES.names], frames.schema))
            features.add(_exploded(table["features"], head, first, features.schema))
            for place, key in enumerate(keys):
                if key in best:
                    files[key] = table["file"][place].as_py()
                if key in wanted:
                    thumbnails[key] = table["thumbnail"][place].as_py()
    events = [_event_row(rank, event, files) for rank, event in enumerate(known.events, 1)]
    schema = described(EVENTS, "events", exam)
    pq.write_table(pa.Table.from_pylist(events, schema), folder / "events.parquet", **_OPTIONS)
    return thumbnails


_OPTIONS: dict[str, Any] = {"compression": "zstd"}


class _Writer:
    """A Parquet file whose row groups do not depend on how the rows arrive."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.schema = schema
        self._file = pq.ParquetWriter(path, schema, **_OPTIONS)
        self._waiting: list[pa.Table] = []
        self._count = 0

    def add(self, table: pa.Table) -> None:
        self._waiting.append(table)
        self._count += table.num_rows
        if self._count >= _ROW_GROUP:
            self._flush(self._count - self._count % _ROW_GROUP)

    def _flush(self, count: int) -> None:
        """Write the first so many of the waiting rows."""
        if count:
            waiting = pa.concat_tables(self._waiting).combine_chunks()
            self._file.write_table(waiting.slice(0, count), row_group_size=_ROW_GROUP)
            self._waiting, self._count = [waiting.slice(count)], self._count - count

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush(self._count)
        self._file.close()


def _numbered(segments: Mapping[int, int], rows: Rows) -> Iterator[tuple[int, int, pa.Table]]:
    """Yield head, number of the first frame, and rows of every segment."""
    for head in sorted(segments):
        first = 0
        for number in range(segments[head]):
            table = rows(head, number, None)
            yield head, first, table
            first += table.num_rows


def _exploded(lists: pa.ChunkedArray, head: int, first: int, schema: pa.Schema) -> pa.Table:
    """One row per feature, with the number of its frame."""
    column: Any = lists.combine_chunks()
    values = column.flatten()
    parents = column.value_parent_indices().to_numpy()
    numbered = {
        "head": pa.array([head] * len(values), pa.int16()),
        "frame": pa.array(parents + first, pa.int64()),
    }
    columns = [numbered[name] if name in numbered else values.field(name) for name in schema.names]
    return pa.table(columns, schema)


def _flagged(head: int, frame: int, row: dict[str, Any]) -> Flagged:
    return Flagged(
        head=head,
        frame=frame,
        time=row["time_s"],
        score=row["score"],
        row=row["row"],
        col=row["col"],
        radius=row["radius"],
        signature=row["signature"],
    )


def _to_be_shown(events: Sequence[Event], pictures: int) -> set[tuple[int, int]]:
    """Choose the frames of which the report gets a picture."""
    best = ((event.best.head, event.best.frame) for event in events)
    others = (
        (member.head, member.frame)
        for event in events
        for member in event.members
        if member.frame not in event.duplicates and member is not event.best
    )
    return set(islice(chain(best, others), pictures))


def _by_frame(
    events: Sequence[Event],
) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """Return the event's rank of every flagged frame, and the frame that a near copy repeats."""
    ranks: dict[tuple[int, int], int] = {}
    repeats: dict[tuple[int, int], int] = {}
    for rank, event in enumerate(events, 1):
        for member in event.members:
            ranks[member.head, member.frame] = rank
            if member.frame in event.duplicates:
                repeats[member.head, member.frame] = event.duplicates[member.frame]
    return ranks, repeats


def _event_row(
    rank: int, event: Event, files: Mapping[tuple[int, int], str | None]
) -> dict[str, Any]:
    first, last, best = event.members[0], event.members[-1], event.best
    return {
        "event": rank,
        "head": first.head,
        "first_frame": first.frame,
        "last_frame": last.frame,
        "best_frame": best.frame,
        "score": best.score,
        "frames": len(event.members),
        "to_read": len(event.members) - len(event.duplicates),
        "first_time_s": first.time,
        "last_time_s": last.time,
        "best_time_s": best.time,
        "best_file": files[best.head, best.frame],
        "row": best.row,
        "col": best.col,
        "radius": best.radius,
    }
