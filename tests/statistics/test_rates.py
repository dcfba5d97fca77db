"""Rates at an operating point."""

import numpy as np
import pytest

from capsieve.statistics.flags import flagged_at
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED, Judged
from capsieve.statistics.metric import Metric
from capsieve.statistics.rates import group_counts, rate_metrics
from support.judged_frames import PAPER_THRESHOLD, judged_frames, paper_frames


def metrics_of(judged: Judged, threshold: float, *, subset: str = "all") -> dict[str, Metric]:
    metrics = rate_metrics(judged, flagged_at(judged.score, threshold), subset=subset)
    return {metric.key: metric for metric in metrics}


def test_the_paper_s_rates() -> None:
    found = metrics_of(paper_frames(), PAPER_THRESHOLD)
    sensitivity, specificity = found["frames.all.sensitivity"], found["frames.all.specificity"]
    assert (sensitivity.numerator, sensitivity.denominator) == (109, 230)
    assert f"{sensitivity.value:.1%}" == "47.4%"
    assert (specificity.numerator, specificity.denominator) == (16901, 18738)
    assert f"{specificity.value:.1%}" == "90.2%"
    assert f"{found['polyps.all.sensitivity'].value:.2%}" == "81.25%"
    assert found["frames.all.false_positives_per_exam"].value == pytest.approx(1837 / 5)
    assert found["frames.all.positive_predictive_value"].value == pytest.approx(109 / 1946)
    assert found["frames.all.flagged_per_exam"].value == pytest.approx(1946 / 5)


def test_five_patients_give_no_interval_over_patients_but_sixteen_polyps_one_over_polyps() -> None:
    patients, polyps, wilson = metrics_of(paper_frames(), PAPER_THRESHOLD)[
        "frames.all.sensitivity"
    ].intervals
    assert patients.low is None
    assert "only 5 patients" in patients.why
    assert polyps.method == "bootstrap over polyps"
    assert polyps.low is not None
    assert "few" in polyps.why
    assert "as independent" in polyps.why
    assert "independent" in wilson.why


