"""Everything that the detector points at: the balls of all features."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from capsieve.statistics.judged import NORMAL, POLYP, Judged
from capsieve.store.exam import Exam

__all__ = ["Marks", "best_balls", "read_marks"]

_COLUMNS = ("head", "frame", "radius", "rejected", "source_row", "source_col")


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Points on frames.

    Attributes
    ----------
    frame
        The place among the judged frames, growing.
    row, col
        In the source's pixels.
    score
        What thresholds apply to: the ball's radius in working pixels.
    """

    frame: NDArray[np.int64]
    row: NDArray[np.float64]
    col: NDArray[np.float64]
    score: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.frame)


def best_balls(judged: Judged) -> Marks:
    """Return the best ball of every polyp frame that has one."""
    frame = np.flatnonzero((judged.truth == POLYP) & ~np.isnan(judged.row) & ~np.isnan(judged.col))
    return Marks(frame, judged.row[frame], judged.col[frame], judged.score[frame])


def read_marks(judged: Judged, folders: Mapping[str, Path]) -> Marks:
    """Read the balls of all features that passed, on frames labelled polyp or normal.

    Where a score alone decides, each frame has one mark: the place that the detector points at,
    with the frame's score.

    Parameters
    ----------
    judged
        The frames.
    folders
        For each exam the folder with its features.parquet.

    Raises
    ------
    FileError
        A table is absent or damaged.
    """
    paper = {"texture-low", "texture-high", "no-feature"} & set(judged.reasons)
    if "score-low" in judged.reasons and not paper:  # else it is a reading list of the paper's
        shown = (judged.truth == POLYP) | (judged.truth == NORMAL)
        frame = np.flatnonzero(shown & ~np.isnan(judged.row) & ~np.isnan(judged.col))
        return Marks(frame, judged.row[frame], judged.col[frame], judged.score[frame])
    parts = [_read_exam(judged, code, Path(folders[judged.exams[code]])) for code in _exams(judged)]
    if not parts:
        empty = np.empty(0)
        return Marks(np.empty(0, np.int64), empty, empty, empty)
    names = ("frame", "row", "col", "score")
    joined = Marks(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    order = np.argsort(joined.frame, kind="stable")
    return Marks(*(getattr(joined, name)[order] for name in names))


def _exams(judged: Judged) -> list[int]:
    return np.unique(judged.exam).tolist()


def _read_exam(judged: Judged, exam: int, folder: Path) -> Marks:
    table = Exam(folder).columns(*_COLUMNS, table="features")
    table = table.filter((pc.field("rejected") == "") & (pc.field("radius") > 0))
    column = {name: table[name].to_numpy() for name in _COLUMNS if name != "rejected"}
    own = np.flatnonzero(
        (judged.exam == exam) & ((judged.truth == POLYP) | (judged.truth == NORMAL))
    )
    known = _key(judged.head[own], judged.frame[own])
    wanted = _key(column["head"], column["frame"])
    order = np.argsort(known)
    place = np.searchsorted(known, wanted, sorter=order)
    place = order[np.minimum(place, max(len(order) - 1, 0))] if len(order) else place
    found = known[place] == wanted if len(order) else np.zeros(len(wanted), bool)
    return Marks(
        frame=own[place[found]].astype(np.int64),
        row=column["source_row"][found],
        col=column["source_col"][found],
        score=column["radius"][found].astype(np.float64),
    )


def _key(head: NDArray[np.integer], frame: NDArray[np.integer]) -> NDArray[np.int64]:
    return head.astype(np.int64) * 2**48 + frame.astype(np.int64)
