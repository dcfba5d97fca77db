"""The rules of detectors and of choices, and the flags of a whole exam with its events."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.detector import Detector
from capsieve.detectors import rule_parameter, same_detector
from capsieve.errors import ParameterError
from capsieve.frame_table import (
    Coded,
    FlagRule,
    FrameColumns,
    first_of_runs,
    flagged,
    flagged_at,
    group_events,
    near_duplicates,
    reading_list,
    to_read,
)
from capsieve.results import REJECTED
from capsieve.screening.thumbnails import Shown
from capsieve.store.choice import Choice
from capsieve.store.frame_columns import event_table, frame_columns, with_flags
from capsieve.store.record import Flagging

_DEFAULT_READ = "10%"  # detectors without a threshold
_MOST_EVIDENCE = 200  # best frames of events


def default_rule(detector: Detector) -> FlagRule:
    """Return the rule of a detector: its reading list, else its threshold, else 10 %."""
    read = getattr(detector, "default_read", None)
    threshold = None if read is not None else detector.score_threshold
    rule = FlagRule.parse(read=read, threshold=threshold) or FlagRule.parse(read=_DEFAULT_READ)
    assert rule is not None
    return rule


def chosen_rule(choice: Choice, detector: Mapping[str, Any]) -> FlagRule | None:
    """Return the rule that calibration frames chose; None if it is R_P, one of the parameters.

    Parameters
    ----------
    choice
        From the file of the parameters.
    detector
        Identity of the detector to use it with.

    Raises
    ------
    ParameterError
        It was chosen for another detector.
    """
    if choice.rule is None:
        return None
    wanted = {"name": choice.detector} | ({"model": choice.model} if choice.model else {})
    if not same_detector(detector, wanted):
        raise ParameterError(
            "parameters",
            f"{choice.chosen} was chosen for the detector {choice.detector}, and not for "
            f"{detector.get('name')}; give --detector {choice.detector}",
        )
    return choice.rule


def rejections(detector: Mapping[str, Any], rule: FlagRule) -> tuple[str, ...]:
    """Return the reasons of frames that are not flagged, which an exam counts.

    `detector` is the identity of the detector.
    """
    if rule_parameter(detector) is None:
        return ("score-low",)
    return (*REJECTED, "score-low" if rule.is_list else "radius-low")


@dataclass(frozen=True, slots=True, eq=False)
class FlaggedExam:
    """What depends on the rule.

    Attributes
    ----------
    frames, events
        Tables with the columns FRAMES and EVENTS.
    to_read
        Which frames a reader is shown.
    rule, flagging
        The rule, and its entry of the record.
    wanted
        How many frames a reading list asks for; it is longer than the exam if it has fewer.
    shown
        Frames to read: best frames of the events first, then the others.
    explained
        Those of them that get an evidence map.
    """

    frames: pa.Table
    events: pa.Table
    to_read: NDArray[np.bool_]
    rule: FlagRule
    flagging: Flagging
    wanted: int
    shown: list[Shown]
    explained: list[Shown]

    def warnings(self) -> Iterator[str]:
        """Yield a warning if the reading list is longer than what there is to list."""
        listed = self.flagging["frames"]
        if self.wanted > listed:
            yield (
                f"The reading list ({self.rule.option}, {self.wanted:,} frames) is longer than "
                f"the number of frames that can be listed, {listed:,}: all of them are flagged."
            )


def flag_exam(
    exam: str,
    table: pa.Table,
    rule: FlagRule,
    *,
    detector: Mapping[str, Any],
    score_threshold: float | None,
) -> FlaggedExam:
    """Flag the frames of a whole exam and group them into events.

    Parameters
    ----------
    exam
        Its name.
    table
        With the columns FRAMES; flags, events and reasons of an earlier rule are replaced.
    rule
        Threshold or reading list.
    detector, score_threshold
        Identity and threshold of the detector.

    Raises
    ------
    FileError
        The table is damaged.
    """
    frames = frame_columns({exam: table})
    duplicate_of = near_duplicates(table["phash"].to_pylist(), frames.head)
    flags = flagged(frames.score, duplicate_of, rule)
    frames = replace(frames, flagged=flags, duplicate_of=duplicate_of)
    event = group_events(frames, flags)
    below = rejections(detector, rule)[-1]
    frames = replace(
        frames,
        event=np.where(event < 0, -1, event + 1).astype(np.int32),
        reason=_reasons(frames, below),
    )
    read = to_read(frames.event, frames.score, duplicate_of)
    events = event_table(frames, read)
    best = list(zip(events["head"].to_pylist(), events["best_frame"].to_pylist(), strict=True))
    rows = np.flatnonzero(read)
    rows = rows[np.argsort(frames.event[rows], kind="stable")]
    others = zip(frames.head[rows].tolist(), frames.frame[rows].tolist(), strict=True)
    listing = reading_list(frames.score, duplicate_of)
    return FlaggedExam(
        frames=with_flags(table, frames),
        events=events,
        to_read=read,
        rule=rule,
        flagging=_flagging(frames, rule, score_threshold),
        wanted=int(listing.length(rule)[0]) if rule.is_list else 0,
        shown=list(dict.fromkeys([*best, *others])),
        explained=best[:_MOST_EVIDENCE],
    )


def _reasons(frames: FrameColumns, below: str) -> Coded:
    """Return the reasons: "polyp" for flagged frames, and `below` for others with a score."""
    names = tuple(dict.fromkeys((*frames.reason.names, below, "polyp")))
    code = frames.reason.code.copy()
    code[frames.score > -np.inf] = names.index(below)
    code[frames.flagged] = names.index("polyp")
    return Coded(names, code)


def _flagging(frames: FrameColumns, rule: FlagRule, score_threshold: float | None) -> Flagging:
    rows = np.flatnonzero(frames.flagged)
    first = first_of_runs(frames.duplicate_of)[rows]
    runs, run = np.unique(first, return_inverse=True)
    best = np.full(len(runs), -np.inf)
    np.maximum.at(best, run, frames.score[rows])
    scored, above = np.count_nonzero(frames.scored), None
    if score_threshold is not None and scored:
        above = float(np.count_nonzero(flagged_at(frames.score, score_threshold)) / scored)
    return Flagging(
        rule=rule.kind,
        value=float(rule.value),
        frames=len(runs),
        last_score=float(best.min()) if len(runs) else None,
        score_threshold=None if score_threshold is None else float(score_threshold),
        share_above_threshold=above,
    )
