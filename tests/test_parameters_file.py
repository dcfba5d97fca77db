"""Parameters as names and values, as TOML and as a file."""

import dataclasses
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve import FileError, ParameterError, Parameters
from capsieve.parameters import PARAMETERS_SCHEMA
from made_parameters import FROM_THE_WIDTH, NAMES, parameters

# Names and values


@given(parameters())
def test_names_and_values_come_back_unchanged(given: Parameters) -> None:
    assert list(given.to_dict()) == NAMES
    assert Parameters.from_dict(given.to_dict()) == given


def test_what_is_not_named_keeps_the_papers_value() -> None:
    assert Parameters.from_dict({"width": 128}) == Parameters(width=128)
    assert Parameters.from_dict({}) == Parameters()


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
def test_an_unknown_name_is_answered_with_the_nearest(name: str, nearest: str) -> None:
    for build in (
        lambda: Parameters.from_dict({name: 1}),
        lambda: Parameters.from_toml(f"{name} = 1"),
    ):
        with pytest.raises(ParameterError, match=f"did you mean '{nearest}'") as caught:
            build()
        assert caught.value.field == name


@given(st.text().filter(lambda name: name not in NAMES))
def test_every_unknown_name_is_answered_with_a_known_one(name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Parameters.from_dict({name: 1})
    assert any(str(caught.value).endswith(f"did you mean {known!r}?") for known in NAMES)


# TOML


@given(parameters())
def test_toml_comes_back_unchanged(given: Parameters) -> None:
    assert Parameters.from_toml(given.to_toml()) == given


def test_the_file_carries_its_schema() -> None:
    assert tomllib.loads(Parameters().to_toml())["schema"] == PARAMETERS_SCHEMA == 1


@pytest.mark.parametrize("schema", ["0", "2", "1.0", "true", '"1"', "[1]"])
def test_another_schema_is_refused(schema: str) -> None:
    with pytest.raises(ParameterError, match="this version reads schema 1, not") as caught:
        Parameters.from_toml(f"schema = {schema}\nwidth = 128")
    assert caught.value.field == "schema"


def test_a_file_without_a_schema_is_read() -> None:
    assert Parameters.from_toml("width = 128") == Parameters(width=128)


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_the_file_tells_symbol_and_meaning(name: str) -> None:
    lines = [line for line in Parameters().to_toml().splitlines() if f"{name} = " in line]
    field = {each.name: each for each in dataclasses.fields(Parameters)}[name]
    assert len(lines) == 1
    assert f"# {field.metadata['symbol']}: {field.metadata['meaning']}" in lines[0]


def test_values_from_the_width_are_shown_but_not_set() -> None:
    text = Parameters().to_toml()
    for line in ("# energy_sigma = 11.0", "# size_low = 292", "# size_high = 3237"):
        assert line in text
    assert not set(FROM_THE_WIDTH) & set(tomllib.loads(text))


@pytest.mark.parametrize("text", ["width", "width = ", "= 3", "[", "width = 1\nwidth = 2"])
def test_what_is_not_toml_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="not a valid TOML text"):
        Parameters.from_toml(text)


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
def test_the_values_of_a_file_are_checked(text: str, name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Parameters.from_toml(text)
    assert caught.value.field == name


def test_a_file_comes_back_unchanged(tmp_path: Path) -> None:
    given = Parameters(width=128, channel="red", size_low=10)
    given.save(tmp_path / "parameters.toml")
    assert Parameters.load(tmp_path / "parameters.toml") == given
    assert Parameters.load(str(tmp_path / "parameters.toml")) == given


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    absent = tmp_path / "absent.toml"
    with pytest.raises(FileError, match=r"cannot read .*absent\.toml: No such file"):
        Parameters.load(absent)
    with pytest.raises(FileError, match=r"cannot read .*: Is a directory"):
        Parameters.load(tmp_path)


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "picture.toml"
    path.write_bytes(b"\x89PNG\xff")
    with pytest.raises(FileError, match=r"picture\.toml: it is not UTF-8 text"):
        Parameters.load(path)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot write .*parameters\.toml: there is no folder"):
        Parameters().save(tmp_path / "absent" / "parameters.toml")


def test_an_error_in_a_file_names_the_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("midpass_fine = 40.0")
    with pytest.raises(ParameterError, match=r"midpass_fine: must be below .*mine\.toml") as caught:
        Parameters.load(path)
    assert caught.value.field == "midpass_fine"
