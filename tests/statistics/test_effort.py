"""The reading that the sieve leaves."""

import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.statistics.effort import (
    curve_thresholds,
    effort_curve,
    effort_metrics,
    effort_table,
)
from capsieve.statistics.judged import NORMAL, POLYP, UNLABELLED, Judged
from capsieve.statistics.metric import Metric
from capsieve.statistics.reading_units import reading_units
from support.small_judged import small_judged

P, N, U = POLYP, NORMAL, UNLABELLED


def metrics_of(judged: Judged, threshold: float) -> dict[str, Metric]:
    found = effort_metrics(judged, threshold=threshold, frames_per_second=10.0)
    return {metric.key: metric for metric in found}


def two_exams() -> Judged:
    return small_judged(
        [50, 0, 40, 60, 30, np.nan, 70, 20],
        exam=[0, 0, 0, 0, 1, 1, 1, 1],
        time=[0, 1, 2, 9, 0, 1, 2, 3],
        truth=[P, N, U, P, P, P, U, N],
        polyp=[0, -1, -1, 1, 2, 2, -1, -1],
    )


def test_the_curve_counts_what_a_hand_counts() -> None:
    curve = effort_curve(two_exams(), thresholds=np.array([60.0, 40.0, 20.0]), frames_per_second=2)
    # 60: frames 60 | 70. 40: 50, 40, 60 | 70. 20: 50, 40, 60 | 30, 70, 20.
    np.testing.assert_array_equal(curve.frames, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(curve.polyps_found, [1 / 3, 2 / 3, 1.0])
    np.testing.assert_allclose(curve.frames_found, [1 / 4, 2 / 4, 3 / 4])
    np.testing.assert_allclose(curve.minutes, [1 / 120, 2 / 120, 3 / 120])
    # Runs at most a second apart: 9 | 2;  0, 2, 9 | 2;  0, 2, 9 | 0, 2-3.
    np.testing.assert_array_equal(curve.events, [1.0, 2.0, 2.5])
    assert (curve.exams, curve.all_frames, curve.polyps) == (2, 4.0, 3)


def test_unlabelled_frames_are_read_as_well() -> None:
    judged = small_judged([50, 50, 50], truth=[U, U, N])
    assert metrics_of(judged, 37)["effort.frames_per_exam"].value == 3


def test_thresholds_come_back_falling_and_once() -> None:
    thresholds = np.array([20.0, 60.0, 20.0, 40.0])
    curve = effort_curve(two_exams(), thresholds=thresholds, frames_per_second=2)
    np.testing.assert_array_equal(curve.thresholds, [60, 40, 20])


def test_no_threshold_flags_rejected_frames() -> None:
    curve = effort_curve(two_exams(), thresholds=np.array([0.0, -5.0]), frames_per_second=2)
    np.testing.assert_array_equal(curve.frames, [3.0, 3.0])


def test_events_are_unknown_without_times() -> None:
    judged = small_judged([50, 60], time=[np.nan, np.nan])
    curve = effort_curve(judged, thresholds=np.array([37.0]), frames_per_second=2)
    assert np.isnan(curve.events).all()
    assert metrics_of(judged, 37)["effort.events_per_exam"].value is None


def test_the_papers_effort() -> None:
    normals, false = (422, 1008, 4666, 8567, 4075), (34, 55, 671, 767, 310)
    patient = np.repeat(np.arange(5), normals)
    score = np.concatenate([np.arange(n) < f for n, f in zip(normals, false, strict=True)]) * 40.0
    judged = small_judged(score, patient=patient, truth=np.full(len(score), N))
    metrics = metrics_of(judged, 37)
    assert int(metrics["effort.false_frames_per_exam"].value or 0) == 367
    assert int(metrics["effort.normal_frames_per_exam"].value or 0) == 3747


def test_share_and_saving_add_to_one() -> None:
    metrics = metrics_of(two_exams(), 40)
    share, saving = metrics["effort.share_of_frames"], metrics["effort.saving"]
    assert (share.numerator, share.denominator) == (4, 8)
    assert saving.value == 0.5


def test_minutes_follow_the_stated_speed() -> None:
    judged = small_judged(np.full(1200, 50.0))
    metrics = metrics_of(judged, 37)
    assert metrics["effort.minutes_per_exam"].value == pytest.approx(2.0)
    assert metrics["effort.minutes_saved"].value == 0


def test_frames_that_were_not_scored_are_told() -> None:
    assert "1 frame not scored" in metrics_of(two_exams(), 40)["effort.frames_per_exam"].note


def test_few_exams_give_no_interval() -> None:
    interval = metrics_of(two_exams(), 40)["effort.frames_per_exam"].intervals[0]
    assert interval.low is None
    assert interval.why


def test_minutes_and_frames_have_the_same_interval() -> None:
    exam = np.repeat(np.arange(12), 10)
    judged = small_judged(np.arange(120) % (exam + 2) * 10.0, exam=exam)
    metrics = metrics_of(judged, 37)
    frames = metrics["effort.frames_per_exam"].intervals[0]
    minutes = metrics["effort.minutes_per_exam"].intervals[0]
    assert frames.low is not None
    assert minutes.low == pytest.approx(frames.low / 600)
    value = metrics["effort.frames_per_exam"].value
    assert value is not None
    assert frames.low < value < (frames.high or 0)


def test_the_table_adds_up() -> None:
    table = effort_table(two_exams(), threshold=40, frames_per_second=10)
    assert table.column("to_read") == [3, 1]
    assert table.total is not None
    assert table.total[2] == 4


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_speed_is_refused(speed: float) -> None:
    with pytest.raises(ParameterError, match="frames_per_second"):
        effort_curve(two_exams(), thresholds=np.array([37.0]), frames_per_second=speed)


def test_without_frames_there_are_no_values() -> None:
    metrics = metrics_of(small_judged([]), 37)
    assert {metric.value for metric in metrics.values()} == {None}


def test_few_scores_are_all_thresholds() -> None:
    scores = np.array([3.0, 1.0, np.nan, 0.0, -1.0, 3.0, 2.0])
    np.testing.assert_array_equal(curve_thresholds(scores), [3, 2, 1])


def test_many_scores_give_dense_strict_thresholds() -> None:
    scores = np.random.default_rng(3).random(50_000)
    thresholds = curve_thresholds(scores, most=200, points=[0.37])
    assert len(thresholds) <= 201
    assert 0.37 in thresholds
    assert thresholds[0] == scores.max()
    assert thresholds[-1] == scores.min()
    assert (thresholds > np.quantile(scores, 0.9)).sum() > 100  # in the first tenth of the frames


def test_an_exam_is_a_patient_where_all_are_known() -> None:
    judged = small_judged([1, 1, 1, 1], patient=[0, 0, 1, -1], truth=[N, N, P, U])
    assert len(reading_units(judged)) == 2  # the last frame may be of either


def test_an_exam_is_an_exam_where_a_patient_is_missing() -> None:
    judged = small_judged([1, 1, 1], patient=[0, 1, -1], truth=[N, N, P])
    units = reading_units(judged)
    assert (len(units), units.word) == (1, "exam")


def test_unlabelled_frames_belong_to_the_only_patient_of_their_exam() -> None:
    judged = small_judged(
        [1, 1, 1, 1, 1],
        exam=[0, 0, 1, 1, 2],
        patient=[1, -1, 0, -1, -1],
        truth=[N, U, N, U, U],
        exams=("a", "b", "c"),
        patients=("x", "y"),
    )
    units = reading_units(judged)
    assert [units.names[code] for code in units.unit] == ["y", "y", "x", "x", "c"]


def test_a_frame_of_an_unknown_patient_is_no_exam_of_its_own() -> None:
    judged = small_judged([50, 50, 50], patient=[0, 1, -1], truth=[N, N, U])
    table = effort_table(judged, threshold=37, frames_per_second=10)
    assert table.column("exam") == ["0", "1", "patient unknown"]
    assert metrics_of(judged, 37)["effort.frames_per_exam"].value == 1.5


def test_frames_that_may_be_anybody_s_leave_no_interval() -> None:
    # A folder of 12 patients, half of its frames without a label: all that are flagged are read.
    patient = np.where(np.arange(240) % 2, np.arange(240) // 20, -1)
    truth = np.where(patient < 0, UNLABELLED, NORMAL)
    scores = np.random.default_rng(0).integers(0, 60, 240).astype(float)
    judged = small_judged(scores, truth=truth, patient=patient)
    metrics = metrics_of(judged, 37)
    for key in ("frames_per_exam", "minutes_per_exam", "share_of_frames", "saving"):
        assert metrics[f"effort.{key}"].intervals[0].low is None
        assert "any of several patients" in metrics[f"effort.{key}"].intervals[0].why
