"""Labelled frames: the arrays that all statistics start from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BLOCKS_ARE_NOT_EXAMS",
    "NORMAL",
    "OTHER",
    "POLYP",
    "UNLABELLED",
    "Coded",
    "LabelledFrames",
    "PolypScores",
    "dense_units",
    "exam_units",
    "number_of",
    "polyp_scores",
    "reading_units",
    "split_findings",
    "unscored_note",
    "whole_exams",
]

POLYP = 1
NORMAL = 0
OTHER = 2
"""Another finding: in neither class, reported separately."""
UNLABELLED = -1

BLOCKS_ARE_NOT_EXAMS = (
    "Training and test are divided by blocks of running numbers. Blocks are not exams: an exam may "
    "be on both sides, and then the figures are too good."
)


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
        Higher means polyp. A threshold flags a frame if its score is at least that. NaN: the frame
        was not scored. -inf: a rule of the detector rejected it before it was scored, so no
        threshold and no reading list flags it.
    flagged, event
        As screened; event is -1 for none. False and -1 for scores from elsewhere.
    duplicate_of
        Row of the first of a run of near-identical frames of the same head; -1 for none.
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
        Of a split: "train", "test", "1", ...; -1 if the frame is in no part.
    polyp_word
        Word for a value of `polyp`: "polyp", or "run" if runs of frames are used as polyps.
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

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Frames that the detector scored or rejected by a rule."""
        return ~np.isnan(self.score)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Frames with a label."""
        return self.truth >= 0

    @property
    def polyp_frames(self) -> NDArray[np.bool_]:
        """The frames that sensitivity counts: all polyp frames, scored or not."""
        return self.truth == POLYP

    @property
    def normal_frames(self) -> NDArray[np.bool_]:
        """The frames that specificity counts: scored normal frames."""
        return (self.truth == NORMAL) & self.scored

    @property
    def other_frames(self) -> NDArray[np.bool_]:
        """Scored frames with another finding."""
        return (self.truth == OTHER) & self.scored

    def take(self, chosen: NDArray[Any]) -> "LabelledFrames":
        """Return the chosen frames (a mask or indices); the lists of names stay.

        Near-identical frames refer to the first of them that is chosen.
        """
        rows = np.arange(len(self))[chosen]
        changed: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray):
                changed[each.name] = value[rows]
            elif isinstance(value, Coded):
                changed[each.name] = value.take(rows)
        changed["duplicate_of"] = _taken_duplicates(self.duplicate_of, rows)
        changed["values"] = {name: value[rows] for name, value in self.values.items()}
        return replace(self, **changed)


class PolypScores(NamedTuple):
    """One entry per named polyp, in the order of their first frames.

    Attributes
    ----------
    first
        Row of the first frame.
    score
        The best score of its frames; -inf if no frame was scored, or all were rejected.
    frames
        N_F, the number of frames that show it.
    group
        Code of the group of its first frame.
    shown, place
        Rows of all frames that show a named polyp, and which of the polyps each shows.
    """

    first: NDArray[np.int64]
    score: NDArray[np.float64]
    frames: NDArray[np.int64]
    group: NDArray[np.int64]
    shown: NDArray[np.int64]
    place: NDArray[np.int64]

    def found(self, flagged: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which polyps have a flagged frame."""
        return np.bincount(self.place, flagged[self.shown], minlength=len(self.score)) > 0


def polyp_scores(frames: LabelledFrames) -> PolypScores:
    """Return the best score, the length, the group and the frames of every named polyp."""
    shown = np.flatnonzero(frames.polyp_frames & (frames.polyp.code >= 0))
    place, count, first = dense_units(frames.polyp.code[shown])
    score = np.full(count, -np.inf)
    values = frames.score[shown]
    np.maximum.at(score, place, np.where(np.isnan(values), -np.inf, values))
    lengths = np.bincount(place, minlength=count)
    group = frames.group.code[shown[first]].astype(np.int64)
    return PolypScores(shown[first], score, lengths, group, shown, place)


def dense_units(code: NDArray[np.integer]) -> tuple[NDArray[np.int64], int, NDArray[np.intp]]:
    """Number units (codes from -1) from 0, in the order of their first appearance.

    Intervals must not depend on how labels number patients, so units are drawn in the order of the
    frames. Returns the new code of each item, the number of units, and the first item of each unit.
    """
    first = np.full(int(code.max(initial=-1)) + 2, len(code))
    first[code[::-1] + 1] = np.arange(len(code))[::-1]  # the first of equal codes is written last
    there = np.flatnonzero(first < len(code))
    order = there[np.argsort(first[there])]
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(order))
    return rank[code + 1], len(order), first[order]


def reading_units(frames: LabelledFrames) -> Coded:
    """Return the exam that each frame is read with: its `unit`, only units with frames, in order.

    A screened exam without a label is a unit by itself. -1 is for a frame that may belong to any of
    several, or if the labels name neither exam nor patient.
    """
    unit, exam = frames.unit.code.astype(np.int64), frames.exam.code
    names = list(frames.unit.names)
    alone = np.ones(len(frames.exam.names), np.bool_)
    alone[exam[frames.labelled | (unit >= 0)]] = False
    unit = np.where(alone[exam], len(names) + exam, unit)
    names += frames.exam.names
    known = unit >= 0
    code = np.full(len(unit), -1, np.int32)
    code[known], _, first = dense_units(unit[known])
    return Coded(tuple(names[place] for place in unit[known][first]), code)


def exam_units(frames: LabelledFrames) -> Coded:
    """Return the exams that means are taken over: the reading units.

    There are none if the labels name neither exam nor patient of some labelled frame: a screened
    folder may be a class of a data set.
    """
    units = reading_units(frames)
    if (frames.labelled & (units.code < 0)).any():
        return Coded((), np.full(len(frames), -1, np.int32))
    return units


def whole_exams(frames: LabelledFrames, mask: NDArray[np.bool_]) -> bool:
    """Return whether every exam is in the mask with all its frames or with none."""
    unit = exam_units(frames).code
    return not len(np.intersect1d(unit[mask], unit[~mask]))


def number_of(count: int, what: str) -> str:
    """Return a count with its noun: "1 frame", "2,000 frames"."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def unscored_note(frames: LabelledFrames, truth: int) -> str:
    """Return a note about the polyp or normal frames that were not scored, or ""."""
    count = int(np.count_nonzero((frames.truth == truth) & ~frames.scored))
    if not count:
        return ""
    what, fate = ("polyp", "counted as missed") if truth == POLYP else ("normal", "left out")
    return f"{number_of(count, f'{what} frame')} not scored: {fate}."


def _taken_duplicates(duplicate_of: NDArray[np.int64], rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return `duplicate_of` of chosen rows, in their new numbering."""
    if not (duplicate_of >= 0).any():
        return np.full(len(rows), -1, np.int64)
    run = np.where(duplicate_of < 0, np.arange(len(duplicate_of)), duplicate_of)[rows]
    place = np.arange(len(rows))
    first = np.empty(len(duplicate_of), np.int64)
    first[run[::-1]] = place[::-1]  # the first of equal runs is written last
    return np.where(first[run] == place, -1, first[run])


def split_findings(text: str | None) -> tuple[str, ...]:
    """Return the findings of a frame, which a semicolon separates; () for None.

    Examples
    --------
    >>> split_findings("erosion; polyp, flat")
    ('erosion', 'polyp, flat')
    """
    words = () if text is None else (word.strip() for word in text.split(";"))
    return tuple(word for word in words if word)
