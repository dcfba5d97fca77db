"""What the frames of a head have in common: size, rate, and the range of their scores."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.store.exam import Exam

__all__ = ["HeadFacts", "read_head_facts"]


@dataclass(frozen=True, slots=True)
class HeadFacts:
    """What is known of a head.

    Attributes
    ----------
    frames
        How many it has.
    rows, cols
        Of most frames; 0 where none was decoded.
    fps
        As most frames follow each other; None where times are unknown.
    has_times
        Whether any frame has one.
    scores
        The least and the highest; None where no frame was scored.
    """

    frames: int
    rows: int
    cols: int
    fps: float | None
    has_times: bool
    scores: tuple[float, float] | None


def read_head_facts(folder: Path, heads: Iterable[int]) -> dict[int, HeadFacts]:
    """Read what is known of the heads of an exam.

    Raises
    ------
    FileError
        The table is absent or damaged.
    """
    table = Exam(folder).columns("head", "time_s", "score", "rows", "cols")
    numbers = _whole(table["head"])
    return {head: _facts(table.filter(pa.array(numbers == head))) for head in sorted(heads)}


def _facts(table: pa.Table) -> HeadFacts:
    times, scores = (
        np.asarray(table[name].fill_null(np.nan).to_numpy(), np.float64)
        for name in ("time_s", "score")
    )
    steps = np.diff(times)
    steps = steps[np.isfinite(steps) & (steps > 0)]
    known = scores[np.isfinite(scores)]
    rows, cols = _shape(_whole(table["rows"]), _whole(table["cols"]))
    return HeadFacts(
        frames=table.num_rows,
        rows=rows,
        cols=cols,
        fps=float(1.0 / np.median(steps)) if steps.size else None,
        has_times=bool(np.isfinite(times).any()),
        scores=(float(known.min()), float(known.max())) if known.size else None,
    )


def _shape(rows: NDArray[np.int64], cols: NDArray[np.int64]) -> tuple[int, int]:
    """Return rows and columns of most frames."""
    known = (rows > 0) & (cols > 0)
    if not known.any():
        return 0, 0
    both, counts = np.unique(rows[known] << 32 | cols[known], return_counts=True)
    most = int(both[counts.argmax()])
    return most >> 32, most & 0xFFFFFFFF


def _whole(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return np.asarray(column.fill_null(-1).to_numpy(), np.int64)
