import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from capsieve import FrameError, ParameterError, Parameters
from made_parameters import NAMES, OPEN, REAL, SWITCHES, WHOLE, parameters, refused, widths

# The paper's table


def test_defaults_are_those_of_the_papers_table() -> None:
    assert Parameters().to_dict() == {
        "width": 256,
        "mask_radius": 0.45,
        "texture_iterations": 5,
        "texture_sigma": 5.0,
        "energy_sigma": None,
        "energy_power": 0.8,
        "texture_low": 3.0,
        "texture_high": 8.0,
        "midpass_fine": 7.0,
        "midpass_coarse": 30.0,
        "threshold_low": 0.11,
        "threshold_high": 0.16,
        "size_low": None,
        "size_high": None,
        "eccentricity_max": 6.5,
        "radius_threshold": 37,
        "channel": "gray",
        "vignetting": True,
        "extension_slope": 1.0,
        "score_threshold": None,
    }


@pytest.mark.parametrize("field", dataclasses.fields(Parameters), ids=lambda field: field.name)
def test_every_field_has_a_symbol_and_a_meaning(field: dataclasses.Field[Any]) -> None:
    assert field.metadata["symbol"]
    assert field.metadata["meaning"]


def test_no_two_fields_share_a_symbol() -> None:
    symbols = [each.metadata["symbol"] for each in dataclasses.fields(Parameters)]
    symbols = [symbol for symbol in symbols if symbol != "-"]
    assert len(symbols) == len(set(symbols))


def test_fields_are_given_by_name_only() -> None:
    with pytest.raises(TypeError):
        Parameters(256)  # pyright: ignore[reportCallIssue]


def test_parameters_cannot_be_changed_afterwards() -> None:
    parameters = Parameters()
    with pytest.raises(dataclasses.FrozenInstanceError):
        parameters.width = 128  # pyright: ignore[reportAttributeAccessIssue]


def test_replacing_a_field_checks_it_too() -> None:
    assert dataclasses.replace(Parameters(), width=128).width == 128
    with pytest.raises(ParameterError, match="width"):
        dataclasses.replace(Parameters(), width=0)


def test_equal_parameters_are_one_key() -> None:
    assert {Parameters(): 1}[Parameters(width=256)] == 1


# Numbers that follow from the width


def test_derived_values_at_the_papers_width() -> None:
    derived = Parameters().derived
    assert derived.mask_radius == pytest.approx(115.2)
    assert derived.energy_sigma == 11
    assert derived.size_low == 292
    assert derived.size_high == 3237
    assert derived.radius_search == 85
    assert derived.smallest_side == 30


@given(widths)
def test_derived_values_follow_the_formulas_exactly(width: int) -> None:
    derived = Parameters(width=width, energy_sigma=None).derived
    assert derived.mask_radius == pytest.approx(0.45 * width)
    assert derived.energy_sigma == math.ceil(Fraction(width, 25))
    assert derived.size_low == math.ceil(Fraction(width, 15) ** 2)
    assert derived.size_high == math.ceil((Fraction(width) / Fraction("4.5")) ** 2)
    assert derived.radius_search == math.floor(Fraction(width, 3))


@pytest.mark.parametrize("width", [45, 90, 180, 450])
def test_whole_numbers_are_not_rounded_up(width: int) -> None:
    derived = Parameters(width=width).derived
    assert derived.size_low == (width // 15) ** 2
    assert derived.size_high == (2 * width // 9) ** 2


@given(widths)
def test_what_is_set_wins_over_the_formula(width: int) -> None:
    derived = Parameters(width=width, energy_sigma=2.5, size_low=7, size_high=8).derived
    assert (derived.energy_sigma, derived.size_low, derived.size_high) == (2.5, 7, 8)


@pytest.mark.parametrize(
    ("values", "side"),
    [
        ({}, 30),
        ({"midpass_coarse": 30.5}, 32),
        ({"texture_sigma": 20.0}, 40),
        ({"texture_sigma": 19.1}, 40),
        ({"energy_sigma": 50.2}, 52),
        ({"width": 1000}, 40),
        (
            {
                "texture_sigma": 0,
                "energy_sigma": 0,
                "midpass_fine": 0.5,
                "midpass_coarse": 1,
            },
            16,
        ),
    ],
)
def test_the_smallest_side_fits_every_stencil(values: dict[str, Any], side: int) -> None:
    assert Parameters(**values).derived.smallest_side == side


# Types


@pytest.mark.parametrize("name", [*WHOLE, *REAL])
@pytest.mark.parametrize("value", ["5", True, [5], 5j, np.array([5])])
def test_numbers_must_be_numbers(name: str, value: object) -> None:
    assert refused(name, **{name: value}).startswith("must be a number, not ")


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", [5.0, 5.5, math.inf, math.nan, np.float64(5)])
def test_whole_numbers_must_be_whole(name: str, value: float) -> None:
    assert refused(name, **{name: value}).startswith("must be a whole number, not ")


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, np.float32("inf"), 10**400])
def test_numbers_must_be_finite(name: str, value: float) -> None:
    assert refused(name, **{name: value}).startswith("must be finite, not ")


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("value", [1, 0, "true", None])
def test_switches_are_true_or_false(name: str, value: object) -> None:
    assert refused(name, **{name: value}).startswith("must be true or false, not ")


@pytest.mark.parametrize("value", ["grey", "GRAY", "", None, 1, ["gray"]])
def test_the_channel_is_one_of_three(value: object) -> None:
    assert refused("channel", channel=value).startswith("must be one of 'gray', 'red', 'lab-a'")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OPEN])
