"""Rates at an operating point, and their tables."""

from typing import Any

import numpy as np
import pytest

from capsieve.frame_table import NORMAL, POLYP, flagged_at
from capsieve.report.count_tables import sequences_table
from capsieve.statistics.operating_point import (
    with_training_patients,
)
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import class_warnings, rate_metrics, subsets
from support.labelled_frames import (
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


def test_the_subsets_are_all_frames_and_the_parts_of_a_training_split():
    frames = with_training_patients(paper_frames(), ("4",))
    found = subsets(frames)
    assert list(found) == ["all", "train", "test"]
    assert found["all"].all()
    np.testing.assert_array_equal(found["train"], ~found["test"])
    assert list(subsets(labelled_frames([1.0, 2.0], part=["1", "2"]))) == ["all"]


def test_empty_classes_and_unlabelled_frames_are_named():
    assert len(class_warnings(labelled_frames([1.0, 2.0]))) == 3
    assert class_warnings(labelled_frames([1.0, 2.0], [P, N])) == ()
