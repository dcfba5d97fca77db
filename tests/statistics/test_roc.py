"""ROC curves, areas and their bootstrap."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from sklearn import metrics

from capsieve.frame_table import NORMAL, POLYP
from capsieve.statistics import roc as module
from capsieve.statistics.intervals import draws
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.roc import (
    auc,
    frame_roc,
    polyp_roc,
    roc_curve,
    sensitivity_at_specificity,
)
from support.labelled_frames import labelled_frames
from support.score_sets import labelled, scores

OPTIONS = EvaluationOptions(bootstrap_samples=200)
LOW = -np.inf


def study(patients=12, seed=2):
    """Patients with two polyps each; a quarter of the frames is rejected."""
    rng = np.random.default_rng(seed)
    truth = np.tile([POLYP] * 6 + [NORMAL] * 24, patients)
    patient = np.repeat(np.arange(patients), 30)
    level = rng.normal(size=patients)[patient] / 2
    score = np.round(rng.normal(size=len(truth)) + level + (truth == POLYP), 1)
    score[rng.random(len(truth)) < 0.25] = LOW
    polyp = np.where(truth == POLYP, 2 * patient + np.tile(np.arange(30) % 2, patients), -1)
    return labelled_frames(score, truth, exam=patient, patient=patient, polyp=polyp)


def by_key(result):
    return {metric.key: metric for metric in result.metrics}


@pytest.mark.slow
@given(scores(least=1), scores(least=1))
def test_points_and_area_agree_with_scikit_learn(positives, negatives):
    curve = roc_curve(positives, negatives)
    truth, values = labelled(positives, negatives)
    false, true, thresholds = metrics.roc_curve(truth, values, drop_intermediate=False)
    kept = thresholds > -100  # no threshold flags a rejected frame
    np.testing.assert_array_equal(curve.thresholds, thresholds[kept])
    np.testing.assert_allclose(curve.false_positive_rate, false[kept], rtol=1e-14)
    np.testing.assert_allclose(curve.true_positive_rate, true[kept], rtol=1e-14)
    area = auc(positives, negatives)
    assert area == pytest.approx(metrics.roc_auc_score(truth, values))
    sums = mannwhitneyu(values[truth], values[~truth], method="asymptotic").statistic
    assert area == pytest.approx(sums / (len(positives) * len(negatives)))


def test_the_curve_ends_where_pre_selection_stops_it():
    curve = roc_curve([3.0, 2.0, LOW, np.nan], [3.0, -1.0, LOW, LOW, np.nan])
    assert curve.thresholds.tolist() == [np.inf, 3.0, 2.0, -1.0]
    assert curve.true_positive_rate.tolist() == [0.0, 0.25, 0.5, 0.5]
    assert curve.false_positive_rate.tolist() == [0.0, 0.25, 0.25, 0.5]
    assert (curve.positives, curve.negatives) == (4, 4)


def test_rates_of_an_empty_class_are_undefined():
    curve = roc_curve([], [2.0, 1.0])
    assert np.isnan(curve.true_positive_rate).all()
    assert curve.false_positive_rate.tolist() == [0.0, 0.5, 1.0]
    assert roc_curve([], []).thresholds.tolist() == [np.inf]


def test_after_its_end_the_curve_is_a_straight_line():
    # One of ten normal frames and half of the polyp frames are ever flagged.
    positives, negatives = [5.0, LOW], [4.0] + [LOW] * 9
    assert auc(positives, negatives) == pytest.approx(0.1 * 0.5 + 0.9 * 0.75)


def test_perfect_and_random_scores():
    assert auc([2.0, 2.0], [1.0, 1.0]) == 1
    assert auc([1.0], [1.0, 1.0]) == 0.5


@pytest.mark.parametrize(("positives", "negatives"), [([], [1.0]), ([1.0], []), ([], [])])
def test_without_a_class_there_is_no_value(positives, negatives):
    curve = roc_curve(positives, negatives)
    assert auc(positives, negatives) is None
    assert sensitivity_at_specificity(curve, 0.9) is None


@given(scores(least=1), scores(least=1))
def test_sensitivity_at_a_specificity_is_the_best_of_all_thresholds(positives, negatives):
    found: Any = sensitivity_at_specificity(roc_curve(positives, negatives), 0.7)
    sensitivity, threshold = found
    best = 0.0
    for candidate in {*positives, *negatives} - {LOW}:
        if 10 * np.count_nonzero(negatives < candidate) >= 7 * len(negatives):
            best = max(best, np.mean(positives >= candidate))
    assert sensitivity == pytest.approx(best)
    assert np.mean(positives >= threshold) == pytest.approx(best)
    assert 10 * np.count_nonzero(negatives < threshold) >= 7 * len(negatives)


def test_metrics_per_frame_equal_those_of_scikit_learn():
    frames = study()
    found = by_key(frame_roc(frames, OPTIONS))
    truth = frames.truth == POLYP
    values = np.where(frames.score == LOW, -100, frames.score)
    assert found["frames.auc"].value == pytest.approx(metrics.roc_auc_score(truth, values))


def test_the_sensitivity_at_the_target_has_the_counts_of_a_threshold_that_reaches_it():
    frames = study()
    found = by_key(frame_roc(frames, OPTIONS))["frames.sensitivity_at_target"]
    normal, polyp = frames.score[frames.normal_frames], frames.score[frames.polyp_frames]
    allowed = (polyp >= score for score in polyp[polyp > LOW] if (normal < score).mean() >= 0.9)
    assert found.numerator == max(int(hits.sum()) for hits in allowed)
    assert found.denominator == len(polyp)


def test_a_polyp_counts_by_its_best_frame():
    frames = study()
    best = [frames.score[frames.polyp.code == code].max() for code in range(24)]
    expected = auc(best, frames.score[frames.truth == NORMAL])
    assert by_key(polyp_roc(frames, OPTIONS))["polyps.auc"].value == pytest.approx(expected)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_samples_are_those_of_the_frames_drawn_again(seed):
    frames = study(seed=seed)
    options = EvaluationOptions(bootstrap_samples=100, seed=seed)
    samples = frame_roc(frames, options).samples
    for place, weights in enumerate(draws(12, samples=100, seed=seed)[:8]):
        again = frames.take(
            np.repeat(np.arange(len(frames)), weights[frames.group.code].astype(int))
        )
        curve = roc_curve(again.score[again.polyp_frames], again.score[again.normal_frames])
        expected = auc(again.score[again.polyp_frames], again.score[again.normal_frames])
        assert samples.auc[place] == pytest.approx(expected)
        at_target: Any = sensitivity_at_specificity(curve, 0.9)
        assert samples.sensitivity_at_target[place] == pytest.approx(at_target[0])
        heights = np.interp(
            np.linspace(0, 1, 201), curve.false_positive_rate, curve.true_positive_rate
        )
        np.testing.assert_allclose(samples.curves[place], heights, atol=1e-12)


def test_two_detectors_have_the_same_draws():
    frames = study()
    other = replace(frames, score=np.where(frames.score > LOW, np.exp(frames.score), LOW))
    one, two = (frame_roc(each, OPTIONS).samples for each in (frames, other))
    # A rising function of the score has the same curve in every sample.
    np.testing.assert_array_equal(one.auc, two.auc)


def test_many_scores_are_thinned_with_little_loss():
    rng = np.random.default_rng(9)
    patient = np.repeat(np.arange(12), 2000)
    truth = np.where(rng.random(len(patient)) < 0.1, POLYP, NORMAL)
    score = rng.gamma(3 + (truth == POLYP), 8)
    score[rng.random(len(patient)) < 0.3] = LOW
    frames = labelled_frames(score, truth, exam=patient)
    samples = frame_roc(frames, EvaluationOptions(bootstrap_samples=100)).samples
    weights = draws(12, samples=100, seed=0)[7]
    again = frames.take(np.repeat(np.arange(len(frames)), weights[patient].astype(int)))
    curve = roc_curve(again.score[again.polyp_frames], again.score[again.normal_frames])
    at_target: Any = sensitivity_at_specificity(curve, 0.9)
    assert samples.sensitivity_at_target[7] == pytest.approx(at_target[0], abs=5e-3)


def test_pair_sums_are_counted_pair_by_pair_in_several_blocks(monkeypatch):
    expected = frame_roc(study(), OPTIONS).samples.auc
    monkeypatch.setattr(module, "_CELLS", 20)
    np.testing.assert_array_equal(frame_roc(study(), OPTIONS).samples.auc, expected)


def test_intervals_contain_the_value_and_name_what_was_drawn():
    frames: Any = frame_roc(study(), OPTIONS).metrics[0]
    polyps: Any = polyp_roc(study(), OPTIONS).metrics[0]
    assert len(frames.intervals) == len(polyps.intervals) == 2  # also by DeLong's formula
    for metric in (frames, polyps):
        assert metric.intervals[0].method == "bootstrap over patients"
        for interval in metric.intervals:
            assert interval.low < metric.value < interval.high <= 1


def test_the_band_is_around_the_curve_and_ends_with_it():
    curve: Any = frame_roc(study(40), OPTIONS).curve
    height = np.interp(curve.band_rate, curve.false_positive_rate, curve.true_positive_rate)
    assert ((curve.band_low <= height) & (height <= curve.band_high)).mean() > 0.95
    assert curve.band_rate[-1] <= curve.false_positive_rate[-1] < 0.9


@pytest.mark.parametrize("compute", [frame_roc, polyp_roc])
def test_below_10_groups_there_is_no_interval_and_no_band_but_a_reason(compute):
    result = compute(study(9), OPTIONS)
    assert result.curve.band_rate is None
    for metric in result.metrics:
        assert metric.value is not None
        for interval in metric.intervals:
            assert interval.low is None
            assert "only 9 patients" in interval.why


@pytest.mark.parametrize("truth", [NORMAL, POLYP])
def test_a_single_class_has_no_curve_and_says_so(truth):
    frames = labelled_frames([1.0, 2.0], [truth, truth])
    for result in (frame_roc(frames, OPTIONS), polyp_roc(frames, OPTIONS)):
        assert result.curve is None
        for metric in result.metrics:
            assert metric.value is None
            assert metric.note.startswith("No value")


def test_unscored_frames_follow_the_rule():
    frames = study()
    score = frames.score.copy()
    score[[0, 10]] = np.nan  # a polyp frame and a normal frame
    missing = replace(frames, score=score)
    other = replace(frames, score=np.where(np.arange(len(score)) == 0, LOW, frames.score))
    without = other.take(np.arange(len(score)) != 10)
    found, expected = (by_key(frame_roc(each, OPTIONS)) for each in (missing, without))
    assert {key: metric.value for key, metric in found.items()} == {
        key: metric.value for key, metric in expected.items()
    }
