"""Rates at an operating point, and their tables."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from capsieve.frame_table import NORMAL, POLYP, FlagRule, flagged_at
from capsieve.statistics.operating_point import (
    CrossFit,
    chosen_point,
    fitted_point,
    with_training_patients,
)
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import (
    class_warnings,
    cross_fit_table,
    false_positives_table,
    points_table,
    rate_metrics,
    sequences_table,
    subsets,
)
from capsieve.statistics.results import OperatingPoint
from support.labelled_frames import (
    PAPER_FALSE,
    PAPER_NORMAL,
    PAPER_SEQUENCES,
    labelled_frames,
    paper_frames,
)

OPTIONS = EvaluationOptions(bootstrap_samples=500)
P, N = POLYP, NORMAL


def metrics_at(frames, threshold, **given) -> dict[str, Any]:
    found = rate_metrics(frames, flagged_at(frames.score, threshold), OPTIONS, **given)
    return {metric.key: metric for metric in found}


def three_polyps(**given):
    """Polyps b (frames 0, 1, 4), a (2) and c (5, never scored); frame 3 names none; 6 normal."""
    return labelled_frames(
        [3.0, 7.0, 5.0, 9.0, 8.0, np.nan, 6.0],
        [P] * 6 + [N],
        polyp=["b", "b", "a", None, "b", "c", None],
        patient="1",
        **given,
    )


def test_the_papers_rates():
    found = metrics_at(paper_frames(), 37.0)
    sensitivity, specificity = found["frames.sensitivity"], found["frames.specificity"]
    assert (sensitivity.numerator, sensitivity.denominator) == (109, 230)
    assert f"{sensitivity.value:.1%}" == "47.4%"
    assert (specificity.numerator, specificity.denominator) == (16901, 18738)
    assert f"{specificity.value:.1%}" == "90.2%"
    assert found["polyps.sensitivity"].value == 0.8125
    # Of sequences of 5 frames or more (all but those of 2, 3 and 4 frames) three are missed.
    long = found["polyps.sensitivity_long"]
    assert (long.numerator, long.denominator) == (10, 13)
    assert found["frames.false_positives_per_exam"].value == pytest.approx(1837 / 5)
    assert int(found["frames.normal_per_exam"].value) == 3747


def test_the_papers_specificity_at_40():
    assert f"{metrics_at(paper_frames(), 40.0)['frames.specificity'].value:.2%}" == "93.47%"


def test_five_patients_are_too_few_for_an_interval_over_patients():
    for metric in metrics_at(paper_frames(), 37.0).values():
        assert metric.interval.low is None
        assert "only 5 patients" in metric.interval.why
    assert metrics_at(paper_frames(), 37.0)["polyps.sensitivity"].intervals[1].low == pytest.approx(
        0.5699, abs=1e-4
    )


def test_an_unscored_polyp_frame_is_missed_and_an_unscored_normal_frame_left_out():
    frames = labelled_frames([9.0, np.nan, 1.0, np.nan], [P, P, N, N], polyp=[0, 1, -1, -1])
    found = metrics_at(frames, 5.0)
    assert (found["frames.sensitivity"].numerator, found["frames.sensitivity"].denominator) == (
        1,
        2,
    )
    assert found["polyps.sensitivity"].value == 0.5
    assert "1 polyp frame not scored" in found["frames.sensitivity"].note
    assert found["frames.specificity"].denominator == 1
    assert "1 normal frame not scored" in found["frames.specificity"].note


def test_without_frames_nothing_has_a_value():
    for metric in metrics_at(labelled_frames([], []), 5.0, subset="test").values():
        assert (metric.value, metric.subset) == (None, "test")
        assert metric.note.startswith("No value")


def test_polyps_are_drawn_with_their_patients():
    # 40 patients with 2 polyps each, both found or both missed: as if there were 40 polyps.
    frames = labelled_frames(
        np.repeat(np.arange(40) % 2, 2),
        np.full(80, P),
        polyp=np.arange(80),
        patient=np.repeat(np.arange(40), 2),
    )
    interval = metrics_at(frames, 0.5)["polyps.sensitivity"].interval
    expected = 2 * 1.96 * np.sqrt(0.25 / 40)
    assert interval.high - interval.low == pytest.approx(expected, rel=0.15)
    assert interval.units == 40


def test_a_sequence_is_long_from_five_frames():
    frames = labelled_frames(np.ones(9), np.full(9, P), polyp=[0] * 4 + [1] * 5)
    assert metrics_at(frames, 1.0)["polyps.sensitivity_long"].denominator == 1


def test_runs_are_called_runs():
    found = metrics_at(labelled_frames([1.0], [N], polyp_word="run"), 1.0)["polyps.sensitivity"]
    assert (found.value, found.name) == (None, "Sensitivity per run")
    assert "runs" in found.note


def test_frames_without_a_named_polyp_count_in_no_figure_per_polyp():
    frames = three_polyps()
    flagged = flagged_at(frames.score, 9.0)
    metric = metrics_at(frames, 9.0)["polyps.sensitivity"]
    assert (metric.numerator, metric.denominator) == (0, 3)
    assert "1 polyp frame" in metric.note
    assert "1 polyp frame" in sequences_table(frames, flagged).caption


def test_the_table_of_sequences_counted_by_hand():
    frames = three_polyps()
    table = sequences_table(frames, flagged_at(frames.score, 7.0))
    assert table.rows == (
        ("b", "1", 3, 2, True, 2, 8.0),
        ("a", "1", 1, 0, False, None, 5.0),
        ("c", "1", 1, 0, False, None, None),
    )
    assert table.total == ("Total", None, 5, 2, None, None, None)
    assert sequences_table(labelled_frames([1.0], [N]), np.array([True])).rows == ()


def test_the_papers_sequences():
    frames = paper_frames()
    table = sequences_table(frames, flagged_at(frames.score, 37))
    rows = sorted(table.rows, key=lambda row: int(row[0]))
    assert tuple(row[2] for row in rows) == PAPER_SEQUENCES
    assert [row[0] for row in rows if not row[4]] == ["5", "11", "12"]


def test_the_papers_table_of_false_positives():
    frames = paper_frames()
    table: Any = false_positives_table(frames, flagged_at(frames.score, 37))
    assert tuple(table.column("normal_frames")) == PAPER_NORMAL
    assert tuple(table.column("false_positives")) == PAPER_FALSE
    rates = [round(100 * rate, 1) for rate in table.column("false_positive_rate")]
    assert rates == [8.1, 5.5, 14.4, 9.0, 7.6]
    assert table.total[:3] == ("Total", 18738, 1837)
    for n, k, *bounds in zip(
        PAPER_NORMAL, PAPER_FALSE, table.column("low"), table.column("high"), strict=True
    ):
        expected = binomtest(k, n).proportion_ci(method="wilson")
        assert bounds == pytest.approx([expected.low, expected.high])


def test_false_positives_of_unknown_patients_are_counted_by_group():
    frames = labelled_frames(
        [5.0, 1.0, 5.0, np.nan, 5.0, 1.0],
        [N, N, N, N, P, N],
        patient=["p", "p", None, None, None, None],
        group=["p", "p", "block 7", "block 7", "block 7", None],
        group_kind="patient or block",
    )
    table = false_positives_table(frames, flagged_at(frames.score, 2.0))
    assert [row[:4] for row in table.rows] == [
        ("p", 2, 1, 0.5),
        ("block 7", 1, 1, 1.0),
        ("(unknown)", 1, 0, 0.0),
    ]


def test_the_subsets_are_all_frames_and_the_parts_of_a_training_split():
    frames = with_training_patients(paper_frames(), ("4",))
    found = subsets(frames)
    assert list(found) == ["all", "train", "test"]
    assert found["all"].all()
    np.testing.assert_array_equal(found["train"], ~found["test"])
    assert list(subsets(labelled_frames([1.0, 2.0], part=["1", "2"]))) == ["all"]


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


def test_empty_classes_and_unlabelled_frames_are_named():
    assert len(class_warnings(labelled_frames([1.0, 2.0]))) == 3
    assert class_warnings(labelled_frames([1.0, 2.0], [P, N])) == ()
