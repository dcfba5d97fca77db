"""Parameters: defaults, derived numbers, types, bounds, TOML files."""

import dataclasses
import math
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve import FileError, ParameterError, Parameters
from capsieve.parameters import PARAMETERS_SCHEMA, PRESETS

NAMES = [each.name for each in dataclasses.fields(Parameters)]
FROM_THE_WIDTH = ["energy_sigma", "size_low", "size_high"]
WHOLE = ["width", "texture_iterations", "size_low", "size_high", "radius_threshold"]
REAL = [name for name in NAMES if name not in [*WHOLE, "vignetting", "channel", "ball_fit"]]

widths = st.integers(30, 4096)  # wide enough for the default filters


@st.composite
def parameters(draw: st.DrawFn) -> Parameters:
    """Any valid parameters."""
    coarse = draw(st.floats(0.5, 200))
    texture_sigma = draw(st.just(0.0) | st.floats(0.01, 100))
    energy_sigma = draw(st.none() | st.just(0.0) | st.floats(0.01, 200))
    stencil = draw(st.floats(1, 3))
    smallest = [2 * texture_sigma + 2, stencil * (energy_sigma or 0), stencil * coarse, 64]
    low, high = sorted(draw(st.tuples(st.floats(0, 100), st.floats(0, 100))))
    threshold = draw(st.floats(1e-6, 10))
    sizes = draw(st.none() | st.tuples(st.integers(1, 10**6), st.integers(0, 10**6)))
    return Parameters(
        width=draw(st.integers(math.ceil(max(smallest)), 4096)),
        mask_radius=draw(st.floats(0.125, 0.5)),
        ball_fit=draw(st.sampled_from(["printed", "feature", "hemisphere"])),
        stencil=stencil,
        texture_iterations=draw(st.integers(0, 100)),
        texture_sigma=texture_sigma,
        energy_sigma=energy_sigma,
        energy_power=draw(st.floats(1e-6, 4)),
        texture_low=low,
        texture_high=high,
        midpass_fine=draw(st.floats(0.01, coarse, exclude_max=True)),
        midpass_coarse=coarse,
        threshold_low=threshold,
        threshold_high=threshold * draw(st.floats(1.001, 100)),
        size_low=None if sizes is None else sizes[0],
        size_high=None if sizes is None else sum(sizes),
        eccentricity_max=draw(st.floats(1, 1e6)),
        radius_threshold=draw(st.integers(1, 10**4)),
        channel=draw(st.sampled_from(["gray", "red", "lab-a"])),
        vignetting=draw(st.booleans()),
        extension_slope=draw(st.floats(-255, 255)),
    )


