"""One parameter changed: the paper's values, rounding, and what is refused."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.parameters import Parameters
from capsieve.statistics.perturbation import (
    PARAMETERS,
    parameter_named,
    perturbed,
    plan_changes,
)

PAPER = Parameters()


@pytest.mark.parametrize(
    ("symbol", "more", "less"),
    [
        ("sigma_1", 8, 6),
        ("sigma_2", 33, 27),
        ("M_L", 0.121, 0.099),
        ("M_U", 0.176, 0.144),
        ("S_L", 322, 262),
        ("S_U", 3561, 2913),
        ("E_max", 7.15, 5.85),
        ("R_P", 41, 33),
        ("T_L", 3.3, 2.7),
        ("sigma", 13, 9),
        ("n_iter", 6, 4),
    ],
)
def test_ten_percent_more_and_less_of_the_papers_values(symbol, more, less) -> None:
    field = parameter_named(symbol)
    assert getattr(perturbed(PAPER, symbol, 1.1), field) == more
    assert getattr(perturbed(PAPER, symbol, 0.9), field) == less


@pytest.mark.parametrize("name", PARAMETERS)
def test_only_the_named_parameter_changes(name) -> None:
    changed = perturbed(PAPER, name, 1.1)
    moved = {
        each.name
        for each in fields(Parameters)
        if getattr(changed, each.name) != getattr(PAPER, each.name)
    }
    assert moved == {name}


def test_a_size_from_the_width_is_changed_as_the_number_that_it_is() -> None:
    half = Parameters(width=128, midpass_coarse=20)
    assert half.size_low is None
    assert half.derived.size_low == 73
    assert perturbed(half, "size_low", 1.1).size_low == 81  # 80.3


def test_a_sigma_that_is_not_whole_stays_as_it_is() -> None:
    assert perturbed(replace(PAPER, midpass_fine=6.5), "sigma1", 1.1).midpass_fine == 7.15


@given(
    factor=st.sampled_from([0.5, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25]),
    size=st.integers(1, 3000),
)
def test_whole_numbers_always_change_and_by_less_than_one_too_much(factor, size) -> None:
    base = replace(PAPER, size_low=size, size_high=100_000)
    if size == 1 and factor < 1:  # 0 pixels are no size
        with pytest.raises(ParameterError, match="cannot become 0"):
            perturbed(base, "S_L", factor)
        return
    value = perturbed(base, "S_L", factor).size_low
    assert value is not None
    assert value != size
    assert (value > size) == (factor > 1)
    assert abs(value - size * factor) < 1


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("midpass_fine", "midpass_fine"),
        ("sigma1", "midpass_fine"),
        ("Sigma_2", "midpass_coarse"),
        ("m_l", "threshold_low"),
        ("E_max", "eccentricity_max"),
        ("e-max", "eccentricity_max"),
        ("R_mask", "mask_radius"),
        ("Nx", "width"),
        ("q", "extension_slope"),
        ("sigma", "energy_sigma"),
    ],
)
def test_parameters_go_by_field_or_symbol(name, field) -> None:
    assert parameter_named(name) == field


@pytest.mark.parametrize(
    ("name", "near"), [("radius_treshold", "radius_threshold"), ("Size_Lo", "size_low")]
)
def test_a_misspelt_name_is_refused_with_the_nearest(name, near) -> None:
    with pytest.raises(ParameterError, match=f"did you mean '{near}'"):
        parameter_named(name)


@pytest.mark.parametrize("name", ["", "-", "foo"])
def test_a_name_like_no_other_is_refused_with_all_names(name) -> None:
    with pytest.raises(ParameterError) as caught:
        parameter_named(name)
    assert "did you mean" not in str(caught.value)
    assert "midpass_fine" in str(caught.value)
    assert "channel" not in str(caught.value)


@pytest.mark.parametrize("name", ["channel", "vignetting"])
def test_what_is_no_number_is_refused(name) -> None:
    with pytest.raises(ParameterError, match="no number"):
        perturbed(PAPER, name, 1.1)


def test_a_value_that_the_rules_forbid_is_refused_and_the_rule_named() -> None:
    near = replace(PAPER, threshold_low=0.15)
    with pytest.raises(ParameterError, match=r"threshold_low: cannot become 0.165, .*above"):
        perturbed(near, "M_L", 1.1)


def test_no_change_at_all_is_refused() -> None:
    with pytest.raises(ParameterError, match="no change"):
        perturbed(replace(PAPER, extension_slope=0.0), "q", 1.1)


@pytest.mark.parametrize("factor", [1.0, 0.0, -1.0, float("nan"), float("inf")])
def test_what_is_no_factor_is_refused(factor) -> None:
    with pytest.raises(ParameterError, match="factor"):
        perturbed(PAPER, "M_L", factor)


def test_the_plan_has_every_parameter_by_every_percentage() -> None:
    plan = plan_changes(PAPER)
    assert [(change.symbol, change.value) for change in plan if change.percent == 10] == [
        ("sigma1", 8),
        ("sigma2", 33),
        ("M_L", 0.121),
        ("M_U", 0.176),
        ("S_L", 322),
        ("S_U", 3561),
        ("E_max", 7.15),
    ]
    assert [change.percent for change in plan] == [10, -10] * 7
    assert len({change.parameters for change in plan}) == 14


def test_a_parameter_named_twice_is_changed_once() -> None:
    assert len(plan_changes(PAPER, ["sigma1", "midpass_fine", "S_L"], [5, 5])) == 2


def test_a_forbidden_change_stays_in_the_plan_and_says_why() -> None:
    impossible, possible = plan_changes(PAPER, ["M_L"], [50, 10])
    assert impossible.parameters is None
    assert impossible.value is None
    assert "cannot become 0.165" in impossible.why
    assert possible.value == 0.121


def test_a_plan_without_a_possible_change_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"not a single change is possible: threshold_low"):
        plan_changes(PAPER, ["M_L"], [50, 100])


@pytest.mark.parametrize("percent", [0.0, -100.0, -250.0, float("nan"), float("inf")])
def test_a_percentage_that_is_no_change_is_refused(percent) -> None:
    with pytest.raises(ParameterError, match="percentage above -100 and not 0"):
        plan_changes(PAPER, ["M_L"], [percent])
