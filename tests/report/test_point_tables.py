"""Tables of operating points."""

from typing import Any

import numpy as np
import pytest

from capsieve.frame_table import NORMAL, POLYP, FlagRule, flagged_at
from capsieve.report.point_tables import cross_fit_table, points_table
from capsieve.statistics.operating_point import (
    CrossFit,
    chosen_point,
    fitted_point,
    with_training_patients,
)
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.results import OperatingPoint
from support.labelled_frames import (
    labelled_frames,
    paper_frames,
)

OPTIONS = EvaluationOptions(bootstrap_samples=500)
P, N = POLYP, NORMAL


def test_operating_points_are_compared_on_all_subsets():
    frames = with_training_patients(paper_frames(), ("4",))
    given = OperatingPoint(
        "given", FlagRule("count", 300), flagged_at(frames.score, 40), "As given."
    )
    points: Any = (given, chosen_point(frames, OPTIONS, 1.0), fitted_point(frames, OPTIONS, 1.0))
    table = points_table(frames, points)
    assert len(table.rows) == 9
    assert table.column("rule")[:2] == ["300 frames of each exam", "score at least 37"]
    train = table.column("frames").index("train") + 1
    assert table.rows[train][4] == pytest.approx(1 - 767 / 8567)


def test_folds_are_tabled_with_the_value_of_the_others():
    frames = labelled_frames([1.0, 5.0, 1.0, 5.0], [N, P, N, P], part=["1", "1", "2", None])
    fit = CrossFit(np.array([False, True, True, False]), {"1": 2.0, "2": 0.5})
    table: Any = cross_fit_table(frames, fit)
    assert [row[:4] for row in table.rows] == [("1", 2.0, 1, 1.0), ("2", 0.5, 1, 0.0)]
    assert table.total[2:4] == (2, 0.5)