def test_only_what_follows_from_elsewhere_may_be_left_open(name: str) -> None:
    refused(name, **{name: None})


@pytest.mark.parametrize("name", OPEN)
def test_what_follows_from_elsewhere_may_be_left_open(name: str) -> None:
    assert getattr(Parameters.from_dict({name: None}), name) is None


@pytest.mark.parametrize("value", [6, np.int64(6), np.float32(6), np.float64(6), Fraction(6)])
def test_real_fields_become_floats(value: Any) -> None:
    given = Parameters(texture_sigma=value)
    assert type(given.texture_sigma) is float
    assert given == Parameters(texture_sigma=6.0)


@pytest.mark.parametrize("value", [np.int64(128), np.uint16(128)])
def test_whole_fields_become_ints(value: Any) -> None:
    given = Parameters(width=value, size_low=value)
    assert (type(given.width), type(given.size_low)) == (int, int)
    assert Parameters.from_toml(given.to_toml()) == given


# Bounds: the values on either side of each


@pytest.mark.parametrize(
    ("name", "inside", "outside", "rule"),
    [
        ("width", [30, 4096], [-1, 0, 4097], "between 1 and 4096"),
        (
            "width",
            [30],
            [29],
            "at least 30 so that the filters fit (midpass_coarse 30, energy_sigma 2, "
            "texture_sigma 5)",
        ),
        ("mask_radius", [0.0079, 0.5], [-0.1, 0, 0.0077, 0.501], "between 0.00781 and 0.5"),
        ("texture_iterations", [0, 100], [-1, 101], "between 0 and 100"),
        ("texture_sigma", [0, 0.01, 100], [-0.1, 1e-200], "0 (no smoothing), or 0.01 to 4096"),
        ("energy_sigma", [0, 256], [-0.1, 1e-160], "0 (no smoothing), or 0.01 to 4096"),
        ("energy_power", [1e-9, 4], [-1, 0, 4.1], "above 0 and at most 4"),
        ("texture_low", [0, 8], [-0.1], "0 or more"),
        ("texture_high", [3], [2.9, -1], "at least texture_low (3)"),
        ("midpass_fine", [0.01, 29.9], [0, 1e-200, -1], "at least 0.01"),
        ("midpass_fine", [29.9], [30, 31], "below midpass_coarse (30)"),
        ("threshold_low", [1e-9, 0.159], [0, -1], "above 0"),
        ("threshold_high", [0.111], [0.11, 0.1, -1], "above threshold_low (0.11)"),
        ("size_low", [1, 3237], [0, -1], "1 or more"),
        ("size_high", [292], [291, 0, -1], "at least size_low (292)"),
        ("eccentricity_max", [1], [0.99, -1], "1 or more"),
        ("radius_threshold", [1, 85, 10_000], [0, -1, 10_001], "between 1 and 10000"),
        ("extension_slope", [-1, 0, 255], [-256, 1e38], "between -255 and 255"),
    ],
)
def test_bounds(name: str, inside: list[Any], outside: list[Any], rule: str) -> None:
    for value in inside:
        assert getattr(Parameters(**{name: value}), name) == value
    for value in outside:
        assert refused(name, **{name: value}) == f"must be {rule}, not {_as_stored(name, value)!r}"


def _as_stored(name: str, value: float) -> float:
    return float(value) if name in REAL else value


@pytest.mark.parametrize(
    ("values", "name", "message"),
    [
        ({"texture_low": 9}, "texture_high", "must be at least texture_low (9), not 8.0"),
        ({"midpass_coarse": 7}, "midpass_fine", "must be below midpass_coarse (7), not 7.0"),
        ({"midpass_coarse": -1}, "midpass_fine", "must be below midpass_coarse (-1), not 7.0"),
        ({"threshold_low": 0.16}, "threshold_high", "must be above threshold_low (0.16), not 0.16"),
        ({"size_low": 4000}, "size_low", "must be at most size_high (3237), not 4000"),
        (
            {"midpass_coarse": 300},
            "width",
            "must be at least 300 so that the filters fit (midpass_coarse 300, energy_sigma 11, "
            "texture_sigma 5), not 256",
        ),
        (
            {"texture_sigma": 21, "width": 41},
            "width",
            "must be at least 42 so that the filters fit (midpass_coarse 30, energy_sigma 2, "
            "texture_sigma 21), not 41",
        ),
    ],
)
def test_fields_must_agree_with_each_other(values: dict[str, Any], name: str, message: str) -> None:
    assert refused(name, **values) == message


@given(parameters())
def test_valid_parameters_derive_sensible_numbers(given: Parameters) -> None:
    derived = given.derived
    assert 0 < derived.mask_radius <= given.width / 2
    assert 1 <= derived.size_low <= derived.size_high
    assert derived.radius_search >= 1
    assert 16 <= derived.smallest_side <= given.width


def test_the_smallest_side_is_what_the_compiled_filters_need():
    from capsieve.paper.gaussian import smoother
    from capsieve.paper.kernels.strips import STRIP

    assert Parameters(midpass_coarse=8, width=32).derived.smallest_side == STRIP
    for sigma in (19.0, 31.0, 46.5, 60.0):
        side = Parameters(midpass_coarse=sigma).derived.smallest_side
        smoother(side, side, sigma)  # fits
        with pytest.raises(FrameError):
            smoother(side - 1, side - 1, sigma)