def assert_rejected(name: str, **values: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        Parameters(**values)
    assert caught.value.field == name


def test_defaults_are_the_papers_table() -> None:
    assert Parameters().to_dict() == {
        "width": 256,
        "mask_radius": 0.45,
        "ball_fit": "printed",
        "stencil": 1.0,
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
    }


def test_inferred_parameters_differ_in_the_ball_and_the_stencil_only() -> None:
    inferred, printed = Parameters.inferred().to_dict(), Parameters().to_dict()
    differing = {name: inferred[name] for name in NAMES if inferred[name] != printed[name]}
    assert differing == {"ball_fit": "hemisphere", "stencil": 3.0}
    assert Parameters.inferred(width=300, stencil=2).to_dict() == {
        **inferred,
        "width": 300,
        "stencil": 2.0,
    }
    with pytest.raises(ParameterError, match="did you mean 'stencil'"):
        Parameters.inferred(stensil=2)


@pytest.mark.parametrize("name", ["printed", "inferred"])
def test_presets_are_found_by_their_name(name: str) -> None:
    assert PRESETS[name].preset == name


@pytest.mark.parametrize(
    ("values", "preset"),
    [
        ({"width": 300, "radius_threshold": 60}, "printed"),
        ({"ball_fit": "hemisphere", "stencil": 3, "size_low": 300}, "inferred"),
        ({"ball_fit": "hemisphere"}, "custom"),
        ({"stencil": 3.0}, "custom"),
        ({"ball_fit": "feature"}, "custom"),
    ],
)
def test_preset_depends_on_the_ball_and_the_stencil_only(values: Any, preset: str) -> None:
    assert Parameters(**values).preset == preset


def test_every_field_has_a_meaning_and_a_symbol_of_its_own() -> None:
    metadata = [each.metadata for each in dataclasses.fields(Parameters)]
    assert all(each["meaning"] for each in metadata)
    symbols = [each["symbol"] for each in metadata if each["symbol"] != "-"]
    assert len(symbols) == len(set(symbols)) > 10


def test_fields_are_given_by_name_only() -> None:
    with pytest.raises(TypeError):
        Parameters(256)  # pyright: ignore[reportCallIssue]


def test_parameters_are_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Parameters().width = 128  # pyright: ignore[reportAttributeAccessIssue]


def test_replaced_field_is_checked_and_derived_anew() -> None:
    paper = Parameters()
    assert paper.derived.size_low == 292
    assert dataclasses.replace(paper, width=128).derived.size_low == 73
    with pytest.raises(ParameterError, match="width"):
        dataclasses.replace(paper, width=0)


def test_equal_parameters_have_the_same_hash() -> None:
    used = Parameters()
    assert used.derived
    assert {used: 1}[Parameters(width=256)] == 1


def test_derived_values_at_width_256() -> None:
    derived = Parameters().derived
    assert derived.mask_radius == pytest.approx(115.2)
    assert derived.energy_sigma == 11
    assert (derived.size_low, derived.size_high) == (292, 3237)
    assert derived.radius_search == 85
    assert derived.smallest_side == 30


@given(widths)
def test_derived_values_follow_the_formulas_exactly(width: int) -> None:
    derived = Parameters(width=width).derived
    assert derived.mask_radius == pytest.approx(0.45 * width)
    assert derived.energy_sigma == math.ceil(Fraction(width, 25))
    assert derived.size_low == math.ceil(Fraction(width, 15) ** 2)
    assert derived.size_high == math.ceil((Fraction(width) / Fraction("4.5")) ** 2)
    assert derived.radius_search == math.floor(Fraction(width, 3))


@pytest.mark.parametrize("width", [45, 90, 180, 450])
def test_whole_sizes_are_not_rounded_up(width: int) -> None:
    derived = Parameters(width=width).derived
    assert (derived.size_low, derived.size_high) == ((width // 15) ** 2, (2 * width // 9) ** 2)


@given(widths)
def test_set_values_replace_the_formulas(width: int) -> None:
    derived = Parameters(width=width, energy_sigma=2.5, size_low=7, size_high=8).derived
    assert (derived.energy_sigma, derived.size_low, derived.size_high) == (2.5, 7, 8)


@pytest.mark.parametrize(
    ("values", "side"),
    [
        ({}, 30),
        ({"midpass_coarse": 30.5}, 31),
        ({"texture_sigma": 19.1}, 40),
        ({"energy_sigma": 50.2}, 51),
        ({"width": 1000}, 40),
        ({"stencil": 3.0}, 90),
        ({"stencil": 1.1}, 33),
        ({"stencil": 3.0, "texture_sigma": 46}, 92),
    ],
)
def test_smallest_side_is_the_largest_half_width_of_a_filter(values: Any, side: int) -> None:
    assert Parameters(**values).derived.smallest_side == side


@given(parameters())
def test_valid_parameters_have_valid_derived_values(given: Parameters) -> None:
    derived = given.derived
    assert 0 < derived.mask_radius <= given.width / 2
    assert 1 <= derived.size_low <= derived.size_high
    assert derived.radius_search >= 1
    assert 1 <= derived.smallest_side <= given.width


@pytest.mark.parametrize("name", [*WHOLE, *REAL])
@pytest.mark.parametrize("value", ["5", True, [5], 5j, np.array([5])])
def test_numbers_must_be_numbers(name: str, value: object) -> None:
    assert_rejected(name, **{name: value})


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", [5.0, 5.5, math.inf, math.nan, np.float64(5), 10**400])
def test_whole_numbers_must_be_whole(name: str, value: float) -> None:
    assert_rejected(name, **{name: value})


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, np.float32("inf"), 10**400])
def test_numbers_must_be_finite(name: str, value: float) -> None:
    assert_rejected(name, **{name: value})


@pytest.mark.parametrize("value", [1, 0, "true", None])
def test_vignetting_is_true_or_false(value: object) -> None:
    assert_rejected("vignetting", vignetting=value)


@pytest.mark.parametrize("value", ["grey", "GRAY", "", None, 1, ["gray"]])
def test_channel_is_one_of_three(value: object) -> None:
    assert_rejected("channel", channel=value)


@pytest.mark.parametrize("value", ["Printed", "sphere", "", None, 1, ["printed"]])
def test_ball_fit_is_one_of_three(value: object) -> None:
    assert_rejected("ball_fit", ball_fit=value)


@pytest.mark.parametrize("name", NAMES)
def test_only_values_with_a_formula_may_be_none(name: str) -> None:
    if name in FROM_THE_WIDTH:
        assert getattr(Parameters.from_dict({name: None}), name) is None
    else:
        assert_rejected(name, **{name: None})


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


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("width", [30, 4096], [-1, 0, 29, 4097]),
        ("mask_radius", [0.0079, 0.5], [-0.1, 0, 0.0077, 0.501]),
        ("stencil", [1, 3], [0, -1, 0.99, 3.01]),
        ("texture_iterations", [0, 100], [-1, 101]),
        ("texture_sigma", [0, 0.01, 100], [-0.1, 1e-200]),
        ("energy_sigma", [0, 256], [-0.1, 1e-160]),
        ("energy_power", [1e-9, 4], [-1, 0, 4.1]),
        ("texture_low", [0, 8], [-0.1]),
        ("texture_high", [3], [2.9, -1]),
        ("midpass_fine", [0.01, 29.9], [0, 1e-200, -1, 30, 31]),
        ("threshold_low", [1e-9, 0.159], [0, -1]),
        ("threshold_high", [0.111], [0.11, 0.1, -1]),
        ("size_low", [1, 3237], [0, -1, 4000]),
        ("size_high", [292], [291, 0, -1]),
        ("eccentricity_max", [1], [0.99, -1]),
        ("radius_threshold", [1, 85, 10_000], [0, -1, 10_001]),
        ("extension_slope", [-1, 0, 255], [-256, 1e38]),
    ],
)
def test_bounds(name: str, inside: list[Any], outside: list[Any]) -> None:
    for value in inside:
        assert getattr(Parameters(**{name: value}), name) == value
    for value in outside:
        assert_rejected(name, **{name: value})


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({"texture_low": 9}, "texture_high"),
        ({"midpass_coarse": 7}, "midpass_fine"),
        ({"midpass_coarse": -1}, "midpass_fine"),
        ({"threshold_low": 0.16}, "threshold_high"),
        ({"midpass_coarse": 300}, "width"),
        ({"texture_sigma": 21, "width": 41}, "width"),
        ({"stencil": 3, "width": 89}, "width"),
    ],
)
def test_contradicting_fields_are_rejected(values: dict[str, Any], name: str) -> None:
    assert_rejected(name, **values)


