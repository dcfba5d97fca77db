"""How much reading the sieve leaves: frames, events and minutes per exam, and what they find."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.statistics.bootstrap import ROUNDS, SEED
from capsieve.statistics.curves import EffortCurve
from capsieve.statistics.flagged_runs import (
    GAP_S,
    check_seconds,
    falling,
    flaggable_frames,
    flagged_sets,
    run_starts,
)
from capsieve.statistics.flags import flagged_at, normal_frames, number_of
from capsieve.statistics.intervals import FRAMES_NOT_INDEPENDENT, share_metric
from capsieve.statistics.judged import POLYP, Judged
from capsieve.statistics.metric import Interval, Metric
from capsieve.statistics.reading_units import (
    ReadingUnits,
    mean_interval,
    reading_units,
    unit_counts,
)
from capsieve.statistics.table import Column, Table

__all__ = ["curve_thresholds", "effort_curve", "effort_metrics", "effort_table"]


def curve_thresholds(
    scores: NDArray[np.float64], *, most: int = 200, points: Iterable[float] = ()
) -> NDArray[np.float64]:
    """Choose the thresholds of a curve, from the strictest to the most lenient.

    Parameters
    ----------
    scores
        Of all frames; those that are not above 0 are not used, for no threshold flags them.
    most
        Where there are at most so many distinct scores, each one is a threshold. Otherwise they
        are taken at ranks that grow by a constant factor: the strict end, where few frames are
        flagged, is dense, and the highest and the lowest score are always there.
    points
        Operating points, which the curve must pass through; they come on top.

    Returns
    -------
    array
        Falling, each value once.
    """
    if most < 2:
        raise ParameterError("most", f"must be at least 2, not {most}")
    positive = np.sort(scores[(scores > 0) & np.isfinite(scores)])[::-1]
    distinct = np.unique(positive)
    if len(distinct) > most:
        ranks = np.geomspace(1, len(positive), most).round().astype(np.intp) - 1
        distinct = positive[ranks]
    return falling(np.concatenate([distinct, np.fromiter(points, np.float64)]))


def effort_curve(
    judged: Judged,
    *,
    thresholds: NDArray[np.float64],
    frames_per_second: float,
    gap: float = GAP_S,
) -> EffortCurve:
    """Return what is found against what is to be read.

    To read are all flagged frames, whether or not they have a label.

    Parameters
    ----------
    judged
        The frames.
    thresholds
        For instance from :func:`curve_thresholds`.
    frames_per_second
        How fast a reader goes through frames.
    gap
        Flagged frames of one head at most so many seconds apart are one event.
    """
    _check_speed(frames_per_second)
    check_seconds(gap=gap)
    thresholds = falling(thresholds)
    units = reading_units(judged)
    exams = max(len(units), 1)

    polyp_frames = judged.truth == POLYP
    best = _best_scores(judged)
    frames = _at_least(judged.score, thresholds) / exams
    return EffortCurve(
        thresholds=thresholds,
        polyps_found=_share(_at_least(best, thresholds), len(best)),
        frames_found=_share(
            _at_least(judged.score[polyp_frames], thresholds), int(polyp_frames.sum())
        ),
        frames=frames,
        events=_events(judged, thresholds, gap) / exams,
        minutes=frames / frames_per_second / 60.0,
        exams=len(units),
        all_frames=len(judged) / exams,
        polyps=len(best),
        frames_per_second=frames_per_second,
        unit=judged.unit,
    )


def effort_metrics(
    judged: Judged,
    *,
    threshold: float,
    frames_per_second: float,
    gap: float = GAP_S,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[Metric, ...]:
    """Return the reading that a threshold leaves, per exam; see :func:`effort_curve`.

    The bootstrap draws whole exams, and those of one patient together.
    """
    curve = effort_curve(
        judged, thresholds=np.array([threshold]), frames_per_second=frames_per_second, gap=gap
    )
    units = reading_units(judged)
    flagged, normal = flagged_at(judged.score, threshold), normal_frames(judged)
    every = np.ones(len(judged), np.bool_)
    mean = f"the mean over {number_of(len(units), units.word)}, where {units.meaning}"
    speed = f"at {frames_per_second:g} frames per second"
    unscored = int(np.isnan(judged.score).sum())
    note = f"{number_of(unscored, 'frame')} not scored: never flagged." if unscored else ""

    def interval(above: NDArray[np.bool_], below: NDArray[np.bool_] | None) -> Interval:
        return mean_interval(judged, units, above, below, rounds=rounds, seed=seed)

    def per_exam(
        key: str,
        name: str,
        definition: str,
        counted: NDArray[np.bool_],
        note: str = "",
        *,
        in_minutes: bool = False,
    ) -> Metric:
        if not len(units):
            return Metric(f"effort.{key}", name, None, definition, note="No value: no exam.")
        share = 1.0 / frames_per_second / 60.0 if in_minutes else 1.0
        return Metric(
            f"effort.{key}",
            name,
            share * int(counted.sum()) / len(units),
            f"{definition}: {mean}.",
            "minutes" if in_minutes else "frames",
            intervals=(_scaled(interval(counted, None), share),),
            note=note,
        )

    def share(key: str, name: str, definition: str, counted: NDArray[np.bool_]) -> Metric:
        return share_metric(
            f"effort.{key}",
            name,
            definition,
            numerator=int(counted.sum()),
            denominator=len(judged),
            resampled=[interval(counted, every)],
            independent=FRAMES_NOT_INDEPENDENT,
            note=note,
            empty="there are no frames",
        )

    timed = bool(np.isfinite(curve.events[0]))
    return (
        per_exam(
            "frames_per_exam",
            "Frames to read per exam",
            "All flagged frames, labelled or not, per exam",
            flagged,
            " ".join(part for part in (_spread(flagged, units), note) if part),
        ),
        per_exam(
            "frames_whole_exam",
            "Frames of a whole exam",
            "All frames, flagged or not, per exam",
            every,
        ),
        share(
            "share_of_frames",
            "Share of the frames to read",
            "Flagged frames, labelled or not, among all frames of all exams.",
            flagged,
        ),
        share(
            "saving",
            "Reading saved",
            "Frames that are not flagged, labelled or not, among all frames of all exams: they "
            "need not be read.",
            ~flagged,
        ),
        Metric(
            "effort.events_per_exam",
            "Events to read per exam",
            float(curve.events[0]) if timed else None,
            f"Runs of flagged frames of one head at most {gap:g} s apart, per exam: {mean}.",
            "events",
            note="" if timed else "No value: the times of flagged frames are not known.",
        ),
        per_exam(
            "minutes_per_exam",
            "Minutes to read per exam",
            f"All flagged frames of an exam {speed}",
            flagged,
            in_minutes=True,
        ),
        per_exam(
            "minutes_whole_exam",
            "Minutes to read a whole exam",
            f"All frames of an exam {speed}",
            every,
            in_minutes=True,
        ),
        per_exam(
            "minutes_saved",
            "Minutes saved per exam",
            f"All frames of an exam that are not flagged, {speed}",
            ~flagged,
            in_minutes=True,
        ),
        per_exam(
            "false_frames_per_exam",
            "False positive frames per exam",
            "Flagged frames that are labelled normal, per exam, as the paper counts",
            flagged & normal,
        ),
        per_exam(
            "normal_frames_per_exam",
            "Normal frames per exam",
            "Scored frames that are labelled normal, flagged or not, per exam",
            normal,
        ),
    )


def effort_table(judged: Judged, *, threshold: float, frames_per_second: float) -> Table:
    """Return what there is to read of each exam."""
    _check_speed(frames_per_second)
    units = reading_units(judged)
    flagged = flagged_at(judged.score, threshold)
    names = [*units.names, "patient unknown"]
    place = np.where(units.unit < 0, len(units), units.unit)
    frames = np.bincount(place, minlength=len(names))
    read = np.bincount(place[flagged], minlength=len(names))
    rows = tuple(
        _row(name, int(read[i]), int(frames[i]), frames_per_second)
        for i, name in enumerate(names)
        if frames[i]
    )
    return Table(
        "reading-effort",
        "Frames to read",
        (
            Column("exam", "Patient" if units.word == "patient" else "Exam"),
            Column("frames", "Frames", "count"),
            Column("to_read", "To read", "count"),
            Column("share", "Share", "share"),
            Column("minutes", f"Minutes at {frames_per_second:g} frames/s", "number", 1),
        ),
        rows,
        f"All flagged frames, labelled or not; {units.meaning}.",
        total=_row("Total", int(flagged.sum()), len(judged), frames_per_second),
    )


def _row(name: str, read: int, frames: int, speed: float) -> tuple[str | int | float | None, ...]:
    return name, frames, read, read / frames if frames else None, read / speed / 60.0


def _at_least(scores: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many scores each threshold flags."""
    ordered = np.sort(scores[scores > 0])
    return len(ordered) - np.searchsorted(ordered, thresholds, side="left")


