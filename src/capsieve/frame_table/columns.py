"""Frames of exams and their labels as columns: arrays with one value per frame."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

POLYP = 1
NORMAL = 0
OTHER = 2
"""Another finding: in neither class, reported separately."""
UNLABELLED = -1

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rows = NDArray[Any]
"""A mask or indices."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A name per frame: names without repetition, and a code per frame; -1 is "unknown"."""

    names: tuple[str, ...]
    code: NDArray[np.int32]

    def __getitem__(self, frame: int) -> str | None:
        code = int(self.code[frame])
        return None if code < 0 else self.names[code]

    @classmethod
    def of(cls, values: Iterable[str | None]) -> "Coded":
        """Return the codes of texts, numbered in the order of their first appearance."""
        codes: dict[str | None, int] = {None: -1}
        code = [codes.setdefault(value, len(codes) - 1) for value in values]
        return cls(tuple(name for name in codes if name is not None), np.array(code, np.int32))

    @classmethod
    def unknown(cls, size: int) -> "Coded":
        """Return the codes of so many unknown names."""
        return cls((), np.full(size, -1, np.int32))

    def take(self, rows: Rows) -> "Coded":
        """Return the codes of the chosen frames; the names stay."""
        return Coded(self.names, self.code[rows])

    def isin(self, names: Iterable[str]) -> Mask:
        """Return which frames have one of these names."""
        wanted = set(names)
        return np.array([*(name in wanted for name in self.names), False], np.bool_)[self.code]


