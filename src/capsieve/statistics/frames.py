"""Labelled frames: the arrays that all statistics start from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NORMAL", "OTHER", "POLYP", "UNLABELLED", "Coded", "LabelledFrames"]

POLYP = 1
NORMAL = 0
OTHER = 2
"""Another finding: in neither class, reported separately."""
UNLABELLED = -1


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A name per frame: names without repetition, and a code per frame; -1 is "unknown"."""

    names: tuple[str, ...]
    code: NDArray[np.int32]

    def __getitem__(self, frame: int) -> str | None:
        code = int(self.code[frame])
        return None if code < 0 else self.names[code]

    def take(self, chosen: NDArray[Any]) -> "Coded":
        """Return the codes of the chosen frames; the names stay."""
        return Coded(self.names, self.code[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFrames:
    """All frames of the evaluated exams, sorted by exam, head and frame.

    Attributes
    ----------
    exam
        The screened exam (folder of OUT), or the exam of a table of scores.
    head, frame
        As in frames.parquet.
    file
        Name of the image per frame (objects; None for videos), or None if no exam has files.
    time
        Seconds; NaN if unknown.
    score
        Higher means polyp. A frame is flagged by a threshold if its score is at least that. NaN: the
        frame was not scored. -inf: a rule of the detector rejected it before it was scored, so no
        threshold and no reading list flags it.
    flagged, event
        As screened; event is -1 for none. False and -1 for scores from elsewhere.
    duplicate_of
        Row of the earlier near-identical frame of the same head; -1 for none.
    truth
        :data:`POLYP`, :data:`NORMAL`, :data:`OTHER` or :data:`UNLABELLED`.
    polyp
        Which polyp the frame shows; -1 for none, or for a polyp frame without a name.
    patient
        -1 if the labels name none.
    unit
        The exam that a reader reads as one: the exam that the labels name, else the patient; -1 if
        the labels name neither (then no reading list can be formed). A screened folder may hold a
        class of a data set and is never a unit by itself.
    group, group_kind
        What is resampled and split as a whole: the patient if known, else the labelled block, else
        the exam that the labels name, else a cut block of frames; and the word for it: "patient",
        "block", "exam", "patient or block", ...
    source
        Device or data set; -1 if the labels name none.
    finding
        Further words of the labels.
    part
        Of a split: "train", "test", "1", ...; -1 if the frame is in no part.
    polyp_word
        What a value of `polyp` is: "polyp", or "run" if runs of frames stand in for polyps.
    values
        Further columns of frames.parquet by their names, if known: reason (objects), texture_max,
        radius_max, row, col, radius, rows, cols, red, green, blue, sharpness.
    """

    exam: Coded
    head: NDArray[np.int16]
    frame: NDArray[np.int64]
    file: NDArray[np.object_] | None
    time: NDArray[np.float64]
    score: NDArray[np.float64]
    flagged: NDArray[np.bool_]
    event: NDArray[np.int32]
    duplicate_of: NDArray[np.int64]
    truth: NDArray[np.int8]
    polyp: Coded
    patient: Coded
    unit: Coded
    group: Coded
    group_kind: str
    source: Coded
    finding: Coded
    part: Coded
    polyp_word: str = "polyp"
    values: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.score)