@given(parameters())
def test_dict_round_trip(given: Parameters) -> None:
    assert list(given.to_dict()) == NAMES
    assert Parameters.from_dict(given.to_dict()) == given


@given(parameters())
def test_toml_round_trip(given: Parameters) -> None:
    assert Parameters.from_toml(given.to_toml()) == given


def test_unnamed_fields_keep_the_papers_value() -> None:
    assert Parameters.from_dict({"width": 128}) == Parameters(width=128)
    assert Parameters.from_toml("") == Parameters()


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("widht", "width"),
        ("maskradius", "mask_radius"),
        ("threshold_lo", "threshold_low"),
        ("eccentricity", "eccentricity_max"),
        ("chanel", "channel"),
    ],
)
def test_misspelled_name_gets_the_nearest_one(name: str, nearest: str) -> None:
    with pytest.raises(ParameterError, match=f"did you mean '{nearest}'") as caught:
        Parameters.from_dict({name: 1})
    assert caught.value.field == name


@pytest.mark.parametrize("name", ["foo", "", "zzz"])
def test_unrelated_name_gets_no_suggestion(name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Parameters.from_dict({name: 1})
    assert caught.value.field == name
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("schema", ["0", "2", "1.0", "true", '"1"', "[1]"])
def test_other_schema_is_rejected(schema: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Parameters.from_toml(f"schema = {schema}\nwidth = 128")
    assert caught.value.field == "schema"


def test_toml_has_the_schema_and_every_symbol() -> None:
    text = Parameters().to_toml()
    assert tomllib.loads(text)["schema"] == PARAMETERS_SCHEMA
    for each in dataclasses.fields(Parameters):
        (line,) = [line for line in text.splitlines() if f"{each.name} = " in line]
        assert f"# {each.metadata['symbol']}: {each.metadata['meaning']}" in line


def test_values_from_the_width_are_comments_in_toml() -> None:
    text = Parameters().to_toml()
    assert "# size_low = 292" in text
    assert not set(FROM_THE_WIDTH) & set(tomllib.loads(text))


@pytest.mark.parametrize("text", ["width", "width = ", "= 3", "[", "width = 1\nwidth = 2"])
def test_invalid_toml_is_rejected(text: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Parameters.from_toml(text)
    assert caught.value.field == "TOML"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("width = 128.0", "width"),
        ("texture_sigma = inf", "texture_sigma"),
        (f"texture_sigma = 1{'0' * 400}", "texture_sigma"),
        ("vignetting = 1", "vignetting"),
        ("channel = 1", "channel"),
        ("width = 2020-01-01", "width"),
        ("[width]\nvalue = 1", "width"),
    ],
)
def test_values_in_toml_are_checked(text: str, name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Parameters.from_toml(text)
    assert caught.value.field == name


def test_file_round_trip(tmp_path: Path) -> None:
    given = Parameters.inferred(width=128, channel="red", size_low=10)
    given.save(tmp_path / "parameters.toml")
    assert Parameters.load(tmp_path / "parameters.toml") == given
    assert Parameters.load(str(tmp_path / "parameters.toml")) == given


def test_errors_of_files_name_the_file(tmp_path: Path) -> None:
    picture, wrong = tmp_path / "picture.toml", tmp_path / "wrong.toml"
    picture.write_bytes(b"\x89PNG\xff")
    wrong.write_text("midpass_fine = 40.0")
    for path in (tmp_path / "absent.toml", tmp_path, picture):
        with pytest.raises(FileError, match=path.name):
            Parameters.load(path)
    with pytest.raises(FileError, match=r"absent.parameters\.toml"):
        Parameters().save(tmp_path / "absent" / "parameters.toml")
    with pytest.raises(ParameterError, match=r"wrong\.toml") as caught:
        Parameters.load(wrong)
    assert caught.value.field == "midpass_fine"
