"""Two detectors on the same frames."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from capsieve.errors import FileError
from capsieve.frame_table import NORMAL, POLYP, UNLABELLED, flagged_at
from capsieve.report.comparison_tables import comparison_table
from capsieve.statistics.comparison import compare_detectors, mcnemar
from capsieve.statistics.options import EvaluationOptions
from support.labelled_frames import labelled_frames

OPTIONS = EvaluationOptions(bootstrap_samples=500)
P, N = POLYP, NORMAL


def study(patients=30, size=40):
    """Patients who differ in difficulty."""
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(patients), size)
    truth = np.tile([P] * 5 + [N] * (size - 5), patients)
    level = rng.normal(size=patients)[patient] + rng.normal(size=len(patient))
    return labelled_frames(
        level + 5 + (truth == P),
        truth,
        exam=patient,
        patient=patient,
        polyp=np.where(truth == P, patient, -1),
    )


def compared(frames, other, threshold=6.0) -> Any:
    other = np.asarray(other, float)
    flags = flagged_at(frames.score, threshold), flagged_at(other, threshold)
    return compare_detectors(frames, other, flags=flags, names=("new", "old"), options=OPTIONS)


def easier(frames):
    return frames.score + 0.3 * (frames.truth == P)


def test_results_compared_with_themselves_do_not_differ():
    frames = study()
    comparison = compared(frames, frames.score)
    assert all(metric.value == 0 for metric in comparison.differences)
    assert not (comparison.flags[0] != comparison.flags[1]).any()
    assert {change.p_value for change in comparison.changes.values()} == {1.0}


def test_first_second_and_differences_have_the_same_keys():
    frames = study()
    comparison = compared(frames, easier(frames))
    for one, two, change in zip(
        comparison.first, comparison.second, comparison.differences, strict=True
    ):
        assert one.key == two.key == change.key
        assert change.value == pytest.approx(one.value - two.value)
    assert comparison_table(comparison).column("quantity") == [
        each.name for each in comparison.first
    ]


def test_the_paired_interval_is_much_narrower_than_those_of_the_values():
    frames = study()
    comparison = compared(frames, easier(frames))
    change = next(each for each in comparison.differences if each.key == "frames.auc")
    value = next(each for each in comparison.first if each.key == "frames.auc")
    drawn, formula = (each.high - each.low for each in change.intervals)
    for interval in change.intervals:
        assert interval.low < change.value < interval.high < 0
    # Both are based on the same patients and must nearly agree.
    assert drawn == pytest.approx(formula, rel=0.3)
    assert drawn < 0.3 * (value.interval.high - value.interval.low)


def test_differences_equal_those_counted_by_hand():
    frames = labelled_frames([5, 1, 5, 1], [P, P, N, N], polyp=[0, 0, -1, -1])
    comparison = compared(frames, [1, 1, 1, 1], 3.0)
    values = {metric.key: metric.value for metric in comparison.differences}
    assert values["frames.sensitivity"] == 0.5
    assert values["frames.specificity"] == -0.5
    assert values["polyps.sensitivity"] == 1.0
    assert {key: change[:2] for key, change in comparison.changes.items()} == {
        "frames.sensitivity": (1, 0),
        "frames.specificity": (0, 1),
        "polyps.sensitivity": (1, 0),
        "polyps.sensitivity_long": (0, 0),
    }


def test_mcnemars_test_is_exact_and_next_to_gained_and_lost():
    assert mcnemar(0, 0) == 1
    for gained, lost in ((9, 2), (2, 9), (4, 4), (0, 1), (700, 800)):
        assert mcnemar(gained, lost) == pytest.approx(binomtest(gained, gained + lost).pvalue)
    frames = labelled_frames(np.r_[np.full(9, 5), np.full(3, 1)], np.full(12, P))
    other = np.r_[np.full(9, 1), np.full(2, 5), 1]
    comparison = compared(frames, other, 3.0)
    change = comparison.changes["frames.sensitivity"]
    assert comparison_table(comparison).rows[0][-3:] == change
    assert change == (9, 2, pytest.approx(mcnemar(9, 2)))


def test_only_labelled_frames_that_both_have_scored_are_compared():
    frames = labelled_frames([5, np.nan, 5, 1], [P, P, N, UNLABELLED])
    comparison = compared(frames, [1, 5, np.nan, 1], 3.0)
    counts = {metric.key: metric.denominator for metric in comparison.first}
    assert (counts["frames.sensitivity"], counts["frames.specificity"]) == (1, 0)
    assert "2 labelled frames left out" in comparison_table(comparison).caption


def test_results_without_a_common_frame_are_refused():
    with pytest.raises(FileError, match="no labelled frame in common"):
        compared(labelled_frames([5.0, np.nan], [P, N]), [np.nan, 1.0])


def test_with_few_patients_no_difference_has_an_interval_and_the_table_says_why():
    frames = study(patients=5)
    comparison = compared(frames, easier(frames))
    assert all(i.low is None for m in comparison.differences for i in m.intervals)
    assert "only 5 patients" in comparison_table(comparison).caption
