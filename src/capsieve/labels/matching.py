"""Which label belongs to which frame, and what frames are grouped by."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.labels.label_set import LabelProblem, LabelSet
from capsieve.labels.splits import Splits
from capsieve.statistics.frames import Coded

__all__ = ["LabelRows", "Matched", "match"]


@dataclass(frozen=True, slots=True, eq=False)
class LabelRows:
    """Counts of the rows of the labels, per screened exam and last for rows of no screened exam.

    rows = first + repeated + contradicting + without_frame.

    Attributes
    ----------
    exams
        Names of the screened exams, in the order of the frames.
    rows
        All rows.
    first
        Rows that give a frame its label.
    repeated
        Rows that repeat the label of the same frame.
    contradicting
        Rows of frames that have no label because their rows contradict each other.
    without_frame
        Rows that fit no frame, or several.
    """

    exams: tuple[str, ...]
    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    repeated: NDArray[np.int64]
    contradicting: NDArray[np.int64]
    without_frame: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Labels of frames.

    Attributes
    ----------
    truth, polyp, patient, unit, group, group_kind, source, finding, part, polyp_word
        As in :class:`~capsieve.statistics.frames.LabelledFrames`.
    problems
        Of the matching, then of the split ("split: ..."); not those of the labels.
    contradicted
        Frames that have no label because their rows contradict each other.
    in_two_parts
        Rows of the frames that the split puts into two parts, which is a leak. Their part is -1.
    rows
        Counts of the labels' rows that add up.
    """

    truth: NDArray[np.int8]
    polyp: Coded
    patient: Coded
    unit: Coded
    group: Coded
    group_kind: str
    source: Coded
    finding: Coded
    part: Coded
    polyp_word: str
    problems: tuple[LabelProblem, ...]
    contradicted: NDArray[np.bool_]
    in_two_parts: NDArray[np.int64]
    rows: LabelRows

    def columns(self) -> dict[str, Any]:
        """Return the fields of LabelledFrames that come from labels, by name."""
        raise NotImplementedError


def match(frames: pa.Table, labels: LabelSet, splits: Splits | None = None) -> Matched:
    """Find the frame of every row of labels."""
    raise NotImplementedError
