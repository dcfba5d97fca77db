"""Flags by the timeline score: the rows of an exam with other labels, and nothing else changed.

A detector labels each frame by its own score. Where flags go by the timeline, the labels are given
anew once all frames of the exam have been scored, by the same threshold on the timeline score. What
was measured on a frame stays as it was. See docs/timeline.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.learned.timeline import timeline_scores
from capsieve.store.tables import Rows

__all__ = ["TIMELINE_REJECTIONS", "TimelineFlags", "relabelled", "timeline_flags"]

TIMELINE_REJECTIONS = ("score-low", "timeline-low")
"""The reasons of frames that are not flagged: "timeline-low" are those whose own score reaches the
threshold, but not with what their neighbours say against it."""


@dataclass(frozen=True, slots=True, eq=False)
class TimelineFlags:
    """Which frames of an exam the timeline flags.

    Attributes
    ----------
    flagged
        By head, for each frame.
    alone
        The same by the frame's own score.
    scored
        Which frames have a score.
    first
        By head the number of the first frame of each segment.
    by_number
        Heads of which not all times are known: frame numbers were taken for time.
    """

    flagged: Mapping[int, NDArray[np.bool_]]
    alone: Mapping[int, NDArray[np.bool_]]
    scored: Mapping[int, NDArray[np.bool_]]
    first: Mapping[int, Sequence[int]]
    by_number: tuple[int, ...]

    def lifted(self, head: int) -> NDArray[np.int64]:
        """Return the numbers of the frames that are flagged for their neighbours' sake alone."""
        return np.flatnonzero(self.flagged[head] & ~self.alone[head])

    def warning(self) -> str:
        """Return a caution where the order of frames was taken for time, or ""."""
        if not self.by_number:
            return ""
        whose = "this exam"
        if len(self.flagged) > 1:
            whose = "head " + " and head ".join(str(head) for head in self.by_number)
        return (
            f"Frames are flagged by the timeline, but not all times of {whose} are known: the "
            "order of the frames is taken for time, a quarter of a second from each to the next. "
            "Pictures that are no sequence must not be screened so."
        )


def timeline_flags(segments: Mapping[int, int], rows: Rows, *, threshold: float) -> TimelineFlags:
    """Decide for every frame by the timeline score of its head.

    Parameters
    ----------
    segments, rows
        As for :func:`capsieve.store.tables.first_pass`; scores are probabilities.
    threshold
        The least timeline score that is flagged.
    """
    flagged: dict[int, NDArray[np.bool_]] = {}
    alone: dict[int, NDArray[np.bool_]] = {}
    known: dict[int, NDArray[np.bool_]] = {}
    first: dict[int, list[int]] = {}
    by_number: list[int] = []
    for head in sorted(segments):
        scores, times, first[head] = [np.empty(0)], [np.empty(0)], []
        for number in range(segments[head]):
            table = rows(head, number, ["score", "time_s"])
            first[head].append(sum(map(len, scores)))
            scores.append(_with_nan(table["score"]))
            times.append(_with_nan(table["time_s"]))
        score, time = np.concatenate(scores), np.concatenate(times)
        whole = timeline_scores(score, frame=np.arange(len(score)), time=time)
        known[head] = ~np.isnan(score)
        # What was not scored is NaN, and no NaN reaches a threshold.
        flagged[head], alone[head] = whole >= threshold, score >= threshold
        if np.isnan(time[known[head]]).any():
            by_number.append(head)
    return TimelineFlags(flagged, alone, known, first, tuple(by_number))


def relabelled(
    rows: Rows,
    flags: TimelineFlags,
    kept: Mapping[tuple[int, int], Mapping[str, Any]] | None = None,
) -> Rows:
    """Return rows with the labels and reasons that the timeline gives.

    Parameters
    ----------
    rows
        As the workers wrote them.
    flags
        The decisions.
    kept
        By head and frame: what is kept of lifted frames, as columns of a segment. The workers keep
        that of frames that are flagged by their own score.
    """
    found = {} if kept is None else kept

    def other(head: int, number: int, columns: list[str] | None) -> pa.Table:
        table = rows(head, number, columns)
        start = flags.first[head][number]
        here = slice(start, start + table.num_rows)
        flagged, alone, scored = (
            each[head][here] for each in (flags.flagged, flags.alone, flags.scored)
        )
        reason = np.where(flagged, "polyp", np.where(alone, "timeline-low", "score-low"))
        texts = {"label": np.where(flagged, "polyp", "normal"), "reason": reason}
        for name, column in texts.items():
            if name in table.column_names:
                given = zip(column.tolist(), scored.tolist(), strict=True)
                table = _replaced(table, name, [text if there else None for text, there in given])
        more = {
            place: found[head, start + place]
            for place in range(table.num_rows)
            if (head, start + place) in found
        }
        for name in {name for row in more.values() for name in row} & set(table.column_names):
            values = table[name].to_pylist()
            for place, row in more.items():
                values[place] = row.get(name, values[place])
            table = _replaced(table, name, values)
        return table

    return other


def _replaced(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    place = table.schema.get_field_index(name)
    field = table.schema.field(place)
    return table.set_column(place, field, pa.array(values, field.type))


def _with_nan(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(column.fill_null(np.nan).to_numpy(), dtype=np.float64)
