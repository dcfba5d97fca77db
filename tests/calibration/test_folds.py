"""Folds that judge each other."""

from dataclasses import replace

import numpy as np
import pytest

from capsieve.calibration.choice import choose
from capsieve.calibration.folds import cross_fit
from capsieve.calibration.target import Scale, Target
from capsieve.statistics.operating_point import cross_fitted
from support.many_patients import many_patients

R_P = Scale("R_P", 1.0, 85.0)


def folded(**given):
    plain = many_patients(12, **given)
    return many_patients(12, parts=("a", "b", "c"), part=plain.patient % 3, **given)


def test_for_a_specificity_it_is_the_cross_fitting_of_the_evaluation():
    judged = folded()
    fitted, why = cross_fit(judged, Target(), R_P)
    usual = cross_fitted(
        judged.score, judged.truth, judged.part, target_specificity=0.9, step=R_P.step
    )
    assert not why
    assert fitted is not None
    assert fitted.thresholds == usual.thresholds
    assert np.array_equal(fitted.flagged, usual.flagged)


@pytest.mark.parametrize("target", [Target("frames", 8), Target("sensitivity", 0.7)])
def test_a_fold_has_no_say_in_its_own_threshold(target):
    judged = folded()
    before, _ = cross_fit(judged, target, R_P)
    assert before is not None
    judged = replace(judged, score=judged.score + 9 * (judged.part == 1))
    after, _ = cross_fit(judged, target, R_P)
    assert after is not None
    assert before.thresholds[1] == after.thresholds[1]
    assert before.thresholds[0] != after.thresholds[0]
    assert after.thresholds[1] == choose(judged.take(judged.part != 1), target, R_P)


def test_folds_that_cannot_choose_are_named():
    judged = folded(polyps=1)
    named = np.where(judged.part == 0, judged.polyp, -1)  # only polyps of fold a have names
    fitted, why = cross_fit(replace(judged, polyp=named), Target("sensitivity", 0.5), R_P)
    assert fitted is None
    assert "fold a " in why
