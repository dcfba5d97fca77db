"""Small and large tables of labels and results, written down column by column."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from capsieve.statistics.labels.label_set import LABELS, LabelSet
from capsieve.statistics.splits import SPLITS, Splits
from capsieve.store.schema import FRAMES, SCHEMA, described

__all__ = ["label_set", "label_table", "split_set", "write_results"]


def write_results(folder: Path, frames: int | None = None, **columns: Any) -> Path:
    """Write an exam whose frames have these columns; all were decoded and scored 0 by default.

    Parameters
    ----------
    folder
        Its name is the exam's.
    frames
        How many; not needed where a column says it.
    columns
        Of frames.parquet; one value stands for all frames.
    """
    if frames is None:
        frames = next(len(values) for values in columns.values() if not isinstance(values, str))
    usual: dict[str, Any] = {
        "head": 0,
        "frame": np.arange(frames),
        "status": "decoded",
        "label": "normal",
        "reason": "no-feature",
        "score": 0.0,
        "radius_max": 0,
    }
    folder.mkdir(parents=True)
    schema = described(FRAMES, "frames", folder.name)
    arrays = [_array((usual | columns).get(field.name), field.type, frames) for field in schema]
    pq.write_table(pa.table(arrays, schema=schema), folder / "frames.parquet")
    record = {"schema": SCHEMA, "exam": folder.name, "complete": True}
    (folder / "exam.json").write_text(json.dumps(record))
    return folder


def _array(values: Any, kind: pa.DataType, count: int) -> pa.Array:
    if values is None:
        return pa.nulls(count, kind)
    if isinstance(values, str | int | float):
        values = [values] * count
    return pa.array(values, kind)


def label_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table of labels; what they do not say is null."""
    return pa.Table.from_pylist([dict(row) for row in rows], LABELS)


def label_set(rows: Sequence[Mapping[str, Any]] | pa.Table) -> LabelSet:
    """Return rows as labels, normal where they do not say it."""
    table = (
        rows
        if isinstance(rows, pa.Table)
        else label_table([{"label": "normal", **row} for row in rows])
    )
    return LabelSet(table, (), "by hand", "labels.csv")


def split_set(rows: Sequence[Mapping[str, Any]]) -> Splits:
    """Return rows as a split."""
    return Splits(pa.Table.from_pylist([dict(row) for row in rows], SPLITS), "splits.csv")
