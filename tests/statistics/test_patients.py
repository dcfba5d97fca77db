"""False positives patient by patient."""

import numpy as np
import pytest
from scipy.stats import binomtest

from capsieve.statistics.flags import flagged_at
from capsieve.statistics.judged import NORMAL, POLYP
from capsieve.statistics.patients import false_positives_table
from support.judged_frames import (
    PAPER_FALSE,
    PAPER_NORMAL,
    PAPER_THRESHOLD,
    judged_frames,
    paper_frames,
)


def test_the_paper_s_table() -> None:
    judged = paper_frames()
    table = false_positives_table(judged, flagged_at(judged.score, PAPER_THRESHOLD))
    assert tuple(table.column("normal_frames")) == PAPER_NORMAL
    assert tuple(table.column("false_positives")) == PAPER_FALSE
    rates = [round(100 * rate, 1) for rate in table.column("false_positive_rate")]
    assert rates == [8.1, 5.5, 14.4, 9.0, 7.6]
    assert table.total is not None
    assert table.total[:3] == ("Total", 18738, 1837)
    assert round(100 * table.total[3], 1) == 9.8


def test_every_row_has_wilson_s_bounds() -> None:
    judged = paper_frames()
    table = false_positives_table(judged, flagged_at(judged.score, PAPER_THRESHOLD))
    for n, k, low, high in zip(
        PAPER_NORMAL, PAPER_FALSE, table.column("low"), table.column("high"), strict=True
    ):
        expected = binomtest(k, n).proportion_ci(method="wilson")
        assert (low, high) == pytest.approx((expected.low, expected.high))


def test_frames_of_unknown_patients_are_gathered_by_group() -> None:
    judged = judged_frames(
        [5.0, 1.0, 5.0, np.nan, 5.0],
        [NORMAL, NORMAL, NORMAL, NORMAL, POLYP],
        patients=("p",),
        patient=[0, 0, -1, -1, -1],
        groups=("p", "block 7"),
        group=[0, 0, 1, 1, 1],
        group_kind="patient or block",
    )
    table = false_positives_table(judged, flagged_at(judged.score, 2.0))
    assert [row[:4] for row in table.rows] == [("p", 2, 1, 0.5), ("block 7", 1, 1, 1.0)]
    assert table.title == "False positives per patient or block"
    assert "1 normal frame not scored: left out." in table.caption


def test_frames_of_nobody_known_are_not_given_to_somebody() -> None:
    judged = judged_frames(
        [5.0, 1.0], [NORMAL, NORMAL], patient=[0, -1], groups=("1",), group=[0, -1]
    )
    table = false_positives_table(judged, flagged_at(judged.score, 2.0))
    assert [row[:3] for row in table.rows] == [("1", 1, 1), ("(unknown)", 1, 0)]


def test_without_normal_frames_the_table_is_empty() -> None:
    table = false_positives_table(judged_frames([1.0], [POLYP]), np.array([True]))
    assert table.rows == ()
    assert table.total == ("Total", 0, 0, None, None, None)
