"""What an operating point reaches and costs."""

from dataclasses import replace

import numpy as np

from capsieve.calibration.figures import portion_metrics
from capsieve.calibration.portions import Portion
from capsieve.statistics.flags import flagged_at
from capsieve.statistics.rates import rate_metrics
from capsieve.statistics.settings import Settings
from many_patients import many_patients

SETTINGS = Settings(rounds=100)


def metrics_of(judged, flagged, **changes):
    portion = replace(Portion("all", np.ones(len(judged), bool), False, True), **changes)
    return {metric.key: metric for metric in portion_metrics(judged, flagged, portion, SETTINGS)}


def test_reading_is_counted_from_the_flags_of_all_folds():
    judged = many_patients(12)
    # Two thresholds, as two folds would have them.
    flagged = flagged_at(judged.score, 40) & (judged.patient < 6)
    flagged |= flagged_at(judged.score, 30) & (judged.patient >= 6)
    metrics = metrics_of(judged, flagged)
    assert metrics["effort.all.frames_per_exam"].value == flagged.sum() / 12
    assert metrics["effort.all.share_of_frames"].numerator == flagged.sum()


def test_rates_are_those_of_the_evaluation():
    judged = many_patients(12)
    flagged = flagged_at(judged.score, 40)
    metrics = metrics_of(judged, flagged)
    usual = {metric.key: metric for metric in rate_metrics(judged, flagged, rounds=100, seed=0)}
    for key in ("frames.all.specificity", "frames.all.sensitivity", "polyps.all.sensitivity"):
        assert metrics[key] == usual[key]


def test_only_the_frames_of_the_portion_count():
    judged = many_patients(12)
    flagged = flagged_at(judged.score, 40)
    half = judged.patient < 6
    metrics = metrics_of(judged, flagged, frames=half, key="train")
    assert metrics["effort.train.frames_per_exam"].value == flagged[half].sum() / 6


def test_torn_exams_have_no_figures_per_exam():
    judged = many_patients(12)
    metrics = metrics_of(judged, flagged_at(judged.score, 40), whole=False)
    assert metrics["effort.all.frames_per_exam"].value is None
    assert "other parts" in metrics["effort.all.frames_per_exam"].note
    assert metrics["effort.all.share_of_frames"].value is not None


def test_figures_of_the_frames_that_chose_are_called_so():
    judged = many_patients(12)
    flagged = flagged_at(judged.score, 40)
    told = metrics_of(judged, flagged, optimistic=True)["frames.all.specificity"]
    assert "better than to be expected" in told.note
    assert not metrics_of(judged, flagged)["frames.all.specificity"].note
