import numpy as np

from capsieve.statistics.evaluation import OperatingPoint
from capsieve.statistics.judged import NORMAL, OTHER, POLYP
from capsieve.statistics.operating_point import CrossFitted
from capsieve.statistics.points_table import cross_fitted_table, points_table
from judged_frames import judged_frames


def test_rates_are_counted_on_everything_and_on_each_part():
    judged = judged_frames(
        [5, 1, 5, 1, 9],
        [POLYP, POLYP, NORMAL, NORMAL, OTHER],
        polyps=("a", "b"),
        polyp=[0, 1, -1, -1, -1],
        parts=("train", "test"),
        part=[0, 1, 0, 1, 1],
    )
    table = points_table(judged, (OperatingPoint("screened", 3.0, "As screened."),))
    assert table.column("frames") == ["all", "train", "test"]
    assert table.column("normal") == [2, 1, 1]
    assert table.column("specificity") == [0.5, 0.0, 1.0]
    assert table.column("sensitivity") == [0.5, 1.0, 0.0]
    assert table.column("polyp_sensitivity") == [0.5, 1.0, 0.0]


def test_an_empty_class_has_no_rate():
    judged = judged_frames([5.0], [NORMAL])
    table = points_table(judged, (OperatingPoint("screened", 3.0, "As screened."),))
    assert table.column("sensitivity") == [None]
    assert table.column("specificity") == [0.0]


def test_folds_are_counted_with_their_own_thresholds():
    judged = judged_frames(
        [5, 1, 5, 1],
        [POLYP, NORMAL, NORMAL, POLYP],
        polyps=("a", "b"),
        polyp=[0, -1, -1, 1],
        parts=("1", "2"),
        part=[0, 0, 1, 1],
    )
    fitted = CrossFitted(np.array([True, False, True, False]), {0: 3.0, 1: 2.0})
    table = cross_fitted_table(judged, fitted)
    assert table.column("threshold") == [3.0, 2.0]
    assert table.column("specificity") == [1.0, 0.0]
    assert table.column("polyp_sensitivity") == [1.0, 0.0]
    assert table.total == ("All folds", None, 2, 0.5, 2, 0.5, 2, 0.5)
