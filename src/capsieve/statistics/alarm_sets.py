"""Alarms: runs of flagged frames as a reader meets them, and how late each polyp is found."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.flagged_runs import (
    GAP_S,
    SLACK_S,
    FlaggableFrames,
    check_seconds,
    flaggable_frames,
    run_starts,
)
from capsieve.statistics.judged import POLYP, Judged

__all__ = [
    "KINDS",
    "AlarmSet",
    "TimedFrames",
    "alarm_of",
    "alarms_at",
    "runs_that_count",
    "timed_frames",
]

KINDS = ("unlabelled", "other", "false", "true")
"""What an alarm is, by its most telling frame; codes of :attr:`AlarmSet.kind`."""

# A frame's rank by truth + 1: UNLABELLED, NORMAL, POLYP, OTHER. The highest decides its alarm.
_RANK = np.array([0, 2, 3, 1], np.int8)


@dataclass(frozen=True, slots=True, eq=False)
class AlarmSet:
    """The alarms at one threshold, and how late each polyp was found.

    Attributes
    ----------
    exams
        Codes of the exams whose times are known; no other is judged.
    left_out
        Names of the exams whose times are unknown.
    exam, kind
        Per alarm; `kind` is a code into :data:`KINDS`.
    first, last
        Seconds, per alarm.
    delay
        Per polyp, seconds from its first frame in any head to the first of its frames inside an
        alarm; infinite where there is none.
    polyp_group
        Per polyp the group that is drawn as a whole with it.
    hours
        Per exam of `exams`: from the first to the last frame of any head.
    """

    exams: NDArray[np.int32]
    left_out: tuple[str, ...]
    exam: NDArray[np.int32]
    kind: NDArray[np.int8]
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    delay: NDArray[np.float64]
    polyp_group: NDArray[np.int32]
    hours: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TimedFrames:
    """The frames of exams with known times: all that no threshold changes.

    Attributes
    ----------
    judged, frames
        All frames of these exams, and those that some threshold flags.
    exams, left_out
        As of :class:`AlarmSet`.
    rank
        Per flaggable frame a code into :data:`KINDS`; the highest of an alarm is its kind.
    polyp
        Per flaggable frame its polyp, counted anew from 0; -1 for none.
    delay
        Per flaggable frame the seconds since the first frame of its polyp; NaN for none.
    polyps
        How many there are.
    group
        Per polyp the group of its first frame.
    """

    judged: Judged
    frames: FlaggableFrames
    exams: NDArray[np.int32]
    left_out: tuple[str, ...]
    rank: NDArray[np.int8]
    polyp: NDArray[np.intp]
    delay: NDArray[np.float64]
    polyps: int
    group: NDArray[np.int32]


def alarms_at(
    judged: Judged, *, threshold: float, gap: float = GAP_S, shortest: float = 0.0
) -> AlarmSet | None:
    """Return the alarms at a threshold; None where no exam's times are known.

    See :func:`~capsieve.statistics.alarms.alarm_curve`.
    """
    check_seconds(gap=gap, shortest=shortest)
    timed = timed_frames(judged)
    if timed is None:
        return None
    frames = timed.frames
    kept = np.flatnonzero(frames.score >= threshold)
    starts, counted = runs_that_count(frames, kept, gap, shortest)
    delay = np.full(timed.polyps, np.inf)
    kinds = np.empty(0, np.int8)
    if len(starts):
        kinds = np.maximum.reduceat(timed.rank[kept], starts)
        shown = np.flatnonzero(timed.polyp[kept] >= 0)
        shown = kept[shown[counted[alarm_of(shown, starts)]]]
        np.minimum.at(delay, timed.polyp[shown], timed.delay[shown])
    heads = kept[starts[counted]]
    return AlarmSet(
        exams=timed.exams,
        left_out=timed.left_out,
        exam=timed.judged.exam[frames.index[heads]],
        kind=kinds[counted],
        first=frames.time[heads],
        last=frames.time[kept[_ends(starts, len(kept))[counted]]],
        delay=delay,
        polyp_group=timed.group,
        hours=_hours(timed),
    )


def timed_frames(judged: Judged) -> TimedFrames | None:
    """Keep the exams of which some time is known, and the time of every frame with a score."""
    present = np.unique(judged.exam)
    known = np.isfinite(judged.time)
    timed = np.zeros(len(judged.exams), bool)
    timed[judged.exam[known]] = True
    timed[judged.exam[~known & ~np.isnan(judged.score)]] = False
    exams = present[timed[present]]
    if not len(exams):
        return None
    left_out = tuple(judged.exams[code] for code in present[~timed[present]])
    judged = judged.take(timed[judged.exam]) if left_out else judged
    frames = flaggable_frames(judged)
    polyp, delay, first = _delays(judged)
    return TimedFrames(
        judged=judged,
        frames=frames,
        exams=exams,
        left_out=left_out,
        rank=_RANK[judged.truth[frames.index] + 1],
        polyp=polyp[frames.index],
        delay=delay[frames.index],
        polyps=len(first),
        group=judged.group[first],
    )


def _delays(
    judged: Judged,
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.intp]]:
    """Per frame its polyp, counted anew, and the time since its first frame; per polyp a frame.

    Times of two exams cannot be compared: a polyp that stands in both begins anew in each.
    """
    shown = np.flatnonzero((judged.truth == POLYP) & (judged.polyp >= 0))
    names, some, code = np.unique(judged.polyp[shown], return_index=True, return_inverse=True)
    polyp = np.full(len(judged), -1, np.intp)
    polyp[shown] = code
    passage = judged.exam[shown].astype(np.int64) * max(len(names), 1) + code
    passages, place = np.unique(passage, return_inverse=True)
    first = np.full(len(passages), np.inf)
    np.fmin.at(first, place, judged.time[shown])
    delay = np.full(len(judged), np.nan)
    delay[shown] = judged.time[shown] - first[place]
    return polyp, delay, shown[some]


def runs_that_count(
    frames: FlaggableFrames, kept: NDArray[np.intp], gap: float, shortest: float
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return where the alarms among the kept frames begin, and which are long enough."""
    time = frames.time[kept]
    starts = run_starts(frames.stream[kept], time, gap)
    length = time[_ends(starts, len(kept))] - time[starts]
    return starts, length + SLACK_S >= shortest


def _ends(starts: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """The last member of each run."""
    return np.append(starts[1:], count)[: len(starts)] - 1


def alarm_of(members: NDArray[np.intp], starts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the alarm that each of the kept frames belongs to."""
    return np.searchsorted(starts, members, side="right") - 1


def _hours(timed: TimedFrames) -> NDArray[np.float64]:
    judged = timed.judged
    known = np.isfinite(judged.time)
    first, last = (np.full(len(judged.exams), value) for value in (np.inf, -np.inf))
    np.minimum.at(first, judged.exam[known], judged.time[known])
    np.maximum.at(last, judged.exam[known], judged.time[known])
    return (last - first)[timed.exams] / 3600.0
