"""Alarms as readers meet them, against a literal loop and hand counts."""

import math
from typing import Any

import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.statistics.alarm_numbers import alarm_metrics, alarm_table
from capsieve.statistics.alarms import alarm_curve
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED, Judged
from capsieve.statistics.metric import Metric
from support.small_judged import small_judged

P, N, O, U = POLYP, NORMAL, OTHER, UNLABELLED  # noqa: E741


def literal_alarms(judged: Judged, threshold: float, gap: float) -> list[list[int]]:
    """Group flagged frames one after the other, head by head."""
    alarms: list[list[int]] = []
    for exam, head in sorted({(int(e), int(h)) for e, h in zip(judged.exam, judged.head)}):  # noqa: B905
        own = [i for i in range(len(judged)) if (judged.exam[i], judged.head[i]) == (exam, head)]
        last = None
        for i in own:
            if not (judged.score[i] > 0 and judged.score[i] >= threshold):
                continue
            if last is None or judged.time[i] - judged.time[last] > gap + 1e-6:
                alarms.append([])
            alarms[-1].append(i)
            last = i
    return alarms


def literal_point(
    judged: Judged, threshold: float, within: float, gap: float, shortest: float
) -> tuple[float, float]:
    """Return the share of polyps found in time and the false alarms per exam."""
    counted = [
        alarm
        for alarm in literal_alarms(judged, threshold, gap)
        if judged.time[alarm[-1]] - judged.time[alarm[0]] + 1e-6 >= shortest
    ]
    false = 0
    for alarm in counted:
        truths = {int(judged.truth[i]) for i in alarm}
        false += P not in truths and N in truths
    shown = {i for alarm in counted for i in alarm}
    polyps = {int(p) for p, t in zip(judged.polyp, judged.truth, strict=True) if p >= 0 and t == P}
    found = 0
    for polyp in polyps:
        own = [i for i in range(len(judged)) if judged.polyp[i] == polyp and judged.truth[i] == P]
        first = min(judged.time[i] for i in own)
        found += any(i in shown and judged.time[i] - first <= within + 1e-6 for i in own)
    return found / len(polyps) if polyps else math.nan, false / len(set(judged.exam.tolist()))


