"""The accounts of an evaluation: every frame and every row of the labels, in sums that add up."""

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED
from capsieve.statistics.matching import Matched
from capsieve.statistics.table import Column, Table

__all__ = ["account_table"]

_COLUMNS = (
    Column("exam", "Exam"),
    Column("found", "Frames found", "count"),
    Column("undecoded", "Not decoded", "count"),
    Column("unscorable", "Decoded, not scored", "count"),
    Column("scored", "Scored", "count"),
    Column("polyp", "Polyp", "count"),
    Column("normal", "Normal", "count"),
    Column("other", "Other finding", "count"),
    Column("contradicted", "Contradictory labels", "count"),
    Column("unlabelled", "No label", "count"),
    Column("labelled_unscored", "Labelled, not scored", "count"),
    Column("label_rows", "Rows of labels", "count"),
    Column("repeated_rows", "Repeated rows", "count"),
    Column("contradicting_rows", "Contradicting rows", "count"),
    Column("rows_without_frame", "Rows without a frame", "count"),
)

_CAPTION = (
    "Frames found are those not decoded, decoded but not scored, and scored; they are also those "
    "labelled polyp, normal and other, those with contradictory labels, and those with no label. "
    "Rows of labels are one for each labelled frame, repeated ones, contradicting ones, and those "
    "that fit no frame or several."
)

_NO_EXAM = "(exams that were not screened)"


def account_table(matched: Matched) -> Table:
    """Return what became of every frame and of every row of the labels, per exam and in total.

    Rows that the reader of the labels could not use are not among them: they are in the list of
    problems.
    """
    judged, rows = matched.judged, matched.label_rows
    scored = ~np.isnan(judged.score)
    labelled = judged.truth != UNLABELLED
    size = len(judged.exams) + 1  # the last one for rows of no screened exam

    def frames(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(judged.exam[chosen], minlength=size).astype(np.int64)

    counts = np.stack(
        [
            frames(np.ones(len(judged), dtype=bool)),
            frames(~matched.decoded & ~scored),
            frames(matched.decoded & ~scored),
            frames(scored),
            frames(judged.truth == POLYP),
            frames(judged.truth == NORMAL),
            frames(judged.truth == OTHER),
            frames(matched.contradicted),
            frames(~labelled & ~matched.contradicted),
            frames(labelled & ~scored),
            rows.rows,
            rows.repeated,
            rows.contradicting,
            rows.without_frame,
        ],
        axis=1,
    )
    names = [*judged.exams, _NO_EXAM]
    lines = [
        (name, *line)
        for name, line in zip(names, counts.tolist(), strict=True)
        if name != _NO_EXAM or any(line)
    ]
    return Table(
        key="accounts",
        title="Frames and labels",
        columns=_COLUMNS,
        rows=tuple(lines),
        caption=_CAPTION,
        total=("Total", *counts.sum(axis=0).tolist()),
    )
