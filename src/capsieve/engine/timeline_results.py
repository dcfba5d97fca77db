"""Judged results with the timeline score in place of the frame's own."""

from dataclasses import replace

from capsieve.engine.judged_results import JudgedResults
from capsieve.statistics.points import screened_threshold
from capsieve.statistics.timeline_judged import judged_by_timeline, timeline_warnings

__all__ = ["by_timeline"]


def by_timeline(read: JudgedResults) -> JudgedResults:
    """Return the results with timeline scores, flagged by the threshold of the screening.

    Both scores are probabilities for as many polyp frames as others: one threshold can be put to
    both.

    Raises
    ------
    FileError
        An exam was screened without a timeline score.
    """
    record, judged = read.record, read.judged
    threshold = screened_threshold(record["detector"], record["parameters"], judged)
    judged = judged_by_timeline(judged, read.matched.folders, threshold=threshold)
    return replace(
        read,
        matched=replace(read.matched, judged=judged),
        warnings=(*read.warnings, *timeline_warnings(judged)),
    )