def test_counts_per_group_counted_by_hand() -> None:
    nan = np.nan
    judged = judged_frames(
        [9, 1, nan, 9, 1, nan, 9, 9, 9, 1],
        [POLYP, POLYP, POLYP, NORMAL, NORMAL, NORMAL, OTHER, UNLABELLED, POLYP, NORMAL],
        groups=("a", "unused", "b"),
        group=[0, 0, 0, 0, 0, 0, 0, 0, 2, 2],
        exams=("e", "f"),
        exam=[0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
    )
    counts = group_counts(judged, flagged_at(judged.score, 5.0))
    assert counts.group.tolist() == [0, 2]
    assert counts.polyp.tolist() == [3, 1]
    assert counts.flagged_polyp.tolist() == [1, 1]
    assert counts.normal.tolist() == [2, 1]
    assert counts.flagged_normal.tolist() == [1, 0]
    assert counts.other.tolist() == [1, 0]
    assert counts.flagged_other.tolist() == [1, 0]
    assert counts.frames.tolist() == [8, 2]
    assert counts.flagged.tolist() == [4, 1]


def test_unscored_frames_are_on_the_careful_side_and_named() -> None:
    judged = judged_frames([9.0, np.nan, 1.0, np.nan], [POLYP, POLYP, NORMAL, NORMAL])
    found = metrics_of(judged, 5.0)
    assert found["frames.all.sensitivity"].value == 0.5
    assert "1 polyp frame not scored" in found["frames.all.sensitivity"].note
    assert found["frames.all.specificity"].denominator == 1
    assert "1 normal frame not scored" in found["frames.all.specificity"].note


def test_without_frames_nothing_has_a_value() -> None:
    for metric in metrics_of(judged_frames([], []), 5.0).values():
        assert metric.value is None
        assert metric.note.startswith("No value")


def test_subsets_stand_in_keys_and_names() -> None:
    found = metrics_of(judged_frames([9.0], [POLYP]), 5.0, subset="test")
    assert found["frames.test.sensitivity"].name == "Sensitivity per frame (test part)"
    assert "polyps.test.sensitivity" in found


def test_frames_without_a_polyp_s_name_cannot_be_drawn_by_polyp() -> None:
    judged = judged_frames(
        [9.0, 9.0], [POLYP, POLYP], polyps=("a",), polyp=[0, -1], groups=("g",), group=[0, 0]
    )
    methods = [i.method for i in metrics_of(judged, 5.0)["frames.all.sensitivity"].intervals]
    assert methods == ["bootstrap over patients", "Wilson"]


def test_frames_per_exam_are_drawn_by_exam_where_groups_are_parts_of_exams() -> None:
    # 12 exams of 5 blocks each: the blocks would pass for 60 exams.
    judged = judged_frames(
        np.random.default_rng(1).integers(0, 9, 600),
        np.full(600, NORMAL),
        exams=tuple(map(str, range(12))),
        exam=np.repeat(np.arange(12), 50),
        groups=tuple(map(str, range(60))),
        group=np.repeat(np.arange(60), 10),
        group_kind="block",
        patient=np.full(600, -1),
    )
    found = metrics_of(judged, 5.0)
    interval = found["frames.all.flagged_per_exam"].intervals[0]
    assert (interval.method, interval.units) == ("bootstrap over exams", 12)
    assert found["frames.all.specificity"].intervals[0].units == 60


def several_exams_each(patient: np.ndarray) -> Judged:
    """24 exams of 12 groups."""
    return judged_frames(
        np.random.default_rng(1).integers(0, 9, 600),
        np.full(600, NORMAL),
        exams=tuple(map(str, range(24))),
        exam=np.repeat(np.arange(24), 25),
        patients=tuple(map(str, range(12))),
        patient=patient,
        groups=tuple(map(str, range(12))),
        group=np.repeat(np.arange(12), 50),
    )


def test_all_exams_of_a_patient_are_one_where_frames_are_counted_per_exam() -> None:
    judged = several_exams_each(np.repeat(np.arange(12), 50))
    metric = metrics_of(judged, 5.0)["frames.all.flagged_per_exam"]
    assert metric.denominator == 12
    assert metric.intervals[0].method == "bootstrap over patients"
    assert metric.intervals[0].units == 12


def test_frames_per_exam_are_drawn_by_patient_where_a_patient_has_several_exams() -> None:
    patient = np.repeat(np.arange(12), 50)
    patient[0] = -1  # one is not known: exams are what was screened as one
    metric = metrics_of(several_exams_each(patient), 5.0)["frames.all.flagged_per_exam"]
    assert metric.denominator == 24
    assert metric.intervals[0].method == "bootstrap over patients"
    assert metric.intervals[0].units == 12


def test_frames_that_may_be_anybody_s_leave_no_interval_per_exam() -> None:
    # A folder of 12 patients, and half of its frames without a label.
    patient = np.where(np.arange(600) % 2, np.repeat(np.arange(12), 50), -1)
    judged = judged_frames(
        np.full(600, 9.0),
        np.where(patient < 0, UNLABELLED, NORMAL),
        patients=tuple(map(str, range(12))),
        patient=patient,
        groups=tuple(map(str, range(13))),
        group=np.where(patient < 0, 12, patient),
    )
    found = metrics_of(judged, 5.0)
    interval = found["frames.all.flagged_per_exam"].intervals[0]
    assert (interval.low, interval.high) == (None, None)
    assert "300 of the frames may be of any of several patients" in interval.why


def test_a_predictive_value_has_no_interval_where_few_groups_have_polyps():
    # Twelve patients with false alarms, and one of them with all polyps.
    groups = np.repeat(np.arange(12), 2)
    judged = judged_frames(
        np.full(24, 50.0),
        [POLYP, *[NORMAL] * 23],
        groups=tuple(map(str, range(12))),
        group=groups,
    )
    metrics = metrics_of(judged, 37.0)
    first = metrics["frames.all.positive_predictive_value"].intervals[0]
    assert first.low is None
    assert "only 1 patient" in first.why
