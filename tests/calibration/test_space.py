"""The search space: complete, valid, and around the printed values."""

from dataclasses import fields, replace

import numpy as np
import pytest

from capsieve.calibration.space import (
    CHOICES,
    DEAR,
    FIXED,
    FREE,
    NO_LIMIT,
    base_rules,
    bounds_of,
    geometry_of,
    levels_of,
    texture_of,
    values_of,
)
from capsieve.parameters import Parameters

BASE = Parameters()


def test_every_field_is_searched_or_says_why_not():
    names = {each.name for each in fields(Parameters)}
    assert names == {*CHOICES, *FIXED}
    assert not CHOICES.keys() & FIXED.keys()


@pytest.mark.parametrize("choice", DEAR, ids=lambda choice: choice.name)
def test_the_printed_value_of_a_dear_field_is_among_its_values(choice):
    printed = getattr(BASE, choice.name) or getattr(BASE.derived, choice.name, False)
    assert printed in choice.values


@pytest.mark.parametrize("choice", [c for c in (*DEAR, *FREE) if c.ordered], ids=lambda c: c.name)
def test_numbers_grow(choice):
    assert list(choice.values) == sorted(set(choice.values))


@pytest.mark.parametrize("choice", DEAR, ids=lambda choice: choice.name)
def test_every_value_of_a_dear_field_is_a_valid_parameter(choice):
    for value in choice.values:
        replace(BASE, **{choice.name: value})


def test_the_rules_of_the_base_are_its_own():
    rules = base_rules(BASE, BASE)
    assert replace(BASE, **rules).derived == BASE.derived
    assert {name: rules[name] for name in rules if "size" not in name} == {
        name: getattr(BASE, name) for name in rules if "size" not in name
    }


def test_thresholds_follow_the_contrast_of_the_channel():
    lab = replace(BASE, channel="lab-a")
    assert base_rules(lab, BASE)["threshold_low"] < BASE.threshold_low / 4
    assert base_rules(BASE, lab)["threshold_low"] > 4 * lab.threshold_low
    assert max(levels_of(lab, BASE).values) < max(levels_of(BASE, BASE).values)


def test_another_texture_lets_every_frame_pass_at_first():
    rules = base_rules(replace(BASE, energy_power=0.5), BASE)
    assert (rules["texture_low"], rules["texture_high"]) == (0.0, NO_LIMIT)


def test_texture_rules_are_shares_of_the_frames_that_are_searched():
    few, many = np.linspace(0, 1, 101), np.linspace(0, 10, 101)
    low = values_of("texture_low", replace(BASE, energy_power=0.5), BASE, few)
    high = values_of("texture_low", replace(BASE, energy_power=0.5), BASE, many)
    assert np.allclose(10 * np.array(low), high)
    assert values_of("texture_high", BASE, BASE, few)[-1] == NO_LIMIT


def test_sizes_follow_the_width():
    wide = Parameters(width=512)
    assert bounds_of(wide).size_low == 4 * bounds_of(BASE).size_low


def test_bounds_hold_every_rule():
    odd = Parameters(size_low=7, size_high=20_000, eccentricity_max=30.0)
    bounds = bounds_of(odd)
    assert (bounds.size_low, bounds.size_high, bounds.eccentricity_max) == (7, 20_000, 30.0)


def test_rules_do_not_change_what_is_measured():
    other = replace(BASE, threshold_low=0.05, size_low=100, texture_high=20.0, radius_threshold=3)
    assert geometry_of(other, BASE) == geometry_of(BASE, BASE)
    assert texture_of(other, BASE) == texture_of(BASE, BASE)


def test_texture_and_geometry_are_measured_apart():
    other = replace(BASE, energy_power=0.5)
    assert geometry_of(other, BASE) == geometry_of(BASE, BASE)
    assert texture_of(other, BASE) != texture_of(BASE, BASE)
    other = replace(BASE, midpass_fine=5.0)
    assert geometry_of(other, BASE) != geometry_of(BASE, BASE)
    assert texture_of(other, BASE) == texture_of(BASE, BASE)


def test_the_formula_and_its_value_are_one_texture():
    assert texture_of(replace(BASE, energy_sigma=11.0), BASE) == BASE
