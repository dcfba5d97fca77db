"""Results folders, written from the documented schema without the program's own code.

Columns and keys are those of docs/screening.md. A renamed column is renamed here once.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

__all__ = ["COLUMNS", "exam_record", "frame_counts", "frame_hash", "write_results", "write_table"]

SCHEMA = 2

_FRAME = {"head": pa.int16(), "frame": pa.int64()}

COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "frames": _FRAME
    | {
        "file": pa.string(),
        "packet": pa.int64(),
        "time_s": pa.float64(),
        "pixel_hash": pa.string(),
        "phash": pa.binary(32),
        "field_phash": pa.binary(32),
        "status": pa.string(),
        "problem": pa.string(),
        "rows": pa.int32(),
        "cols": pa.int32(),
        "flagged": pa.bool_(),
        "reason": pa.string(),
        "score": pa.float64(),
        "texture_max": pa.float64(),
        "radius_max": pa.int32(),
        "row": pa.float64(),
        "col": pa.float64(),
        "radius": pa.float64(),
        "midpass_max": pa.float64(),
        "segmentation_threshold": pa.float64(),
        "red": pa.float32(),
        "green": pa.float32(),
        "blue": pa.float32(),
        "sharpness": pa.float32(),
        "values": pa.list_(pa.float32()),
        "event": pa.int32(),
        "duplicate_of": pa.int64(),
    },
    "features": _FRAME
    | {
        "number": pa.int32(),
        "size": pa.int32(),
        "eccentricity": pa.float64(),
        "row": pa.float64(),
        "col": pa.float64(),
        "ball_row": pa.float64(),
        "ball_col": pa.float64(),
        "radius": pa.int32(),
        "rejected": pa.string(),
        "moment_rr": pa.float64(),
        "moment_rc": pa.float64(),
        "moment_cc": pa.float64(),
        "source_row": pa.float64(),
        "source_col": pa.float64(),
        "source_radius": pa.float64(),
    },
    "events": {
        "event": pa.int32(),
        "head": pa.int16(),
        "first_frame": pa.int64(),
        "last_frame": pa.int64(),
        "best_frame": pa.int64(),
        "score": pa.float64(),
        "frames": pa.int32(),
        "to_read": pa.int32(),
        "first_time_s": pa.float64(),
        "last_time_s": pa.float64(),
        "best_time_s": pa.float64(),
        "best_file": pa.string(),
        "row": pa.float64(),
        "col": pa.float64(),
        "radius": pa.float64(),
    },
    "packets": {
        "head": pa.int16(),
        "pts": pa.int64(),
        "dts": pa.int64(),
        "size": pa.int64(),
        "crc32": pa.uint32(),
        "key": pa.bool_(),
        "hidden": pa.bool_(),
    },
    "thumbnails": _FRAME | {"thumbnail": pa.binary(), "evidence": pa.binary()},
}
"""Columns and types of the tables of a screened exam."""


def write_results(
    folder: Path,
    frames: int | None = None,
    *,
    threshold: float = 37.0,
    events: Sequence[Mapping[str, Any]] = (),
    features: Sequence[Mapping[str, Any]] = (),
    packets: Sequence[Mapping[str, Any]] = (),
    thumbnails: Sequence[Mapping[str, Any]] = (),
    record: Mapping[str, Any] | None = None,
    **columns: Any,
) -> Path:
    """Write OUT/EXAM with one row per frame and return the folder.

    Parameters
    ----------
    folder
        Its name is the name of the exam.
    frames
        Number of frames; not needed if a column is given as a sequence.
    threshold
        Frames with at least this score are flagged, unless `flagged` is given.
    events, features, packets, thumbnails
        Rows of the other tables.
    record
        Entries of exam.json to replace.
    columns
        Of frames.parquet. A single value is used for all frames.
    """
    if frames is None:
        frames = next(len(values) for values in columns.values() if not isinstance(values, str))
    score = np.broadcast_to(np.asarray(columns.get("score", 0.0), float), frames)
    flagged = score >= threshold
    reason = columns.get("reason")
    if reason is None:
        reason = np.where(flagged, "polyp", np.where(score > 0, "radius-low", "no-feature"))
    high = np.broadcast_to(np.asarray(reason), frames) == "texture-high"
    usual = {
        "head": 0,
        "frame": np.arange(frames),
        "pixel_hash": [f"{folder.name}-{number}" for number in range(frames)],
        "status": "decoded",
        "flagged": flagged,
        "reason": reason,
        "score": 0.0,
        "texture_max": np.where(high, 11.0, 5.0),
        "radius_max": np.nan_to_num(score).astype(np.int32),
    }
    folder.mkdir(parents=True)
    content = {name: _repeated(values, frames) for name, values in (usual | columns).items()}
    write_table(folder, "frames", content, rows=frames)
    others = {"features": features, "events": events, "packets": packets, "thumbnails": thumbnails}
    for name, rows in others.items():
        write_table(folder, name, list(rows))
    head = np.broadcast_to(np.asarray(columns.get("head", 0)), frames)
    counts = [
        frame_counts(int((head == one).sum()), flagged=int(flagged[head == one].sum()))
        for one in np.unique(head)
    ]
    tables = {f"{name}.parquet": _sha256(folder / f"{name}.parquet") for name in COLUMNS}
    usual_record = exam_record(folder.name, counts, threshold=threshold) | {"tables": tables}
    text = json.dumps(usual_record | dict(record or {}))
    (folder / "exam.json").write_text(text, encoding="utf-8")
    return folder


def write_table(
    folder: Path,
    name: str,
    content: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *,
    rows: int = 0,
) -> None:
    """Write a table of an exam from rows, or from columns with the number of `rows`."""
    metadata = json.dumps({"schema": SCHEMA, "table": name, "exam": folder.name}).encode()
    schema = pa.schema(list(COLUMNS[name].items()), {b"capsieve": metadata})
    if isinstance(content, Mapping):
        unknown = content.keys() - COLUMNS[name].keys()
        assert not unknown, f"{name}.parquet has no columns {unknown}"
        arrays = [
            pa.nulls(rows, field.type)
            if content.get(field.name) is None
            else pa.array(content[field.name], field.type)
            for field in schema
        ]
        table = pa.Table.from_arrays(arrays, schema=schema)
    else:
        table = pa.Table.from_pylist([dict(row) for row in content], schema)
    pq.write_table(table, folder / f"{name}.parquet")


def frame_counts(frames: int, *, flagged: int = 0, **changes: Any) -> dict[str, Any]:
    """Return the frame counts of a head; by default all frames were decoded and scored."""
    counts = dict.fromkeys(("declared", "found", "decoded", "scored"), frames)
    counts |= dict.fromkeys(("flagged", "to_read", "events"), flagged)
    counts |= dict.fromkeys(
        ("missing", "undecodable", "unscreened", "damaged", "unscorable", "near_duplicates"), 0
    )
    return counts | {"rejected": {"no-feature": frames - flagged}} | changes


def frame_hash(pixels: np.ndarray) -> str:
    """Return the hash of the pixels of a frame."""
    return xxhash.xxh3_128_hexdigest(np.ascontiguousarray(pixels).data)


def exam_record(
    exam: str,
    heads: Sequence[Mapping[str, Any]],
    *,
    kind: str = "video",
    size: int = 128,
    threshold: float = 37.0,
) -> dict[str, Any]:
    """Return the content of exam.json for heads with these frame counts."""
    from capsieve import Parameters

    parameters = Parameters().to_dict()
    measure = {"below": 0.01, "above": 0.02, "warning": ""}
    return {
        "schema": SCHEMA,
        "exam": exam,
        "complete": True,
        "frame_counts": _total(heads),
        "heads": {str(head): counts for head, counts in enumerate(heads)},
        "problems": [],
        "range": {
            "reference": "a synthetic study",
            "measures": {
                "texture": {"low": 1.2, "high": 9.5, "median": 4.4, **measure},
                "brightness": {"low": 40.0, "high": 170.0, "median": 101.0, **measure},
                "redness": {"low": 0.41, "high": 0.58, "median": 0.47, **measure},
            },
        },
        "warnings": [],
        "flagging": {
            "rule": "threshold",
            "value": threshold,
            "frames": _total(heads)["flagged"],
            "last_score": None,
            "score_threshold": threshold,
            "share_above_threshold": None,
        },
        "detector": {
            "name": "paper",
            "rule": "radius_threshold",
            "preset": "printed",
            "parameters": parameters,
        },
        "parameters": parameters,
        "value_names": [],
        "versions": {"capsieve": "0.1.0", "python": "3.11.2", "numpy": "2.3.0"},
        "sources": [
            {
                "head": head,
                "kind": kind,
                "path": f"/data/{exam}",
                "relative": f"../{exam}",
                "stream": 0,
                "names": "",
                "sha256": "5b" * 32,
                "stamp": "123456789 1",
                "bytes": 123_456_789,
                "declared": counts["declared"],
                "description": {
                    "codec": "h264",
                    "rows": size,
                    "cols": size,
                    "colour": "BT.601, limited range, to full-range RGB",
                },
            }
            for head, counts in enumerate(heads)
        ],
        "fields_of_view": [
            {
                "head": head,
                "rows": size,
                "cols": size,
                "shape": "circle",
                "row": size / 2,
                "col": size / 2,
                "radius": 0.48 * size,
                "confidence": 0.97,
                "found_by": "search",
            }
            for head in range(len(heads))
        ],
        "tables": {},
        "settings": {"field_of_view": "auto"},
        "identity": {"schema": SCHEMA},
        "run": {
            "started": "2026-01-02T10:00:00+00:00",
            "executor": "processes",
            "workers": 2,
            "seconds": 12.5,
        },
    }


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _repeated(values: Any, count: int) -> Any:
    single = isinstance(values, str | int | float)
    return [values] * count if single else values


def _total(heads: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if not heads:
        return frame_counts(0)
    total: dict[str, Any] = dict(heads[0]) | {"rejected": dict(heads[0]["rejected"])}
    for counts in heads[1:]:
        for name, value in counts.items():
            if name == "rejected":
                for reason, frames in value.items():
                    total[name][reason] = total[name].get(reason, 0) + frames
            else:
                total[name] += value
    return total
