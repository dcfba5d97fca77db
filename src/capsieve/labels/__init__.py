"""Labels of frames: formats, matching with screened frames, splits, outlines.

Modules in reading order: label_set (labels after reading), columns and tables (readers of users'
tables), settle (checks that all formats share), data_sets, kvasir and capsule_vision (published
data sets), formats (read_labels, and capsieve's own format), groups (what stays together),
splitting and splits, keys (which frame a row names), matching (labels of frames), outlines (places
of polyps), outline_files.
"""

from capsieve.labels.formats import LABEL_FORMATS, read_labels, write_labels
from capsieve.labels.label_set import LABELS, WORDS, LabelProblem, LabelSet
from capsieve.labels.matching import LabelRows, Matched, match
from capsieve.labels.outline_files import read_outlines
from capsieve.labels.outlines import FrameOutline, Outline, Outlines
from capsieve.labels.splits import (
    SPLITS,
    SplitOptions,
    SplitPlan,
    Splits,
    plan_splits,
    read_splits,
    write_splits,
)

__all__ = [
    "LABELS",
    "LABEL_FORMATS",
    "SPLITS",
    "WORDS",
    "FrameOutline",
    "LabelProblem",
    "LabelRows",
    "LabelSet",
    "Matched",
    "Outline",
    "Outlines",
    "SplitOptions",
    "SplitPlan",
    "Splits",
    "match",
    "plan_splits",
    "read_labels",
    "read_outlines",
    "read_splits",
    "write_labels",
    "write_splits",
]
