"""Rows as workers hand them over, for the tests of what counts, numbers and writes them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from capsieve.store.schema import SEGMENT

__all__ = ["REASONS", "any_row", "feature", "row", "scored", "served"]

REASONS = ("polyp", "texture-low", "texture-high", "no-feature", "radius-low")

Row = dict[str, Any]


def row(**values: Any) -> Row:
    """Return a decoded frame without a result; what is not stated is null."""
    return dict.fromkeys(SEGMENT.names) | {"status": "decoded"} | values


def feature(number: int, **values: Any) -> Row:
    """Return a feature that is known by its number."""
    return {"feature": number, "size": 300 + number, "rejected": "", "radius": 40} | values


def scored(reason: str, **values: Any) -> Row:
    """Return a scored frame."""
    result: Row = {"label": "normal", "score": 0.0, "features": []}
    if reason == "polyp":
        result = {"label": "polyp", "score": 40.0, "features": [feature(1)]}
        result |= {"row": 50.0, "col": 50.0, "radius": 20.0, "thumbnail": b"JPEG"}
    colour = {"texture_max": 5.0, "red": 120.0, "green": 80.0, "blue": 40.0}
    return row(**({"reason": reason} | colour | result | values))


def any_row() -> st.SearchStrategy[Row]:
    """Rows of every kind: lost, unscorable, damaged, rejected, flagged; near copies among them."""
    problem = st.sampled_from(["cut off", "no key frame"])
    lost = st.builds(lambda what: row(status="undecodable", problem=what), problem)
    unscorable = st.builds(lambda what: row(problem=what), problem)
    picture = st.sampled_from([bytes(256), bytes([1] * 256), bytes([200] * 256)])
    frames = st.builds(
        lambda reason, what, score, col, small, count: scored(
            reason,
            problem=what,
            score=score,
            col=col,
            signature=small if reason == "polyp" else None,
            features=[feature(number + 1) for number in range(count)],
        ),
        st.sampled_from(REASONS),
        st.none() | problem,
        st.floats(0, 90),
        st.sampled_from([20.0, 55.0, 300.0]),
        picture,
        st.integers(0, 3),
    )
    return st.one_of(lost, unscorable, frames, frames, frames)


def served(heads: Mapping[int, Sequence[Sequence[Row]]]) -> Any:
    """Return, as the writer of the tables wants them, the segments of each head and their rows."""

    def rows(head: int, number: int, columns: list[str] | None) -> pa.Table:
        table = pa.Table.from_pylist(list(heads[head][number]), SEGMENT)
        return table if columns is None else table.select(columns)

    return {head: len(parts) for head, parts in heads.items()}, rows
