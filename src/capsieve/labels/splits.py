"""Splits into training and test frames, or folds: planned, written, read."""

import os
from dataclasses import dataclass, field

import pyarrow as pa

from capsieve.labels.label_set import LabelProblem, LabelSet
from capsieve.statistics.results import Table

__all__ = ["SplitOptions", "SplitPlan", "Splits", "plan_splits", "read_splits", "write_splits"]


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """A split.

    Attributes
    ----------
    table
        exam, head, frame and file as in the labels, group, kind (patient, block or exam), part.
    path
        Where it was read, or "".
    problems
        Frames that are there twice.
    """

    table: pa.Table
    path: str = ""
    problems: tuple[LabelProblem, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, in the order in which they first occur."""
        return tuple(self.table["part"].unique().to_pylist())


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """Options of a split."""

    folds: int | None = field(default=None)
    test: float | None = field(default=None)
    block_size: int = 300
    in_order: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class SplitPlan:
    """A split, the counts of its parts, and warnings."""

    splits: Splits
    table: Table
    warnings: tuple[str, ...]
    kind: str


def plan_splits(labels: LabelSet, options: SplitOptions) -> SplitPlan:
    """Split labelled frames by whole groups."""
    raise NotImplementedError


def read_splits(path: str | os.PathLike[str]) -> Splits:
    """Read a split."""
    raise NotImplementedError


def write_splits(splits: Splits, path: str | os.PathLike[str]) -> None:
    """Write a split: Parquet if the name ends in .parquet, else CSV."""
    raise NotImplementedError
