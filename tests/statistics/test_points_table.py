from capsieve.statistics.evaluation import OperatingPoint
from capsieve.statistics.judged import NORMAL, OTHER, POLYP
from capsieve.statistics.points_table import points_table
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
