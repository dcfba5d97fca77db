"""Frames of exams as columns, their labels, and which of them are flagged and read.

columns  frames and labels as arrays
rule     threshold or reading list: its text and option
flags    near-duplicates, reading lists, flagged frames, frames to read
events   flagged frames that may show the same polyp

Screening, evaluation, reports and the review app decide with these functions, so they agree.
"""

from capsieve.frame_table.columns import (
    NORMAL,
    OTHER,
    POLYP,
    UNLABELLED,
    Coded,
    Floats,
    FrameColumns,
    Integers,
    LabelColumns,
    LabelledFrames,
    Mask,
    first_of_runs,
)
from capsieve.frame_table.events import group_events
from capsieve.frame_table.flags import (
    ReadingList,
    best_of_events,
    flagged,
    flagged_at,
    near_duplicates,
    reading_list,
    to_read,
)
from capsieve.frame_table.rule import FlagRule

__all__ = [
    "NORMAL",
    "OTHER",
    "POLYP",
    "UNLABELLED",
    "Coded",
    "Integers",
    "FlagRule",
    "Floats",
    "FrameColumns",
    "LabelColumns",
    "LabelledFrames",
    "Mask",
    "ReadingList",
    "best_of_events",
    "first_of_runs",
    "flagged",
    "flagged_at",
    "group_events",
    "near_duplicates",
    "reading_list",
    "to_read",
]