def random_exams(seed: int) -> Judged:
    rng = np.random.default_rng(seed)
    parts = [(exam, head) for exam in range(3) for head in range(2)]
    exam = np.repeat([exam for exam, _ in parts], 60)
    time = np.concatenate([np.sort(rng.integers(0, 400, 60)) / 4 for _ in parts])
    truth = rng.choice([P, N, O, U], 360, p=[0.2, 0.5, 0.15, 0.15])
    return small_judged(
        rng.integers(0, 9, 360) * 10.0,
        exam=exam,
        head=np.repeat([head for _, head in parts], 60),
        frame=np.tile(np.arange(60), 6),
        time=time,
        truth=truth,
        polyp=np.where((truth == P) & (rng.random(360) < 0.8), exam * 3 + rng.integers(0, 3), -1),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shortest", [0.0, 1.5])
def test_the_curve_agrees_with_a_literal_loop(seed: int, shortest: float) -> None:
    judged = random_exams(seed)
    thresholds = np.array([90.0, 80.0, 55.0, 40.0, 20.0, 10.0, 0.0])
    curve = alarm_curve(judged, thresholds=thresholds, within=5.0, gap=1.0, shortest=shortest)
    assert curve is not None
    expected = [literal_point(judged, value, 5.0, 1.0, shortest) for value in thresholds]
    np.testing.assert_allclose(curve.found, [found for found, _ in expected])
    np.testing.assert_allclose(curve.alarms, [false for _, false in expected])


@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_agree_with_the_curve(seed: int) -> None:
    judged = random_exams(seed)
    curve = alarm_curve(judged, thresholds=np.array([40.0]), within=5.0)
    metrics = metrics_of(judged, threshold=40.0, within=5.0)
    assert curve is not None
    assert metrics["alarms.false_per_exam"].value == pytest.approx(curve.alarms[0])
    assert metrics["alarms.polyps_in_time"].value == pytest.approx(curve.found[0])


def metrics_of(judged: Judged, **settings: float) -> dict[str, Metric]:
    return {metric.key: metric for metric in alarm_metrics(judged, **settings)}  # pyright: ignore[reportArgumentType]


def test_an_alarm_is_what_its_most_telling_frame_is() -> None:
    judged = small_judged(
        [50.0] * 11,
        time=[0, 1, 10, 11, 20, 21, 30, 31, 40, 50, 51],
        truth=[P, N, N, O, O, U, U, U, N, P, O],
    )
    table = alarm_table(judged, threshold=37)
    assert table is not None
    row = dict(zip([column.key for column in table.columns], table.rows[0], strict=True))
    assert (row["true"], row["false"], row["other"], row["unlabelled"]) == (2, 2, 1, 1)
    assert row["minutes"] == pytest.approx(51 / 60)
    assert row["false_per_hour"] == pytest.approx(2 * 3600 / 51)


def test_two_heads_alarm_apart() -> None:
    judged = small_judged([50, 50], head=[0, 1], time=[0, 0], truth=[N, N])
    assert metrics_of(judged, threshold=37)["alarms.false_per_exam"].value == 2


def test_the_first_frame_of_a_polyp_may_be_in_the_other_head() -> None:
    judged = small_judged(
        [0, 50], head=[0, 1], frame=[0, 0], time=[0, 7], truth=[P, P], polyp=[0, 0]
    )
    assert metrics_of(judged, threshold=37, within=6.0)["alarms.polyps_in_time"].value == 0
    metrics = metrics_of(judged, threshold=37, within=7.0)
    assert metrics["alarms.polyps_in_time"].value == 1
    assert metrics["alarms.delay"].value == 7


def test_a_polyp_found_late_is_found_at_any_time() -> None:
    judged = small_judged([0, 50], time=[0, 60], truth=[P, P], polyp=[0, 0])
    metrics = metrics_of(judged, threshold=37)
    assert metrics["alarms.polyps_in_time"].value == 0
    assert metrics["alarms.polyps_ever"].value == 1
    assert metrics["alarms.delay"].value is None


def test_alarms_that_are_too_short_find_nothing() -> None:
    judged = small_judged([50, 0, 0, 0, 50, 50], truth=[P, N, N, N, N, N], polyp=[0] + [-1] * 5)
    metrics = metrics_of(judged, threshold=37, shortest=1.0)
    assert metrics["alarms.polyps_ever"].value == 0
    assert metrics["alarms.false_per_exam"].value == 1


def test_a_pause_of_exactly_the_gap_does_not_part_an_alarm() -> None:
    times = 0.1 * np.array([3, 13, 23])  # 0.1 is no binary fraction: the pauses differ by a hair
    judged = small_judged([50, 50, 50], time=times, truth=[N, N, N])
    assert metrics_of(judged, threshold=37, gap=1.0)["alarms.false_per_exam"].value == 1


def test_running_numbers_are_not_time() -> None:
    judged = small_judged([50, 50], time=[np.nan] * 2, truth=[P, N], polyp=[0, -1])
    assert alarm_curve(judged, thresholds=np.array([37.0])) is None
    assert alarm_table(judged, threshold=37) is None
    metrics = metrics_of(judged, threshold=37)
    assert {metric.value for metric in metrics.values()} == {None}
    assert all("times" in metric.note for metric in metrics.values())


def test_exams_without_times_are_left_out_and_named() -> None:
    judged = small_judged(
        [50, 50, 50],
        exam=[0, 1, 2],
        time=[0, np.nan, 5],
        truth=[N, N, N],
        exams=("a", "b", "c"),
    )
    curve = alarm_curve(judged, thresholds=np.array([37.0]))
    assert curve is not None
    assert (curve.exams, curve.alarms[0]) == (2, 1.0)
    assert "1 exam without known times left out: b" in (
        metrics_of(judged, threshold=37)["alarms.false_per_exam"].note
    )
    table = alarm_table(judged, threshold=37)
    assert table is not None
    assert table.column("exam") == ["a", "c"]


def test_frames_that_were_not_scored_need_no_time() -> None:
    judged = small_judged([50, np.nan], time=[0, np.nan], truth=[P, P], polyp=[0, 0])
    curve = alarm_curve(judged, thresholds=np.array([37.0]))
    assert curve is not None
    assert curve.found[0] == 1


def test_frames_out_of_order_are_brought_into_order() -> None:
    judged = small_judged([50, 50, 50], time=[0.0, 5.0, 0.5], truth=[N, N, N])
    assert metrics_of(judged, threshold=37)["alarms.false_per_exam"].value == 2


def test_without_polyps_there_is_a_curve_of_alarms() -> None:
    curve = alarm_curve(small_judged([50.0], truth=[N]), thresholds=np.array([37.0]))
    assert curve is not None
    assert math.isnan(curve.found[0])
    assert curve.alarms[0] == 1


def test_a_threshold_above_all_scores_raises_no_alarm() -> None:
    curve = alarm_curve(random_exams(1), thresholds=np.array([np.inf]))
    assert curve is not None
    assert (curve.found[0], curve.alarms[0]) == (0, 0)


@pytest.mark.parametrize("name", ["within", "gap", "shortest"])
def test_negative_times_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        alarm_curve(small_judged([50.0]), thresholds=np.array([37.0]), **{name: -1.0})


def test_alarms_of_one_patient_s_exams_are_drawn_together() -> None:
    # 15 exams of 3 patients: too few patients, however many exams.
    exam = np.repeat(np.arange(15), 20)
    scores = np.random.default_rng(0).integers(0, 60, 300).astype(float)
    patients: dict[str, Any] = {
        "patient": exam // 5,
        "groups": ("a", "b", "c"),
        "group": exam // 5,
        "group_kind": "patient",
    }
    frames: dict[str, Any] = {"exam": exam, "truth": np.full(300, N)}
    apart = metrics_of(small_judged(scores, **frames), threshold=37)["alarms.false_per_exam"]
    assert apart.intervals[0].units == 15
    together = metrics_of(small_judged(scores, **frames, **patients), threshold=37)
    for key in ("alarms.false_per_exam", "alarms.false_per_hour"):
        assert together[key].intervals[0].low is None
        assert "only 3 patients" in together[key].intervals[0].why
