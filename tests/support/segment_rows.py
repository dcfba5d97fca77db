"""Rows of segments as workers return them."""

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from capsieve.store.schema import SEGMENT

__all__ = ["any_row", "feature", "row", "scored", "segment", "segment_file"]

Row = dict[str, Any]


def row(**values: Any) -> Row:
    """Return a decoded frame without a result; other columns are null."""
    return {"status": "decoded"} | values


def feature(number: int, **values: Any) -> Row:
    """Return a feature."""
    return {"number": number, "size": 300 + number, "rejected": "", "radius": 40} | values


def scored(reason: str = "no-feature", **values: Any) -> Row:
    """Return a scored frame."""
    return row(**({"reason": reason, "score": 0.0, "features": []} | values))


def segment(rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table of a segment."""
    return pa.Table.from_pylist(list(rows), SEGMENT)


def segment_file(rows: Sequence[Row]) -> bytes:
    """Return rows as the Parquet file of a segment."""
    with io.BytesIO() as file:
        pq.write_table(segment(rows), file)
        return file.getvalue()


def any_row() -> st.SearchStrategy[Row]:
    """Rows of every kind: undecodable, unscreened, unscorable, damaged, scored."""
    problem = st.sampled_from(["truncated", "no key frame"])
    lost = st.builds(row, status=st.sampled_from(["undecodable", "unscreened"]), problem=problem)
    unscorable = st.builds(row, problem=problem)
    frames = st.builds(
        lambda count, **values: scored(**values, features=[feature(n + 1) for n in range(count)]),
        count=st.integers(0, 3),
        reason=st.sampled_from(["texture-low", "no-feature", "radius-low", "brand-new"]),
        problem=st.none() | problem,
        score=st.sampled_from([0.0, 20.0, 40.0, 60.0]),
        row=st.just(50.0),
        col=st.sampled_from([20.0, 55.0, 300.0]),
        radius=st.just(20.0),
    )
    return st.one_of(lost, unscorable, frames, frames, frames)
