"""``capsieve model show``."""

import json

import pytest

from capsieve.learned import detector
from capsieve.learned.card import ModelCard
from capsieve.learned.model_file import write_model
from capsieve.learned.spec import ModelSpec
from made_models import (
    CARD,
    brightness_model,
    foreign_file,
    own_file,
    two_input_model,
    two_input_spec,
)
from made_models import spec as made_spec

TOML = """
threshold = 0.5
[image]
input = "image"
size = 32
colour = "rgb"
scale = 1.0
[output]
name = "logit"
kind = "logit"
"""


@pytest.fixture
def own(tmp_path):
    return own_file(tmp_path / "model.onnx", two_input_model(), two_input_spec())


@pytest.fixture
def foreign(tmp_path):
    return foreign_file(tmp_path / "foreign.onnx", brightness_model(), TOML)


def test_the_card_is_printed(run, own):
    result = run("model", "show", own)
    assert result.exit_code == 0
    assert result.stderr == ""
    for words in (
        "tiny (cnn)",
        "Trained 2026-01-02 with capsieve 0.1, seed 3.",
        "Limit: Research software, not a medical device.",
        "calibrated for 10 %",
        "BSD-3-Clause",
        "20 polyp, 100 normal",
        "Never on both sides of a split: exams (6).",
        "Performance (out of fold)",
        "0.910",
        "image.size",
        "brightness",
        "ab" * 32,
    ):
        assert words in result.stdout


def test_a_figure_without_a_value_is_a_dash(run, own):
    (line,) = [
        line
        for line in run("model", "show", own).stdout.splitlines()
        if "sensitivity per polyp" in line
    ]
    assert line.split()[-4:] == ["–"] * 4


def test_json_contains_spec_and_card(run, own):
    result = run("model", "show", own, "--json")
    content = json.loads(result.stdout)
    assert ModelSpec.from_json(json.dumps(content["spec"])) == two_input_spec()
    assert ModelCard.from_json(json.dumps(content["card"])) == CARD
    assert (content["runs"], content["problem"]) == (True, "")
    assert content["bytes"] == own.stat().st_size


def test_a_missing_card_is_reported(run, foreign):
    result = run("model", "show", foreign)
    assert result.exit_code == 0
    assert "It has no card" in result.stdout
    assert json.loads(run("model", "show", foreign, "--json").stdout)["card"] is None


def test_a_model_that_does_not_run_is_reported_with_the_reason(run, foreign):
    toml = foreign.with_suffix(".toml")
    toml.write_text(TOML.replace("size = 32", "size = 64"))
    result = run("model", "show", foreign)
    assert result.exit_code == 0
    assert "it cannot be run here" in result.stderr
    assert "32 x 32" in result.stderr
    assert json.loads(run("model", "show", foreign, "--json").stdout)["runs"] is False


@pytest.mark.parametrize("content", [None, b"", b"text", b"\x80\x04abc"])
def test_another_file_is_refused_with_one_line(run, tmp_path, content):
    path = tmp_path / "model.onnx"
    if content is not None:
        path.write_bytes(content)
    result = run("model", "show", path)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("capsieve: ")
    assert result.stderr.count("\n") == 1


def test_the_shipped_model_has_a_name(run, own, monkeypatch, tmp_path):
    monkeypatch.setattr(detector, "SHIPPED", own)
    monkeypatch.chdir(tmp_path)
    assert "tiny (cnn)" in run("model", "show", "learned").stdout


def test_the_name_of_the_shipped_model_wins_over_a_folder(run, own, monkeypatch, tmp_path):
    monkeypatch.setattr(detector, "SHIPPED", own)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "learned").mkdir()
    assert "tiny (cnn)" in run("model", "show", "learned").stdout
    assert run("model", "show", "./learned").exit_code == 1


def test_control_characters_of_the_card_are_not_printed(run, tmp_path):
    path = tmp_path / "model.onnx"
    card = CARD.model_copy(update={"name": "\x1b[31mred\x1b[0m", "intended_use": "a\x07b"})
    write_model(path, brightness_model(), made_spec(), card)
    printed = run("model", "show", path).stdout
    assert "\x1b" not in printed
    assert "\x07" not in printed
