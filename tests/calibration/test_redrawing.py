"""Choices made again on patients drawn again."""

from dataclasses import replace

import numpy as np
import pytest

from capsieve.calibration.choice import choose
from capsieve.calibration.redrawing import chosen_rungs, ladder, redraw
from capsieve.calibration.target import Scale, Target
from capsieve.statistics.judged import NORMAL, UNLABELLED
from support.judged_frames import judged_frames
from support.many_patients import many_patients

R_P = Scale("R_P", 1.0, 85.0)
TARGETS = [Target("specificity", 0.9), Target("frames", 7.5), Target("sensitivity", 0.8)]
by_kind = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.kind)


def drawn_again(judged, times):
    """Every patient as often as was drawn, each time as somebody else: the slow way."""
    order, patient, polyp = [], [], []
    for number, count in enumerate(times):
        frames = np.flatnonzero(judged.patient == number)
        for _ in range(count):
            order.append(frames)
            patient.append(np.full(len(frames), len(patient)))
            own = judged.polyp[frames]
            polyp.append(np.where(own < 0, -1, own + 1000 * len(polyp)))
    chosen = judged.take(np.concatenate(order))
    patient = np.concatenate(patient)
    names = tuple(map(str, range(patient.max() + 1)))
    return judged_frames(
        chosen.score,
        chosen.truth,
        patients=names,
        patient=patient,
        exams=names,
        exam=patient,
        groups=names,
        group=patient,
        polyps=tuple(map(str, range(100_000))),
        polyp=np.concatenate(polyp),
    )


@by_kind
@pytest.mark.parametrize("seed", range(4))
def test_a_round_chooses_what_the_frames_drawn_would_choose(target, seed):
    judged = many_patients(12, normals=20, seed=seed)
    times = np.bincount(np.random.default_rng(seed).integers(0, 12, 12), minlength=12)
    steps = ladder(judged, target, R_P)
    rung = chosen_rungs((times @ steps.above)[None], (times @ steps.base)[None], target)
    assert steps.thresholds[rung[0]] == choose(drawn_again(judged, times), target, R_P)


@by_kind
def test_the_interval_holds_the_choice_and_narrows_with_more_patients(target):
    widths = []
    for patients in (15, 200):
        judged = many_patients(patients)
        interval = redraw(judged, target, R_P, rounds=300).threshold
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low <= (choose(judged, target, R_P) or 0) <= interval.high
        assert interval.low.is_integer()
        assert interval.units == patients
        widths.append(interval.high - interval.low)
    assert widths[1] < widths[0]


@by_kind
def test_others_than_those_drawn_come_close_to_the_target(target):
    redrawn = redraw(many_patients(100), target, R_P, rounds=300)
    assert redrawn.new == pytest.approx(target.value, rel=0.1)
    low, high = redrawn.spread.low, redrawn.spread.high
    assert low is not None
    assert high is not None
    assert low < target.value < high


def test_too_few_patients_give_no_interval_and_say_so():
    redrawn = redraw(many_patients(9), Target(), R_P, rounds=100)
    assert redrawn.threshold.low is None
    assert redrawn.new is None
    assert "only 9 patients" in redrawn.threshold.why


def test_patients_without_normal_frames_do_not_count_as_patients():
    judged = many_patients(12)
    only = judged.take((judged.truth != NORMAL) | (judged.patient < 5))
    assert "only 5 patients" in redraw(only, Target(), R_P, rounds=100).threshold.why


def test_rounds_that_cannot_reach_the_target_are_counted_and_told():
    judged = many_patients(12, polyps=1)
    score = np.where((judged.polyp >= 0) & (judged.patient < 3), 0.0, judged.score)
    redrawn = redraw(replace(judged, score=score), Target("sensitivity", 0.75), R_P, rounds=200)
    assert "no R_P reaches the target in" in redrawn.threshold.why


def test_frames_of_nobody_cannot_be_drawn():
    judged = many_patients(20)
    truth, patient = judged.truth.copy(), judged.patient.copy()
    truth[:3], patient[:3] = UNLABELLED, -1
    exam = np.where(judged.exam == 1, 0, judged.exam)  # two patients screened as one exam
    stray = replace(judged, truth=truth, patient=patient, exam=exam)
    interval = redraw(stray, Target("frames", 5), R_P, rounds=100).threshold
    assert interval.low is None
    assert "nobody to draw them with" in interval.why


def test_the_same_seed_gives_the_same_interval():
    judged = many_patients(30)
    first, again = (redraw(judged, Target(), R_P, rounds=100, seed=5) for _ in range(2))
    assert first.spread == again.spread
    assert first.spread != redraw(judged, Target(), R_P, rounds=100, seed=6).spread


@pytest.mark.soak
@by_kind
@pytest.mark.parametrize("patients", [12, 30, 60])
def test_the_interval_holds_the_threshold_of_everybody(target, patients):
    everybody = choose(many_patients(20_000, seed=9999), target, R_P) or 0
    held = 0
    for seed in range(300):
        interval = redraw(many_patients(patients, seed=seed), target, R_P, rounds=400).threshold
        held += (interval.low or 0) <= everybody <= (interval.high or 0)
    print(f"{target.kind}, {patients} patients: {held / 300:.0%}")
    assert held / 300 > 0.9


# Scores that are no whole numbers

SCORE = Scale("score threshold", None)


def with_fine_scores(judged):
    """Scores between 0 and 1, all different; what was rejected stays so."""
    rng = np.random.default_rng(0)
    score = (judged.score + rng.uniform(0, 0.9, len(judged))) / 100
    return replace(judged, score=np.where(judged.score > 0, score, 0.0))


@by_kind
@pytest.mark.parametrize("seed", range(3))
def test_a_round_on_observed_scores_flags_what_the_frames_drawn_would(target, seed):
    judged = with_fine_scores(many_patients(12, normals=20, seed=seed))
    times = np.bincount(np.random.default_rng(seed).integers(0, 12, 12), minlength=12)
    steps = ladder(judged, target, SCORE)
    rung = chosen_rungs((times @ steps.above)[None], (times @ steps.base)[None], target)[0]
    chosen = choose(drawn_again(judged, times), target, SCORE)
    assert chosen is not None
    # The nearest rung above it: rungs are scores of all patients, drawn or not.
    there = np.searchsorted(steps.thresholds, chosen)
    assert (times @ steps.above)[rung] == (times @ steps.above)[there]


@by_kind
def test_the_interval_on_observed_scores_holds_the_choice(target):
    judged = with_fine_scores(many_patients(100))
    interval = redraw(judged, target, SCORE, rounds=300).threshold
    assert interval.low is not None
    assert interval.high is not None
    assert interval.low <= (choose(judged, target, SCORE) or 0) <= interval.high
    assert interval.low < interval.high < 1


def test_very_many_scores_make_no_longer_ladder():
    score = np.random.default_rng(0).uniform(0, 1, 20_000)
    judged = judged_frames(score, [NORMAL] * 20_000)
    steps = ladder(judged, Target(), SCORE)
    assert len(steps.thresholds) < 5000
    assert (np.diff(steps.thresholds) > 0).all()
    assert steps.above[:, -1].sum() == 0
    assert steps.above[:, 0].sum() == pytest.approx(20_000, rel=1e-3)
