"""Tables of the comparison of two detectors."""

from typing import Any

import numpy as np

from capsieve.frame_table import NORMAL, POLYP, flagged_at
from capsieve.report.comparison_tables import changed_table
from capsieve.statistics.comparison import compare_detectors
from capsieve.statistics.options import EvaluationOptions
from support.labelled_frames import labelled_frames

OPTIONS = EvaluationOptions(bootstrap_samples=500)
P, N = POLYP, NORMAL


def compared(frames, other, threshold=6.0) -> Any:
    other = np.asarray(other, float)
    flags = flagged_at(frames.score, threshold), flagged_at(other, threshold)
    return compare_detectors(frames, other, flags=flags, names=("new", "old"), options=OPTIONS)


def test_every_frame_that_changed_sides_is_listed_once_with_both_scores():
    frames = labelled_frames([5, 1, 5, -np.inf], [P, P, N, N])
    table = changed_table(compared(frames, [1, 5, 5, 5], 3.0))
    assert table.column("frame") == [0, 1, 3]
    assert table.column("first_flagged") == [True, False, False]
    assert table.column("first_score") == [5.0, 1.0, None]
    assert table.column("second_score") == [1.0, 5.0, 5.0]
