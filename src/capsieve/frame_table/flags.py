"""Which frames are flagged, by a threshold or a reading list, and which of them are read.

Floats are those of :class:`~capsieve.frame_table.columns.FrameColumns`: NaN if a frame was not
scored, -inf if a rule of the detector rejected it. Such frames are never flagged.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsieve.frame_table.columns import Floats, Integers, Mask, first_of_runs
from capsieve.frame_table.rule import FlagRule

_DECIMALS = 6  # products of shares and counts are rounded to them: 10 % of 70 frames is 7, not 8


def near_duplicates(phashes: Sequence[bytes | None], head: NDArray[np.integer]) -> Integers:
    """Return for each frame of an exam the row of the earlier near-identical frame, or -1.

    Consecutive frames of a head are compared with the first of them, so that a slow change ends a
    run. Frames without a hash, such as undecodable ones, do not end it.

    Parameters
    ----------
    phashes
        Perceptual hashes in the order of the frames; None if a frame has none.
    head
        Head of each frame.
    """
    from capsieve.phash import NEAR_DUPLICATE_BITS  # here, because OpenCV is slow to import

    duplicate_of = np.full(len(phashes), -1, np.int64)
    first, first_hash, first_head = -1, 0, -1
    for frame, (content, camera) in enumerate(zip(phashes, head.tolist(), strict=True)):
        if content is None:
            continue
        value = int.from_bytes(content)
        alike = camera == first_head and first >= 0
        if alike and (value ^ first_hash).bit_count() <= NEAR_DUPLICATE_BITS:
            duplicate_of[frame] = first
        else:
            first, first_hash, first_head = frame, value, camera
    return duplicate_of


class ReadingList(NamedTuple):
    """Frames of exams in the order of reading lists.

    A list takes the frames with the highest scores; of equal scores the earlier row. The
    near-duplicates of a listed frame come with it and are not counted, so that a capsule that
    stands still does not use up the list.

    Attributes
    ----------
    exam
        Code of the exam of each frame; -1 if it is not known.
    rank
        Rank of each frame on the list of its exam, from 1, the same for near-identical frames;
        infinite if no list contains the frame.
    total
        Scored frames without near-duplicates of each exam, which shares are of.
    available
        Frames without near-duplicates of each exam that a list can contain.
    """

    exam: Integers
    rank: Floats
    total: Integers
    available: Integers

    def length(self, rule: FlagRule) -> Integers:
        """Return how many frames a reading list asks for in each exam; it may have fewer."""
        if rule.kind == "count":
            return np.full(len(self.total), int(rule.value))
        return np.ceil(np.round(rule.value * self.total, _DECIMALS)).astype(np.int64)

    def flagged(self, rule: FlagRule) -> Mask:
        """Return which frames a reading list flags."""
        return self.rank <= np.append(self.length(rule), 0)[self.exam]

    def share(self) -> Floats:
        """Return the smallest share of its exam at which a list contains each frame, or infinity.

        ``flagged(FlagRule("share", share))`` is ``share() <= share``.
        """
        # The list is rounded up, so it contains the frame as soon as it exceeds the frames before
        # by more than the rounding.
        share = np.full(len(self.rank), np.inf)
        listed = np.flatnonzero(self.rank < np.inf)
        share[listed] = self.rank[listed] - 1 + 0.501 * 10.0**-_DECIMALS
        share[listed] /= self.total[self.exam[listed]]
        return share


def reading_list(
    score: Floats, duplicate_of: Integers, exam: NDArray[np.integer] | None = None
) -> ReadingList:
    """Return the order in which reading lists take the frames of each exam.

    Parameters
    ----------
    score
        Score of each frame; frames of an exam are sorted by head and frame.
    duplicate_of
        The row of the first of near-identical frames; -1 for none.
    exam
        Code of the exam that each frame is read with, -1 if it is not known; None for one exam.
    """
    size = len(score)
    unit = np.zeros(size, np.int64) if exam is None else exam.astype(np.int64)
    count = 1 if exam is None else int(unit.max(initial=-1)) + 1
    run = unit * size + first_of_runs(duplicate_of)
    rank = np.full(size, np.inf)
    rows = np.flatnonzero((unit >= 0) & (score > -np.inf))
    order = rows[np.lexsort((-score[rows], unit[rows]))]  # stable: the earlier row first
    _, best, code = np.unique(run[order], return_index=True, return_inverse=True)
    starts = np.zeros(len(order), np.int64)
    starts[best] = 1
    number = np.concatenate([[0], np.cumsum(starts)])
    bounds = np.searchsorted(unit[order], np.arange(count + 1), side="left")
    rank[order] = number[best + 1][code] - number[bounds[:-1]][unit[order]]
    scored = np.unique(run[(unit >= 0) & ~np.isnan(score)])
    total = np.bincount(scored // max(size, 1), minlength=count)
    return ReadingList(unit, rank, total, np.diff(number[bounds]))


def flagged(
    score: Floats,
    duplicate_of: Integers,
    rule: FlagRule,
    exam: NDArray[np.integer] | None = None,
) -> Mask:
    """Return which frames a rule flags; the arguments are those of :func:`reading_list`."""
    if rule.is_list:
        return reading_list(score, duplicate_of, exam).flagged(rule)
    return flagged_at(score, rule.value)


def flagged_at(score: ArrayLike, threshold: float) -> Mask:
    """Return which frames a threshold flags: score >= threshold, and not rejected by a rule."""
    values = np.asarray(score, np.float64)
    return (values >= threshold) & (values > -np.inf)


def to_read(event: NDArray[np.integer], score: Floats, duplicate_of: Integers) -> Mask:
    """Return the flagged frames that a reader is shown.

    A near-duplicate of a flagged frame of the same event is left out, but the best frame of an
    event is always shown.

    Parameters
    ----------
    event
        Event of each flagged frame, numbered over all exams; -1 for other frames.
    score, duplicate_of
        As for :func:`reading_list`.
    """
    hidden = (duplicate_of >= 0) & (event >= 0) & (event[duplicate_of] == event)
    hidden[best_of_events(event, score)] = False
    return (event >= 0) & ~hidden


def best_of_events(event: NDArray[np.integer], score: Floats) -> NDArray[np.intp]:
    """Return the row of the best frame of each event, in the order of the events' numbers.

    Of equal scores it is the first.
    """
    rows = np.flatnonzero(event >= 0)
    by_score = rows[np.lexsort((rows, -score[rows], event[rows]))]
    return by_score[np.unique(event[by_score], return_index=True)[1]]
