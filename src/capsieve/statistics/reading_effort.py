"""Reading effort: reading lists per exam, frames and events to read, and polyps found."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import ParameterError
from capsieve.events import Flagged, group
from capsieve.statistics.frames import (
    NORMAL,
    POLYP,
    Coded,
    LabelledFrames,
    dense_units,
    exam_units,
    number_of,
    polyp_scores,
    reading_units,
)
from capsieve.statistics.intervals import mean_per_exam
from capsieve.statistics.results import (
    Column,
    EffortCurve,
    EvaluationOptions,
    Metric,
    Table,
    parse_read,
)

__all__ = [
    "effort_curve",
    "effort_metrics",
    "effort_table",
    "event_codes",
    "flagged_alike",
    "flagged_by_list",
    "frames_to_read",
    "reading_share",
]

Mask = NDArray[np.bool_]

_DECIMALS = 6  # products of shares and counts are rounded to them: 10 % of 70 frames is 7, not 8
_PLACE = ("row", "col", "radius")
_SHARES = np.unique(np.concatenate([np.linspace(0, 0.2, 201), np.linspace(0.2, 1, 161)]).round(6))


class _Ranks(NamedTuple):
    """Place of each frame on the reading list of its exam."""

    unit: NDArray[np.int64]  # code of the exam; -1 if it is not known
    rank: NDArray[np.float64]  # from 1, the same for near-identical frames; infinite: on no list
    share: NDArray[np.float64]  # the smallest share at which a list contains the frame
    total: NDArray[np.int64]  # per exam: scored frames without near-duplicates


def reading_share(frames: LabelledFrames) -> NDArray[np.float64]:
    """Return the smallest share of its exam at which a reading list contains each frame.

    A list takes the frames with the highest scores; of equal scores the earlier row. Near-identical
    frames come with the best of them and count as one. ``flagged_by_list(frames, share)`` is
    ``reading_share(frames) <= share``. Infinite if no list contains the frame: it was not scored,
    was rejected by a rule, or its exam is not known.
    """
    return _ranks(frames).share


def flagged_by_list(frames: LabelledFrames, read: str | float) -> Mask:
    """Return which frames the reading lists of all exams flag.

    The rule is that of screening, but a list is formed per exam that the labels name, because a
    screened folder may have a class of a data set.

    `frames` are all frames of the exams; `read` is "10%" or a float up to 1 for a share of each
    exam, "300" or an int for a count.

    Raises
    ------
    ParameterError
        The length is not possible, or the exam of a frame is not known.
    """
    length = read if isinstance(read, float) and 0 < read <= 1 else parse_read(read)  # pyright: ignore[reportArgumentType]
    unit, rank, _, total = _ranks(frames)
    unknown = int(np.count_nonzero(unit < 0))
    if unknown:
        raise ParameterError(
            "read",
            f"cannot form reading lists: the labels name neither exam nor patient of "
            f"{number_of(unknown, 'frame')}; add a column exam or patient, or give a threshold",
        )
    if isinstance(length, int):
        return rank <= length
    return rank <= np.ceil(np.round(length * total, _DECIMALS))[unit]


def flagged_alike(frames: LabelledFrames, flagged: Mask, score: NDArray[np.float64]) -> Mask:
    """Flag the same share of each exam as `flagged`, by other scores.

    If the labels do not name the exam of each frame, the share is that of all frames.
    """
    if (frames.unit.code[frames.labelled] < 0).any():
        frames = replace(frames, unit=Coded(("all",), np.zeros(len(frames), np.int32)))
    unit, _, share, total = _ranks(replace(frames, score=score))
    listed = _count_runs(frames, unit, flagged & ~np.isnan(score), len(total))
    read = np.append(listed / np.maximum(total, 1), 0.0)  # the last one for unknown exams
    return share <= read[unit]


def effort_curve(frames: LabelledFrames) -> EffortCurve | None:
    """Return what reading lists of all lengths find.

    None if the exam of a frame is not known, or no frame was scored.
    """
    unit, rank, share, total = _ranks(frames)
    listed = np.flatnonzero(rank < np.inf)
    if (unit < 0).any() or not len(listed):
        return None
    exams = len(total)
    longest = np.zeros(exams)
    np.maximum.at(longest, unit[listed], rank[listed])
    length = np.minimum(np.ceil(np.round(_SHARES[:, None] * total, _DECIMALS)), longest)
    polyps = polyp_scores(frames)
    best = np.full(len(polyps.score), np.inf)
    np.minimum.at(best, polyps.place, share[polyps.shown])

    def found(values: NDArray[np.float64]) -> NDArray[np.float64]:
        below = np.searchsorted(np.sort(values), _SHARES, side="right")
        return below / len(values) if len(values) else np.full(len(_SHARES), np.nan)

    return EffortCurve(
        share=_SHARES,
        frames=length.sum(axis=1) / exams,
        polyps_found=found(best),
        frames_found=found(share[frames.polyp_frames]),
        exams=exams,
        polyps=len(best),
        unit=frames.polyp_word,
    )


def effort_metrics(
    frames: LabelledFrames,
    flagged: Mask,
    options: EvaluationOptions,
    *,
    event: NDArray[np.int64] | None = None,
    subset: str = "all",
) -> tuple[Metric, ...]:
    """Return frames and events to read per exam, counted as in the report of an exam.

    `frames` are all frames of the exams; `event` is from :func:`event_codes`, if it is known.
    """
    event = event_codes(frames, flagged) if event is None else event
    to_read = frames_to_read(frames, flagged, event)
    every = np.ones(len(frames), np.bool_)
    common: dict[str, Any] = {"frames": frames, "options": options, "subset": subset}
    unscored = int(np.count_nonzero(~frames.scored))
    note = f"{number_of(unscored, 'frame')} not scored: never flagged." if unscored else ""
    both = f"{_range(frames, to_read)} {note}".strip()
    first, false = _events(frames, event)
    return (
        mean_per_exam("effort.frames_per_exam", counted=to_read, note=both, **common),
        mean_per_exam("effort.frames_whole_exam", counted=every, **common),
        mean_per_exam("effort.share_of_frames", counted=to_read, among=every, note=note, **common),
        mean_per_exam("effort.events_per_exam", counted=first, **common),
        mean_per_exam("effort.false_events_per_exam", counted=false, **common),
    )


def effort_table(
    frames: LabelledFrames, flagged: Mask, *, event: NDArray[np.int64] | None = None
) -> Table:
    """Return frames and events to read of each exam; arguments as for :func:`effort_metrics`."""
    event = event_codes(frames, flagged) if event is None else event
    every = np.ones(len(frames), np.bool_)
    masks = (every, frames_to_read(frames, flagged, event), *_events(frames, event))
    exams = exam_units(frames)
    names = [*exams.names, "(unknown)"]
    code = np.where(exams.code < 0, len(exams.names), exams.code)
    counts = np.stack([np.bincount(code[mask], minlength=len(names)) for mask in masks], axis=1)

    def row(name: str, values: list[int]) -> tuple[Any, ...]:
        every, read, events, wrong = values
        return name, every, read, read / every if every else None, events, wrong

    return Table(
        "reading-effort",
        "Frames to read",
        (
            Column("exam", "Exam"),
            Column("frames", "Frames", "count"),
            Column("to_read", "To read", "count"),
            Column("share", "Share", "share"),
            Column("events", "Events", "count"),
            Column("false_events", "False events", "count"),
        ),
        tuple(
            row(name, values)
            for name, values in zip(names, counts.tolist(), strict=True)
            if values[0]
        ),
        "Flagged frames, labelled or not, without near-duplicates of a flagged frame of the same "
        "event. A false event has a normal frame and no polyp frame.",
        row("Total", counts.sum(axis=0).tolist()),
    )


def event_codes(frames: LabelledFrames, flagged: Mask) -> NDArray[np.int64]:
    """Return the event of each flagged frame, numbered over all exams; -1 for other frames.

    Events are those of the screened exams if the flags are, else they are grouped again by the same
    rule (:mod:`capsieve.events`).
    """
    event = np.full(len(frames), -1, np.int64)
    rows = np.flatnonzero(flagged)
    if np.array_equal(flagged, frames.flagged) and (frames.event[rows] >= 0).all():
        width = int(frames.event[rows].max(initial=0)) + 1
        pairs = frames.exam.code[rows].astype(np.int64) * width + frames.event[rows]
        event[rows] = np.unique(pairs, return_inverse=True)[1]
        return event
    place = np.stack([frames.values.get(name, np.full(len(frames), np.nan)) for name in _PLACE])
    columns = [frames.head, frames.frame, frames.time, frames.score, *place]
    columns.append(np.where(frames.duplicate_of < 0, np.nan, frames.frame[frames.duplicate_of]))
    count = 0
    for members in np.split(rows, np.flatnonzero(np.diff(frames.exam.code[rows])) + 1):
        row_of, candidates = {}, []
        for row, *cells in zip(members, *(each[members].tolist() for each in columns), strict=True):
            known: list[Any] = [None if math.isnan(value) else value for value in cells]
            row_of[known[0], known[1]] = row
            candidates.append(Flagged(*known))
        for each in group(candidates):
            event[[row_of[member.head, member.frame] for member in each.members]] = count
            count += 1
    return event


def frames_to_read(
    frames: LabelledFrames, flagged: Mask, event: NDArray[np.int64] | None = None
) -> Mask:
    """Return the flagged frames that a reader is shown, as `to_read` in exam.json counts them.

    A near-duplicate of a flagged frame of the same event is left out. The best frame of an event is
    always shown.
    """
    event = event_codes(frames, flagged) if event is None else event
    first = frames.duplicate_of
    hidden = (first >= 0) & (event >= 0) & (event[first] == event)
    rows = np.flatnonzero(event >= 0)
    by_score = rows[np.lexsort((rows, -frames.score[rows], event[rows]))]
    _, best = np.unique(event[by_score], return_index=True)
    hidden[by_score[best]] = False
    return flagged & ~hidden


def _ranks(frames: LabelledFrames) -> _Ranks:
    units = reading_units(frames)
    unit, score = units.code.astype(np.int64), frames.score
    run = _runs(frames, unit)
    total = _count_runs(frames, unit, frames.scored, len(units.names))
    rank = np.full(len(frames), np.inf)
    rows = np.flatnonzero((unit >= 0) & (score > -np.inf))
    order = rows[np.lexsort((-score[rows], unit[rows]))]  # stable: the earlier row first
    _, best, code = np.unique(run[order], return_index=True, return_inverse=True)
    starts = np.zeros(len(order), np.int64)
    starts[best] = 1
    count = np.cumsum(starts)
    before = np.searchsorted(unit[order], np.arange(len(units.names)), side="left")
    offset = np.concatenate([[0], count])[before]
    rank[order] = count[best][code] - offset[unit[order]]
    # The list is rounded up, so it contains the frame as soon as it exceeds the frames before by
    # more than the rounding.
    share = np.full(len(rank), np.inf)
    share[order] = (rank[order] - 1 + 0.501 * 10.0**-_DECIMALS) / total[unit[order]]
    return _Ranks(unit, rank, share, total)


def _runs(frames: LabelledFrames, unit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a code per run of near-identical frames of an exam."""
    first = np.where(frames.duplicate_of < 0, np.arange(len(frames)), frames.duplicate_of)
    return unit * len(frames) + first


def _count_runs(
    frames: LabelledFrames, unit: NDArray[np.int64], counted: Mask, units: int
) -> NDArray[np.int64]:
    runs = np.unique(_runs(frames, unit)[counted & (unit >= 0)])
    return np.bincount(runs // max(len(frames), 1), minlength=units)


def _events(frames: LabelledFrames, event: NDArray[np.int64]) -> tuple[Mask, Mask]:
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


def _range(frames: LabelledFrames, counted: Mask) -> str:
    exams = exam_units(frames)
    if len(exams.names) < 2:
        return ""
    counts = np.bincount(exams.code[counted & (exams.code >= 0)], minlength=len(exams.names))
    return f"From {counts.min():,} to {counts.max():,} in single exams."