def _best_scores(judged: Judged) -> NDArray[np.float64]:
    """The highest score of every polyp; 0 where none of its frames could be scored."""
    shown = np.flatnonzero((judged.truth == POLYP) & (judged.polyp >= 0))
    polyps, polyp = np.unique(judged.polyp[shown], return_inverse=True)
    best = np.zeros(len(polyps))
    np.maximum.at(best, polyp, np.nan_to_num(judged.score[shown], nan=0.0, posinf=np.inf))
    return best


def _events(judged: Judged, thresholds: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    frames = flaggable_frames(judged)
    if not np.isfinite(frames.time).all() or not np.isfinite(judged.time).any():
        return np.full(len(thresholds), np.nan)
    events = np.zeros(len(thresholds))
    for place, kept in flagged_sets(frames.score, thresholds):
        events[place] = len(run_starts(frames.stream[kept], frames.time[kept], gap))
    return events


def _share(counts: NDArray[np.int64], total: int) -> NDArray[np.float64]:
    return counts / total if total else np.full(len(counts), np.nan)


def _spread(flagged: NDArray[np.bool_], units: ReadingUnits) -> str:
    if len(units) < 2:
        return ""
    counts = unit_counts(flagged, units)
    return f"From {counts.min()} to {counts.max()} in single exams."


def _scaled(interval: Interval, factor: float) -> Interval:
    if interval.low is None or interval.high is None:
        return interval
    return replace(interval, low=interval.low * factor, high=interval.high * factor)


def _check_speed(frames_per_second: float) -> None:
    if not 0 < frames_per_second < np.inf:
        raise ParameterError("frames_per_second", f"is above 0, not {frames_per_second}")
