"""Judged frames with the timeline score in place of the frame's own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from capsieve.errors import FileError
from capsieve.statistics.flags import flagged_at
from capsieve.statistics.judged import Judged
from capsieve.store.reader import read_frames

__all__ = ["judged_by_timeline", "timeline_warnings"]


def judged_by_timeline(judged: Judged, folders: Sequence[Path], *, threshold: float) -> Judged:
    """Return the frames with the timeline score, flagged by it.

    Parameters
    ----------
    judged
        All frames of the exams.
    folders
        Of the exams, in the order of ``judged.exams``.
    threshold
        Of the timeline score.

    Raises
    ------
    FileError
        An exam was screened without a timeline score.
    """
    parts = []
    for exam, folder in zip(judged.exams, folders, strict=True):
        table = read_frames(folder, ["score", "timeline_score"])
        if table["timeline_score"].null_count > table["score"].null_count:
            raise FileError(
                f"the frames of {exam} have no timeline score; only a detector whose score is a "
                "probability gives one: screen the exam with such a one, with --fresh where that "
                "was done by an older version"
            )
        parts.append(np.asarray(table["timeline_score"].fill_null(np.nan), dtype=np.float64))
    score = np.concatenate(parts)
    flagged = flagged_at(score, threshold)
    reason = np.where(np.isnan(score), -1, np.where(flagged, 0, 1)).astype(np.int16)
    return replace(
        judged, score=score, flagged=flagged, reasons=("polyp", "score-low"), reason=reason
    )


def timeline_warnings(judged: Judged) -> tuple[str, ...]:
    """Return a caution where the order of frames was taken for time."""
    unknown = np.unique(judged.exam[np.isnan(judged.time) & ~np.isnan(judged.score)])
    if not len(unknown):
        return ()
    names = ", ".join(judged.exams[code] for code in unknown[:5])
    names += " and others" if len(unknown) > 5 else ""
    return (
        f"No times are known of {names}: the timeline score takes the order of the frames for "
        "time. Where that order follows the findings, it gives them away, and every figure here "
        "is too good.",
    )
