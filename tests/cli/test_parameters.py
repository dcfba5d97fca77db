"""``capsieve parameters``."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import capsieve
from capsieve import Parameters
from capsieve.parameters import PRESETS
from support.commands import assert_failed


def test_the_printed_toml_gives_the_default_parameters(run):
    result = run("parameters")
    assert result.exit_code == 0
    assert Parameters.from_toml(result.stdout) == Parameters()


@pytest.mark.parametrize("name", ["printed", "inferred"])
def test_presets_are_printed_and_written_by_name(run, tmp_path, name):
    assert Parameters.from_toml(run("parameters", "--preset", name).stdout) == PRESETS[name]
    assert run("parameters", "--preset", name, "-o", tmp_path / "mine.toml").exit_code == 0
    assert Parameters.load(tmp_path / "mine.toml") == PRESETS[name]


def test_an_unknown_preset_is_a_usage_error(run):
    assert run("parameters", "--preset", "true").exit_code == 2


def test_commands_accept_a_preset_and_prefer_it_to_a_file_of_its_name(
    run, frame_file, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("inferred").write_text("width = 200\n")
    named, filed = (
        json.loads(run("explain", frame_file, "--json", "--parameters", given).stdout)
        for given in ("inferred", "./inferred")
    )
    pixels = np.asarray(Image.open(frame_file))
    for found, parameters in ((named, PRESETS["inferred"]), (filed, Parameters(width=200))):
        expected = capsieve.explain(pixels, parameters)
        assert found["radius_max"] == expected.radius_max
        assert found["texture_max"] == pytest.approx(expected.texture_max)
    assert named["texture_max"] != pytest.approx(filed["texture_max"])


def test_the_comments_contain_the_symbols_of_the_paper(run):
    text = run("parameters").stdout
    for symbol in ("Nx", "T_L", "T_U", "S_L", "S_U", "E_max", "R_P"):
        assert f"# {symbol}: " in text


def test_the_written_file_can_be_loaded(run, tmp_path):
    path = tmp_path / "mine.toml"
    result = run("parameters", "-o", path)
    assert result.exit_code == 0
    assert str(path) in result.stdout
    assert Parameters.load(path) == Parameters()


def test_a_missing_folder_is_reported(run, tmp_path):
    path = tmp_path / "absent" / "mine.toml"
    assert_failed(run("parameters", "-o", path), path)


def test_a_file_is_overwritten_only_with_force(run, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("width = 128\n")
    assert_failed(run("parameters", "-o", file), file, "--overwrite")
    assert file.read_text() == "width = 128\n"
    assert run("parameters", "-o", file, "--overwrite").exit_code == 0
    assert "width = 256" in file.read_text()
