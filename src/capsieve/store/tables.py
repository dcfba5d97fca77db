"""From the segments of an exam to its tables and frame counts."""

import io
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from typing_extensions import Buffer

from capsieve.errors import FileError, file_errors
from capsieve.sources.base import PacketTable
from capsieve.store.record import FrameCounts, ProblemRecord
from capsieve.store.schema import FEATURES, FRAMES, PACKETS, SCHEMA, SEGMENT, TABLES
from capsieve.user_files import open_file

_ROW_GROUP = 4096


def number_frames(segments: Mapping[int, Sequence[pa.Table]]) -> tuple[pa.Table, pa.Table]:
    """Return the tables FRAMES and FEATURES of an exam from the segments of each head, in order.

    No frame is flagged or a near-duplicate yet.
    """
    ordered = [(head, table) for head in sorted(segments) for table in segments[head]]
    rows = pa.concat_tables([SEGMENT.empty_table(), *(table for _, table in ordered)])
    head = np.repeat(
        np.array([head for head, _ in ordered], np.int16), [table.num_rows for _, table in ordered]
    )
    frame = np.arange(len(head)) - np.searchsorted(head, head)
    columns: dict[str, Any] = {name: rows[name] for name in rows.column_names}
    columns |= {"head": head, "frame": frame, "flagged": np.zeros(len(head), bool)}
    columns |= {name: pa.nulls(len(head), FRAMES.field(name).type) for name in _FOUND_LATER}
    frames = pa.table([columns[name] for name in FRAMES.names], FRAMES)

    lists: Any = rows["features"].combine_chunks()
    values, parents = lists.flatten(), lists.value_parent_indices().to_numpy()
    columns = {name: values.field(name) for name in FEATURES.names if name not in _KEY}
    columns |= {"head": head[parents], "frame": frame[parents]}
    return frames, pa.table([columns[name] for name in FEATURES.names], FEATURES)


_KEY = ("head", "frame")
_FOUND_LATER = ("duplicate_of", "event")


def frame_counts(
    frames: pa.Table,
    to_read: NDArray[np.bool_],
    declared: Mapping[int, int | None],
    rejections: Collection[str] = (),
) -> tuple[FrameCounts, dict[str, FrameCounts]]:
    """Count the frames of an exam, and of each head by its number as text.

    Parameters
    ----------
    frames
        With the columns FRAMES, complete.
    to_read
        Which of them a reader is shown.
    declared
        For each head the number of frames that its source declares; None if it declares nothing.
    rejections
        Reasons that are counted even if no frame has them.
    """
    column = frames["head"].to_numpy()
    heads: dict[str, FrameCounts] = {}
    for head in sorted(declared):
        start, stop = np.searchsorted(column, [head, head + 1])
        part = frames.slice(start, stop - start)
        heads[str(head)] = _count(part, to_read[start:stop], declared[head], rejections)
    known = [count for count in declared.values() if count is not None]
    all_declared = sum(known) if len(known) == len(declared) else None
    total = _count(frames, to_read, all_declared, rejections)
    total["missing"] = sum(counts["missing"] for counts in heads.values())
    return total, heads


def _count(
    frames: pa.Table,
    to_read: NDArray[np.bool_],
    declared: int | None,
    rejections: Collection[str],
) -> FrameCounts:
    statuses = Counter(frames["status"].to_pylist())
    scored = frames["reason"].is_valid().to_numpy()
    flagged = frames["flagged"].to_numpy()
    damaged = frames["problem"].is_valid().to_numpy() & scored
    reasons = Counter(frames["reason"].filter(pa.array(scored & ~flagged)).to_pylist())
    return FrameCounts(
        declared=declared,
        missing=max(0, (declared or 0) - frames.num_rows),
        found=frames.num_rows,
        decoded=statuses["decoded"],
        undecodable=statuses["undecodable"],
        unscreened=statuses["unscreened"],
        damaged=int(damaged.sum()),
        unscorable=statuses["decoded"] - int(scored.sum()),
        scored=int(scored.sum()),
        rejected=dict.fromkeys(rejections, 0) | dict(sorted(reasons.items())),
        flagged=int(flagged.sum()),
        near_duplicates=int((flagged & ~to_read).sum()),
        to_read=int(to_read.sum()),
        events=len(frames["event"].drop_null().unique()),
    )


def problem_records(frames: pa.Table) -> list[ProblemRecord]:
    """Return the problems of frames; consecutive frames with the same problem are one record."""
    columns = frames.select([*_KEY, "problem", "time_s", "file"])
    records: list[ProblemRecord] = []
    for row in columns.filter(columns["problem"].is_valid()).to_pylist():
        last = records[-1] if records else None
        before = row["problem"], row["head"], row["frame"] - 1
        if last is not None and before == (last["what"], last["head"], last["last_frame"]):
            last["frames"] += 1
            last["last_frame"], last["last_time_s"] = row["frame"], row["time_s"]
            continue
        records.append(
            ProblemRecord(
                what=row["problem"],
                head=row["head"],
                frames=1,
                first_frame=row["frame"],
                last_frame=row["frame"],
                first_time_s=row["time_s"],
                last_time_s=row["time_s"],
                file=row["file"],
            )
        )
    return records


def packet_table(packets: Mapping[int, PacketTable | None]) -> pa.Table:
    """Return the packets of all heads, with the columns PACKETS; heads with images have none."""
    tables = [PACKETS.empty_table()]
    for head, of_head in sorted(packets.items()):
        if of_head is not None:
            table = of_head.to_arrow().add_column(0, "head", pa.array(np.full(len(of_head), head)))
            tables.append(table.select(PACKETS.names).cast(PACKETS))
    return pa.concat_tables(tables)


def write_tables(folder: Path, exam: str, tables: Mapping[str, pa.Table]) -> dict[str, str]:
    """Write every table of :data:`~capsieve.store.schema.TABLES`; return the SHA-256 by file name.

    The bytes depend on the rows alone, not on how the rows arrived.
    """
    hashes: dict[str, str] = {}
    for name, schema in TABLES.items():
        content = json.dumps({"schema": SCHEMA, "table": name, "exam": exam})
        described = schema.with_metadata({"capsieve": content})
        path = folder / f"{name}.parquet"
        table = tables[name].cast(described)
        with (
            file_errors("write", path),
            _HashedFile(path) as file,
            pq.ParquetWriter(file, described, compression="zstd") as writer,
        ):
            # Each row group from one chunk: pages would otherwise end where chunks end.
            for start in range(0, table.num_rows, _ROW_GROUP):
                writer.write_table(table.slice(start, _ROW_GROUP).combine_chunks())
        hashes[path.name] = file.sha256.hexdigest()
    return hashes


class _HashedFile(io.BufferedWriter):
    """A new file whose content is hashed while it is written."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path, "w"))
        self.sha256 = sha256()

    def write(self, buffer: Buffer, /) -> int:
        self.sha256.update(buffer)
        return super().write(buffer)


def table_damage(folder: Path, hashes: Mapping[str, str]) -> str:
    """Return what is wrong with a table of an exam; "" if all have the hashes of the record."""
    for name in (f"{name}.parquet" for name in TABLES):
        try:
            digest = _sha256(folder / name)
        except FileError as error:
            return str(error)
        except OSError as error:
            return f"cannot read {folder / name}: {error.strerror}"
        if hashes.get(name) != digest:
            return f"{folder / name} is damaged: it is not the table that exam.json describes"
    return ""


def _sha256(path: Path) -> str:
    with open_file(path) as file:
        return file_digest(file, "sha256").hexdigest()
