"""By event, as readers meet them: polyps found in time against false alarms per exam."""

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.alarm_sets import KINDS, alarm_of, runs_that_count, timed_frames
from capsieve.statistics.curves import AlarmCurve
from capsieve.statistics.flagged_runs import (
    GAP_S,
    SLACK_S,
    check_seconds,
    falling,
    flagged_sets,
)
from capsieve.statistics.judged import Judged

__all__ = ["WITHIN_S", "alarm_curve"]

WITHIN_S = 10.0
"""A polyp is found in time where it is flagged so soon after its first frame.

The alarm stops a reader, who looks back a little. At four frames a second ten seconds are forty
frames: more than all but one of the paper's sixteen sequences have (2 to 57, 14 on average). A
flag that comes later is most often another passage of the capsule, which the reader may never
connect with the first one.
"""

_FALSE = KINDS.index("false")


def alarm_curve(
    judged: Judged,
    *,
    thresholds: NDArray[np.float64],
    within: float = WITHIN_S,
    gap: float = GAP_S,
    shortest: float = 0.0,
) -> AlarmCurve | None:
    """Return polyps found in time against false alarms per exam, as the threshold falls.

    The flagged frames of one head of an exam form one alarm as long as the pauses between them are
    at most `gap` seconds. The heads are counted apart: a reader looks at both. An alarm with a
    polyp frame is a true one. One without, but with a normal frame, is false. What holds only
    other findings, or only frames without a label, is neither.

    A polyp is found in time where one of its frames lies in an alarm that is counted, at most
    `within` seconds after the first frame that is labelled with it in any head.

    Parameters
    ----------
    judged
        The frames.
    thresholds
        Of the score.
    within, gap
        Seconds.
    shortest
        Alarms shorter than this, from their first to their last flagged frame, are not counted,
        and find nothing; 0 counts all, also those of a single frame.

    Returns
    -------
    AlarmCurve or None
        None where no exam's times are known: running numbers of frames are never taken for time.
    """
    check_seconds(within=within, gap=gap, shortest=shortest)
    thresholds = falling(thresholds)
    timed = timed_frames(judged)
    if timed is None:
        return None
    found, false = np.zeros(len(thresholds)), np.zeros(len(thresholds))
    frames = timed.frames
    early = (timed.polyp >= 0) & (timed.delay <= within + SLACK_S)
    for place, kept in flagged_sets(frames.score, thresholds):
        starts, counted = runs_that_count(frames, kept, gap, shortest)
        if not len(starts):
            continue
        kinds = np.maximum.reduceat(timed.rank[kept], starts)
        false[place] = np.count_nonzero(counted & (kinds == _FALSE))
        hits = np.flatnonzero(early[kept])
        hits = hits[counted[alarm_of(hits, starts)]]
        found[place] = len(np.unique(timed.polyp[kept[hits]]))
    return AlarmCurve(
        thresholds=thresholds,
        found=found / timed.polyps if timed.polyps else np.full(len(thresholds), np.nan),
        alarms=false / len(timed.exams),
        within=within,
        gap=gap,
        shortest=shortest,
        polyps=timed.polyps,
        exams=len(timed.exams),
        unit=judged.unit,
    )
