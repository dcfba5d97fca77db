"""Screened frames beside what they truly show: the arrays that all statistics start from."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NORMAL", "OTHER", "POLYP", "UNLABELLED", "Judged"]

POLYP = 1
NORMAL = 0
OTHER = 2
"""Another finding: in neither class, reported apart."""
UNLABELLED = -1


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """All frames of the evaluated exams, sorted by exam, head and frame.

    Every name that repeats is a code into a list of names; -1 stands for "unknown". Frames that
    were not scored have the score NaN and are never flagged.

    Attributes
    ----------
    exams, exam
        Names, and a code per frame.
    head, frame
        As in frames.parquet.
    file
        The image's name per frame (objects; None for videos), or None where no exam has files.
    time
        Seconds; NaN where unknown.
    rows, cols
        Size of the source's frame; 0 where unknown.
    score
        What thresholds apply to: a frame is flagged where score >= threshold. Scores of 0 or less
        are frames that the sieve rejected before it measured anything: no threshold flags them.
    flagged
        As screened.
    reasons, reason
        The rule that decided.
    texture_max, radius_max
        T_max and R_max; NaN where unknown.
    row, col, radius
        The best ball in the source's pixels; NaN where there is none.
    truth
        :data:`POLYP`, :data:`NORMAL`, :data:`OTHER` or :data:`UNLABELLED`.
    polyps, polyp
        Which polyp the frame shows; -1 for none, or for a polyp frame without a name.
    patients, patient
        -1 where the labels name none.
    groups, group
        What is resampled as a whole: the patient where known, else the block, else the exam.
    group_kind
        What the groups are, for people: "patient", "block", "exam" or "patient or block", ...
    findings, finding
        Other words of the labels, for instance what a false alarm shows.
    parts, part
        Of a split: "train", "test", "1", ...; -1 where the frame is in no part.
    unit
        What one value of `polyp` is: "polyp", or "run" where runs of frames stand in for polyps.
    """

    exams: tuple[str, ...]
    exam: NDArray[np.int32]
    head: NDArray[np.int16]
    frame: NDArray[np.int64]
    file: NDArray[np.object_] | None
    time: NDArray[np.float64]
    rows: NDArray[np.int32]
    cols: NDArray[np.int32]
    score: NDArray[np.float64]
    flagged: NDArray[np.bool_]
    reasons: tuple[str, ...]
    reason: NDArray[np.int16]
    texture_max: NDArray[np.float64]
    radius_max: NDArray[np.float64]
    row: NDArray[np.float64]
    col: NDArray[np.float64]
    radius: NDArray[np.float64]
    truth: NDArray[np.int8]
    polyps: tuple[str, ...]
    polyp: NDArray[np.int32]
    patients: tuple[str, ...]
    patient: NDArray[np.int32]
    groups: tuple[str, ...]
    group: NDArray[np.int32]
    group_kind: str
    findings: tuple[str, ...]
    finding: NDArray[np.int32]
    parts: tuple[str, ...]
    part: NDArray[np.int16]
    unit: str = "polyp"

    def __len__(self) -> int:
        return len(self.score)

    def take(self, chosen: NDArray[Any]) -> "Judged":
        """Return the chosen frames (a mask or indices); the lists of names stay whole."""
        arrays = {
            field.name: getattr(self, field.name)[chosen]
            for field in fields(self)
            if isinstance(getattr(self, field.name), np.ndarray)
        }
        return replace(self, **arrays)
