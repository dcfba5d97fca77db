"""Labelled frames by polyp and by exam."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.frame_table import POLYP, Coded, Floats, Integers, LabelledFrames, Mask
from capsieve.plurals import number_of

BLOCKS_ARE_NOT_EXAMS = (
    "Training and test are divided by blocks of running numbers. Blocks are not exams: an exam may "
    "be on both sides, and then the metrics are too good."
)


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
    shown, polyp
        Rows of all frames that show a named polyp, and which of the polyps each shows.
    """

    first: Integers
    score: Floats
    frames: Integers
    group: Integers
    shown: Integers
    polyp: Integers

    def found(self, flagged: Mask) -> Mask:
        """Return which polyps have a flagged frame: D of the paper (equation 34)."""
        return np.bincount(self.polyp, flagged[self.shown], minlength=len(self.score)) > 0


def polyp_scores(frames: LabelledFrames) -> PolypScores:
    """Return the best score, the length, the group and the frames of every named polyp."""
    shown = np.flatnonzero(frames.polyp_frames & (frames.polyp.code >= 0))
    polyp, count, first = dense_units(frames.polyp.code[shown])
    score = np.full(count, -np.inf)
    values = frames.score[shown]
    np.maximum.at(score, polyp, np.where(np.isnan(values), -np.inf, values))
    lengths = np.bincount(polyp, minlength=count)
    group = frames.group.code[shown[first]].astype(np.int64)
    return PolypScores(shown[first], score, lengths, group, shown, polyp)


def dense_units(code: NDArray[np.integer]) -> tuple[Integers, int, NDArray[np.intp]]:
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
    return Coded(tuple(names[code] for code in unit[known][first]), code)


def exam_units(frames: LabelledFrames) -> Coded:
    """Return the exams that means are taken over: the reading units.

    There are none if the labels name neither exam nor patient of some labelled frame: a screened
    folder may be a class of a data set.
    """
    units = reading_units(frames)
    if (frames.labelled & (units.code < 0)).any():
        return Coded((), np.full(len(frames), -1, np.int32))
    return units


def whole_exams(frames: LabelledFrames, mask: Mask) -> bool:
    """Return whether every exam is in the mask with all its frames or with none."""
    unit = exam_units(frames).code
    return not len(np.intersect1d(unit[mask], unit[~mask]))


def unscored_note(frames: LabelledFrames, truth: int) -> str:
    """Return a note about the polyp or normal frames that were not scored, or ""."""
    count = int(np.count_nonzero((frames.truth == truth) & ~frames.scored))
    if not count:
        return ""
    word, fate = ("polyp", "counted as missed") if truth == POLYP else ("normal", "left out")
    return f"{number_of(count, f'{word} frame')} not scored: {fate}."


def unnamed_note(frames: LabelledFrames) -> str:
    """Return a note about polyp frames that name no polyp, or ""."""
    count = int(np.count_nonzero(frames.polyp_frames & (frames.polyp.code < 0)))
    name = frames.polyp_word
    return f"{number_of(count, 'polyp frame')} of no named {name} left out." if count else ""


def split_findings(text: str | None) -> tuple[str, ...]:
    """Return the findings of a frame, which a semicolon separates; () for None.

    Examples
    --------
    >>> split_findings("erosion; polyp, flat")
    ('erosion', 'polyp, flat')
    """
    words = () if text is None else (word.strip() for word in text.split(";"))
    return tuple(word for word in words if word)
