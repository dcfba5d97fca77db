"""Reading effort: reading lists per exam, frames and events to read, and polyps found."""

from dataclasses import replace
from typing import Any

import numpy as np

from capsieve.errors import ParameterError
from capsieve.frame_table import (
    NORMAL,
    POLYP,
    Coded,
    FlagRule,
    Floats,
    Integers,
    LabelledFrames,
    Mask,
    ReadingList,
    first_of_runs,
    flagged,
    group_events,
    reading_list,
    to_read,
)
from capsieve.plurals import number_of
from capsieve.statistics.frames import dense_units, exam_units, polyp_scores, reading_units
from capsieve.statistics.intervals import mean_per_exam
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.results import EffortCurve, Metric

_SHARES = np.unique(np.concatenate([np.linspace(0, 0.2, 201), np.linspace(0.2, 1, 161)]).round(6))


def reading_share(frames: LabelledFrames) -> Floats:
    """Return the smallest share of its exam at which a reading list contains each frame.

    ``flagged_by(frames, FlagRule("share", share))`` is ``reading_share(frames) <= share``. Infinite
    if no list contains the frame: it was not scored, was rejected by a rule, or its exam is not
    known.
    """
    return _listing(frames).share()


def flagged_by(frames: LabelledFrames, rule: FlagRule) -> Mask:
    """Return which frames a rule flags.

    The rule is that of screening, but a reading list is formed per exam that the labels name,
    because a screened folder may have a class of a data set. `frames` are all frames of the exams.

    Raises
    ------
    ParameterError
        The rule makes a reading list, and the exam of a frame is not known.
    """
    exam = reading_units(frames).code if rule.is_list else None
    unknown = 0 if exam is None else int(np.count_nonzero(exam < 0))
    if unknown:
        raise ParameterError(
            "read",
            f"cannot form reading lists: the labels name neither exam nor patient of "
            f"{number_of(unknown, 'frame')}; add a column exam or patient, or give a threshold",
        )
    return flagged(frames.score, frames.duplicate_of, rule, exam)


def flagged_alike(frames: LabelledFrames, flags: Mask, score: Floats) -> Mask:
    """Flag the same share of each exam as `flags`, by other scores.

    If the labels do not name the exam of each frame, the share is that of all frames.
    """
    if (frames.unit.code[frames.labelled] < 0).any():
        frames = replace(frames, unit=Coded(("all",), np.zeros(len(frames), np.int32)))
    listing = _listing(replace(frames, score=score))
    counted = flags & ~np.isnan(score) & (listing.exam >= 0)
    first = first_of_runs(frames.duplicate_of)
    runs = np.unique(np.stack([listing.exam, first])[:, counted], axis=1)
    listed = np.bincount(runs[0], minlength=len(listing.total))
    read = np.append(listed / np.maximum(listing.total, 1), 0.0)  # the last one for unknown exams
    return listing.share() <= read[listing.exam]


def effort_curve(frames: LabelledFrames) -> EffortCurve | None:
    """Return what reading lists of all lengths find.

    None if the exam of a frame is not known, or no frame was scored.
    """
    listing = _listing(frames)
    if (listing.exam < 0).any() or not listing.available.any():
        return None
    exams, share = len(listing.total), listing.share()
    asked = [listing.length(FlagRule("share", share)) for share in _SHARES[1:]]
    length = np.minimum([np.zeros(exams), *asked], listing.available)
    polyps = polyp_scores(frames)
    best = np.full(len(polyps.score), np.inf)
    np.minimum.at(best, polyps.polyp, share[polyps.shown])

    def share_found(values: Floats) -> Floats:
        below = np.searchsorted(np.sort(values), _SHARES, side="right")
        return below / len(values) if len(values) else np.full(len(_SHARES), np.nan)

    return EffortCurve(
        share=_SHARES,
        frames=length.sum(axis=1) / exams,
        polyps_found=share_found(best),
        frames_found=share_found(share[frames.polyp_frames]),
        exams=exams,
        polyps=len(best),
        unit=frames.polyp_word,
    )


def effort_metrics(
    frames: LabelledFrames,
    flags: Mask,
    options: EvaluationOptions,
    *,
    event: Integers | None = None,
    subset: str = "all",
) -> tuple[Metric, ...]:
    """Return frames and events to read per exam, counted as in the report of an exam.

    `frames` are all frames of the exams; `event` is from :func:`event_codes`, if it is known.
    """
    event = event_codes(frames, flags) if event is None else event
    read = to_read(event, frames.score, frames.duplicate_of)
    every = np.ones(len(frames), np.bool_)
    common: dict[str, Any] = {"frames": frames, "options": options, "subset": subset}
    unscored = int(np.count_nonzero(~frames.scored))
    note = f"{number_of(unscored, 'frame')} not scored: never flagged." if unscored else ""
    both = f"{_range(frames, read)} {note}".strip()
    first, false = first_of_events(frames, event)
    return (
        mean_per_exam("effort.frames_per_exam", counted=read, note=both, **common),
        mean_per_exam("effort.frames_whole_exam", counted=every, **common),
        mean_per_exam("effort.share_of_frames", counted=read, among=every, note=note, **common),
        mean_per_exam("effort.events_per_exam", counted=first, **common),
        mean_per_exam("effort.false_events_per_exam", counted=false, **common),
    )


def event_codes(frames: LabelledFrames, flags: Mask) -> Integers:
    """Return the event of each flagged frame, numbered over all exams; -1 for other frames.

    Events are those of the screened exams if the flags are, else they are grouped again by the same
    rule (:func:`~capsieve.frame_table.group_events`).
    """
    event = np.full(len(frames), -1, np.int64)
    rows = np.flatnonzero(flags)
    if np.array_equal(flags, frames.flagged) and (frames.event[rows] >= 0).all():
        width = int(frames.event[rows].max(initial=0)) + 1
        pairs = frames.exam.code[rows].astype(np.int64) * width + frames.event[rows]
        event[rows] = np.unique(pairs, return_inverse=True)[1]
        return event
    return group_events(frames, flags)


def first_of_events(frames: LabelledFrames, event: Integers) -> tuple[Mask, Mask]:
    """Return one frame of each event, and one of each false event."""
    rows = np.flatnonzero(event >= 0)
    code, count, start = dense_units(event[rows])
    polyp, normal = (
        np.bincount(code, frames.truth[rows] == truth, minlength=count) > 0
        for truth in (POLYP, NORMAL)
    )
    first, false = np.zeros((2, len(frames)), np.bool_)
    first[rows[start]] = True
    false[rows[start[normal & ~polyp]]] = True
    return first, false


def _listing(frames: LabelledFrames) -> ReadingList:
    return reading_list(frames.score, frames.duplicate_of, reading_units(frames).code)


def _range(frames: LabelledFrames, counted: Mask) -> str:
    exams = exam_units(frames)
    if len(exams.names) < 2:
        return ""
    counts = np.bincount(exams.code[counted & (exams.code >= 0)], minlength=len(exams.names))
    return f"From {counts.min():,} to {counts.max():,} in single exams."