@dataclass(frozen=True, kw_only=True, eq=False)
class FrameColumns:
    """Frames of exams, sorted by exam, head and frame.

    Attributes
    ----------
    exam
        The screened exam (folder of OUT), or the exam of a table of scores.
    head, frame
        Head and number of the frame, as in frames.parquet.
    file
        Name of the image per frame (objects; None for videos), or None if no exam has files.
    time
        Seconds; NaN if unknown.
    decoded
        Whether the frame could be decoded.
    score
        Higher means polyp. A threshold flags a frame if its score is at least that. NaN: the frame
        was not scored. -inf: a rule of the detector rejected it before it was scored, so no
        threshold and no reading list flags it.
    reason
        The rule that decided, as screened; -1 for frames that were not scored, and for scores of
        other programs.
    flagged, event
        Flags and events of the screening; event is -1 for none. False and -1 for other scores.
    duplicate_of
        Row of the first of a run of near-identical frames of the same head; -1 for none.
    row, col, radius
        The best place of each frame, in pixels of the source; NaN for none. This and what follows
        is None if it is not known of any frame.
    rows, cols
        The size of each frame; 0 if it was not decoded.
    texture_max, radius_max
        T_max and R_max of the paper; NaN if they are not defined.
    red, green, blue, sharpness
        Mean colour, 0 to 255, and variance of the Laplacian; NaN if the frame was not scored.
    """

    exam: Coded
    head: NDArray[np.int16]
    frame: Integers
    file: NDArray[np.object_] | None
    time: Floats
    decoded: Mask
    score: Floats
    reason: Coded
    flagged: Mask
    event: NDArray[np.int32]
    duplicate_of: Integers
    row: Floats | None = None
    col: Floats | None = None
    radius: Floats | None = None
    rows: NDArray[np.int32] | None = None
    cols: NDArray[np.int32] | None = None
    texture_max: Floats | None = None
    radius_max: Floats | None = None
    red: NDArray[np.float32] | None = None
    green: NDArray[np.float32] | None = None
    blue: NDArray[np.float32] | None = None
    sharpness: NDArray[np.float32] | None = None

    @classmethod
    def of_keys(cls, exam: Coded, head: NDArray[np.int16], frame: Integers) -> "FrameColumns":
        """Return frames of which nothing else is known: none is scored or flagged."""
        size = len(frame)
        return cls(
            exam=exam,
            head=head,
            frame=frame,
            file=None,
            time=np.full(size, np.nan),
            decoded=np.ones(size, np.bool_),
            score=np.full(size, np.nan),
            reason=Coded.unknown(size),
            flagged=np.zeros(size, np.bool_),
            event=np.full(size, -1, np.int32),
            duplicate_of=np.full(size, -1, np.int64),
        )

    def __len__(self) -> int:
        return len(self.score)

    @property
    def scored(self) -> Mask:
        """Frames that the detector scored or rejected by a rule."""
        return ~np.isnan(self.score)

    def take(self, rows: Rows) -> "FrameColumns":
        """Return the chosen frames (a mask or indices); the lists of names stay.

        Near-identical frames refer to the first of them that is chosen.
        """
        rows = np.arange(len(self))[rows]
        return FrameColumns(
            exam=self.exam.take(rows),
            head=self.head[rows],
            frame=self.frame[rows],
            file=_taken(self.file, rows),
            time=self.time[rows],
            decoded=self.decoded[rows],
            score=self.score[rows],
            reason=self.reason.take(rows),
            flagged=self.flagged[rows],
            event=self.event[rows],
            duplicate_of=_taken_duplicates(self.duplicate_of, rows),
            row=_taken(self.row, rows),
            col=_taken(self.col, rows),
            radius=_taken(self.radius, rows),
            rows=_taken(self.rows, rows),
            cols=_taken(self.cols, rows),
            texture_max=_taken(self.texture_max, rows),
            radius_max=_taken(self.radius_max, rows),
            red=_taken(self.red, rows),
            green=_taken(self.green, rows),
            blue=_taken(self.blue, rows),
            sharpness=_taken(self.sharpness, rows),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelColumns:
    """What labels say about frames.

    Attributes
    ----------
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
        Frames that are resampled and split as a whole: the patient if known, else the labelled
        block, else the exam that the labels name, else a cut block of frames; and the word for it:
        "patient", "block", "exam", "patient or block", ...
    source
        Device or data set; -1 if the labels name none.
    finding
        Further words of the labels.
    part
        Part of a split: "train", "test", "1", ...; -1 if the frame is in no part.
    polyp_word
        Word for a value of `polyp`: "polyp", or "run" if runs of frames are used as polyps.
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
    polyp_word: str = "polyp"

    @property
    def labelled(self) -> Mask:
        """Frames with a label."""
        return self.truth >= 0

    @property
    def polyp_frames(self) -> Mask:
        """The frames that sensitivity counts: all polyp frames, scored or not."""
        return self.truth == POLYP

    def take(self, rows: Rows) -> "LabelColumns":
        """Return the labels of the chosen frames (a mask or indices); the lists of names stay."""
        return LabelColumns(
            truth=self.truth[rows],
            polyp=self.polyp.take(rows),
            patient=self.patient.take(rows),
            unit=self.unit.take(rows),
            group=self.group.take(rows),
            group_kind=self.group_kind,
            source=self.source.take(rows),
            finding=self.finding.take(rows),
            part=self.part.take(rows),
            polyp_word=self.polyp_word,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledFrames(FrameColumns, LabelColumns):
    """Frames of exams with their labels."""

    @classmethod
    def of(cls, frames: FrameColumns, labels: LabelColumns) -> "LabelledFrames":
        """Return frames with labels of the same length."""
        return cls(
            exam=frames.exam,
            head=frames.head,
            frame=frames.frame,
            file=frames.file,
            time=frames.time,
            decoded=frames.decoded,
            score=frames.score,
            reason=frames.reason,
            flagged=frames.flagged,
            event=frames.event,
            duplicate_of=frames.duplicate_of,
            row=frames.row,
            col=frames.col,
            radius=frames.radius,
            rows=frames.rows,
            cols=frames.cols,
            texture_max=frames.texture_max,
            radius_max=frames.radius_max,
            red=frames.red,
            green=frames.green,
            blue=frames.blue,
            sharpness=frames.sharpness,
            truth=labels.truth,
            polyp=labels.polyp,
            patient=labels.patient,
            unit=labels.unit,
            group=labels.group,
            group_kind=labels.group_kind,
            source=labels.source,
            finding=labels.finding,
            part=labels.part,
            polyp_word=labels.polyp_word,
        )

    @property
    def normal_frames(self) -> Mask:
        """The frames that specificity counts: scored normal frames."""
        return (self.truth == NORMAL) & self.scored

    @property
    def other_frames(self) -> Mask:
        """Scored frames with another finding."""
        return (self.truth == OTHER) & self.scored

    def take(self, rows: Rows) -> "LabelledFrames":
        """Return the chosen frames (a mask or indices); the lists of names stay.

        Near-identical frames refer to the first of them that is chosen.
        """
        return LabelledFrames.of(FrameColumns.take(self, rows), LabelColumns.take(self, rows))


_Kind = TypeVar("_Kind", bound=np.generic)


def _taken(column: NDArray[_Kind] | None, rows: Rows) -> NDArray[_Kind] | None:
    return None if column is None else column[rows]


def first_of_runs(duplicate_of: Integers) -> Integers:
    """Return the first row of the run of near-identical frames that each row belongs to."""
    return np.where(duplicate_of < 0, np.arange(len(duplicate_of)), duplicate_of)


def _taken_duplicates(duplicate_of: Integers, rows: NDArray[np.intp]) -> Integers:
    """Return `duplicate_of` of chosen rows, in their new numbering."""
    if not (duplicate_of >= 0).any():
        return np.full(len(rows), -1, np.int64)
    run = first_of_runs(duplicate_of)[rows]
    position = np.arange(len(rows))
    first = np.empty(len(duplicate_of), np.int64)
    first[run[::-1]] = position[::-1]  # the first of equal runs is written last
    return np.where(first[run] == position, -1, first[run])
