"""Labels and splits from rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from capsieve.statistics.labels.label_set import LABELS, LabelSet
from capsieve.statistics.splits import SPLITS, Splits

__all__ = ["label_set", "label_table", "split_set"]


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
