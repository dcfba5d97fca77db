"""The curves of an evaluation: points from the strictest threshold to the most lenient."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["AlarmCurve", "Band", "EffortCurve", "FrocCurve", "RocCurve"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """True positive rate against false positive rate, one point per distinct positive score.

    The first point is (0, 0) with the threshold infinity. The last point belongs to the lowest
    positive score: where the sieve rejects frames before it scores them, the curve ends short of
    (1, 1), and the way from there is a guess that only the area under the whole curve makes.

    Attributes
    ----------
    thresholds, false_positive_rate, true_positive_rate
        One value per point, thresholds falling.
    positives, negatives
        How many frames (or polyps) and normal frames the rates are shares of.
    unit
        What a positive is: "frame", "polyp" or "run".
    """

    thresholds: Floats
    false_positive_rate: Floats
    true_positive_rate: Floats
    positives: int
    negatives: int
    unit: str = "frame"


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """A pointwise interval around a curve; `why` says why it is empty."""

    x: Floats
    low: Floats
    high: Floats
    method: str
    units: int
    why: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class EffortCurve:
    """What is found for what is read, one point per threshold, thresholds falling.

    Attributes
    ----------
    thresholds
        Of the score.
    polyps_found, frames_found
        Shares of all polyps and of all polyp frames.
    frames, events
        To read per exam, the mean over exams; events is NaN where times are unknown.
    minutes
        Frames per exam at the stated reading speed.
    exams, all_frames, polyps
        How many exams, frames per exam (mean) and polyps there are.
    frames_per_second
        The stated reading speed.
    unit
        "polyp" or "run".
    """

    thresholds: Floats
    polyps_found: Floats
    frames_found: Floats
    frames: Floats
    events: Floats
    minutes: Floats
    exams: int
    all_frames: float
    polyps: int
    frames_per_second: float
    unit: str = "polyp"


@dataclass(frozen=True, slots=True, eq=False)
class AlarmCurve:
    """Polyps found in time against false alarms per exam, one point per threshold, falling.

    Attributes
    ----------
    thresholds
        Of the score.
    found
        Share of the polyps that are flagged within `within` seconds of their first frame.
    alarms
        False alarms per exam: runs of flagged frames without a polyp frame.
    within, gap, shortest
        Seconds: the time allowed; the longest pause inside an alarm; the shortest alarm counted.
    polyps, exams
        How many there are.
    unit
        "polyp" or "run".
    """

    thresholds: Floats
    found: Floats
    alarms: Floats
    within: float
    gap: float
    shortest: float
    polyps: int
    exams: int
    unit: str = "polyp"


@dataclass(frozen=True, slots=True, eq=False)
class FrocCurve:
    """Free-response ROC: polyps pointed at against marks beside them, per frame.

    Attributes
    ----------
    thresholds
        Of the mark's score (the ball's radius).
    hit_rate
        Share of the polyp outlines (one polyp on one frame) that hold the centre of a mark.
    marks
        Marks outside any polyp, per frame looked at.
    outlines, frames
        How many there are.
    """

    thresholds: Floats
    hit_rate: Floats
    marks: Floats
    outlines: int
    frames: int
