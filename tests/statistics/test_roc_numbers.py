import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from capsieve.statistics.judged import NORMAL, POLYP
from capsieve.statistics.roc_numbers import frame_roc, polyp_roc
from capsieve.statistics.settings import Settings
from support.judged_frames import judged_frames

SETTINGS = Settings(rounds=200)


def study(patients=12):
    rng = np.random.default_rng(2)
    patient = np.repeat(np.arange(patients), 30)
    truth = np.tile([POLYP] * 6 + [NORMAL] * 24, patients)
    score = np.maximum(0, rng.normal(size=len(truth)) + (truth == POLYP) + 0.3)
    names = tuple(map(str, range(patients)))
    polyp = np.where(truth == POLYP, 2 * patient + np.tile(np.arange(30) % 2, patients), -1)
    return judged_frames(
        score,
        truth,
        patients=names,
        patient=patient,
        groups=names,
        group=patient,
        polyps=tuple(map(str, range(2 * patients))),
        polyp=polyp,
    )


def metrics_of(numbers):
    return {metric.key: metric for metric in numbers.metrics}


def test_areas_per_frame_equal_those_of_scikit_learn():
    judged = study()
    found = metrics_of(frame_roc(judged, SETTINGS))
    truth = judged.truth == POLYP
    assert found["frames.auc"].value == pytest.approx(roc_auc_score(truth, judged.score))
    standardised = roc_auc_score(truth, judged.score, max_fpr=0.2)
    assert found["frames.auc_20_standardised"].value == pytest.approx(standardised)


def test_a_polyp_counts_by_its_best_frame():
    judged = study()
    best = [judged.score[judged.polyp == code].max() for code in range(len(judged.polyps))]
    normal = judged.score[judged.truth == NORMAL]
    truth = np.r_[np.ones(len(best)), np.zeros(len(normal))]
    found = metrics_of(polyp_roc(judged, SETTINGS))
    assert found["polyps.auc"].value == pytest.approx(roc_auc_score(truth, np.r_[best, normal]))


def test_intervals_hold_their_value_and_name_what_was_drawn():
    for numbers, more in ((frame_roc(study(), SETTINGS), 1), (polyp_roc(study(), SETTINGS), 1)):
        auc = numbers.metrics[0]
        assert len(auc.intervals) == 1 + more
        assert auc.intervals[0].method == "bootstrap over patients"
        for interval in auc.intervals:
            low, high = np.array([interval.low, interval.high])
            assert low < auc.value < high


def test_the_band_holds_the_curve():
    numbers = frame_roc(study(), SETTINGS)
    height = np.interp(
        numbers.band.x, numbers.curve.false_positive_rate, numbers.curve.true_positive_rate
    )
    inside = (numbers.band.low <= height) & (height <= numbers.band.high)
    assert inside.mean() > 0.95


@pytest.mark.parametrize("truth", [NORMAL, POLYP])
def test_a_single_class_has_no_areas_and_says_so(truth):
    judged = judged_frames([1.0, 2.0], [truth, truth])
    for numbers in (frame_roc(judged, SETTINGS), polyp_roc(judged, SETTINGS)):
        for metric in numbers.metrics:
            assert metric.value is None
            assert "empty" in metric.note
