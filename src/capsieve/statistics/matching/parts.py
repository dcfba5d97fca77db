"""The parts of a split, frame by frame."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.statistics.codes import as_codes
from capsieve.statistics.judged import UNLABELLED
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.matching.keys import Places, find_frames
from capsieve.statistics.matching.problems import EXAMPLES, key_problems, name_frames, problem
from capsieve.statistics.matching.screened import Screened
from capsieve.statistics.splits import Splits

__all__ = ["Parts", "place_parts"]

_KEYS = ["exam", "head", "frame", "file"]


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Where a split puts frames.

    Attributes
    ----------
    names, code
        Parts; -1 for frames in none, and for those in two.
    blocks, block
        The split's groups that are blocks; -1 elsewhere.
    in_two
        Frames that the split puts into two parts.
    problems
        What is not clear, each beginning with "split: ".
    """

    names: tuple[str, ...]
    code: NDArray[np.int16]
    blocks: tuple[str, ...]
    block: NDArray[np.int32]
    in_two: NDArray[np.int64]
    problems: tuple[LabelProblem, ...]


def place_parts(
    screened: Screened,
    splits: Splits | None,
    truth: NDArray[np.int8],
    *,
    keys: pa.Table,
    places: Places,
) -> Parts:
    """Return the part of every frame; without a split every frame is in none.

    Parameters
    ----------
    screened, truth
        All frames, and their labels.
    splits
        The split, or None.
    keys, places
        The labels' rows and their frames: a split made from them has the same keys.
    """
    nowhere = np.full(len(screened), -1, dtype=np.int32)
    if splits is None:
        none = np.empty(0, dtype=np.int64)
        return Parts((), nowhere.astype(np.int16), (), nowhere, none, ())
    table = splits.table
    if not table.select(_KEYS).equals(keys.select(_KEYS)):
        places = find_frames(screened, table, what=splits.path)
    names, part = as_codes(table["part"])
    kinds, kind = as_codes(table["kind"])
    blocks, block = as_codes(table["group"])
    is_block = kind == (kinds.index("block") if "block" in kinds else -2)
    found = np.flatnonzero(places.row >= 0)
    rows = places.row[found]
    code, frame_block = nowhere.copy(), nowhere.copy()
    code[rows] = part[found]  # the last row wins; where that matters, the frame is in two parts
    in_two = np.unique(rows[code[rows] != part[found]])
    code[in_two] = -1
    frame_block[rows] = np.where(is_block[found], block[found], -1)
    labelled = truth != UNLABELLED
    listed = np.zeros(len(screened), dtype=bool)
    listed[rows] = True
    left_out = np.flatnonzero(labelled & ~listed)
    unlabelled = np.flatnonzero(listed & ~labelled)
    problems = (
        *key_problems(table, places),
        *problem(
            "the frame is in two parts, and counts in none",
            in_two,
            name_frames(screened, in_two[:EXAMPLES]),
        ),
        *problem(
            "the labelled frame is in no part",
            left_out,
            name_frames(screened, left_out[:EXAMPLES]),
        ),
        *problem(
            "the frame is in the split and has no label",
            unlabelled,
            name_frames(screened, unlabelled[:EXAMPLES]),
            used=True,
        ),
    )
    told = tuple(
        LabelProblem(f"split: {entry.what}", entry.rows, entry.examples, entry.used)
        for entry in problems
    )
    return Parts(names, code.astype(np.int16), blocks, frame_block, in_two, told)
