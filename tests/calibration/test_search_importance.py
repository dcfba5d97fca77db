"""What mattered in a search."""

from dataclasses import replace

import numpy as np

from capsieve.calibration.search_free import Found
from capsieve.calibration.search_importance import explained_spread, worth_of_rules
from capsieve.calibration.search_study import Trial
from search_frames import BASE, measure, truth_of


def trials(worth, count=24):
    """Trials over channels and vignetting, worth what a function says."""
    channels = ("gray", "red", "lab-a")
    settings = [replace(BASE, channel=channels[n % 3], vignetting=n % 2 == 0) for n in range(count)]
    return [Trial(each, Found(worth(each, n), each)) for n, each in enumerate(settings)]


def test_the_field_that_decides_explains_everything():
    found = explained_spread(trials(lambda setting, _: 0.1 + 0.2 * (setting.channel == "red")))
    assert found["channel"] == 1
    assert found["vignetting"] == 0


def test_a_field_that_never_changed_explains_nothing():
    assert explained_spread(trials(lambda _, n: n / 24))["midpass_fine"] == 0


def test_values_that_are_all_alike_are_explained_by_nothing():
    assert not any(explained_spread(trials(lambda *_: 0.3)).values())


def test_the_rules_of_the_base_are_worth_nothing_beside_themselves():
    lost = worth_of_rules(
        measure(BASE), BASE, BASE, truth_of(), target_specificity=0.9, what="both"
    )
    assert set(lost.values()) == {0.0}


def test_a_rule_that_ruins_a_setting_is_told():
    measured, truth = measure(BASE), truth_of()
    strict = replace(BASE, texture_high=3.0)  # the base lets polyps pass, this does not
    best, base = BASE, strict
    lost = worth_of_rules(measured, best, base, truth, target_specificity=0.9, what="both")
    assert lost["texture_high"] is not None
    assert lost["texture_high"] > 0.2


def test_a_rule_that_does_not_fit_the_others_has_no_worth():
    best = replace(BASE, threshold_low=0.03, threshold_high=0.09)
    lost = worth_of_rules(
        measure(BASE), best, BASE, truth_of(), target_specificity=0.9, what="both"
    )
    assert lost["threshold_low"] is None  # M_L = 0.11 of the base is above M_U = 0.09
    assert not np.isnan(lost["size_low"] or 0.0)
