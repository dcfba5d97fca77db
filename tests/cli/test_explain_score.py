"""``capsieve explain --detector``: the evidence of a detector other than the paper's."""

import json

import pytest

import capsieve
from capsieve import Parameters
from fake_detector import FakeDetector


@pytest.fixture(autouse=True)
def learned(monkeypatch):
    """The fake stands for the shipped model."""

    def load(name, *, parameters):
        assert name == "learned"
        return FakeDetector(parameters)

    monkeypatch.setattr(capsieve, "load_detector", load)


@pytest.mark.parametrize(("threshold", "verdict"), [(0.01, "Polyp: "), (0.99, "Normal: ")])
def test_the_verdict_comes_first_and_then_what_weighed_most(
    run, frame_file, tmp_path, threshold, verdict
):
    file = tmp_path / "mine.toml"
    Parameters(score_threshold=threshold).save(file)
    result = run("explain", frame_file, "--detector", "learned", "--parameters", file)
    assert result.exit_code == 0
    first, place, *weights = result.stdout.splitlines()
    assert first.startswith(f"{verdict}the probability of a polyp is ")
    assert first.endswith(f" {100 * threshold:g}.0 %.")
    assert place.startswith("It points at row ")
    assert len(weights) == 2
    assert "R_max" not in result.stdout


def test_the_picture_is_written_and_the_same_again(run, frame_file, tmp_path):
    for name in ("one.png", "two.png"):
        result = run("explain", frame_file, "--detector", "learned", "-o", tmp_path / name)
        assert result.exit_code == 0
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


def test_json_holds_score_values_and_weights(run, frame_file):
    result = run("explain", frame_file, "--detector", "learned", "--json")
    content = json.loads(result.stdout)
    assert content["score"] == pytest.approx(content["values"]["brightness"] / 255)
    assert content["threshold"] == 0.4
    assert {weight["name"] for weight in content["weights"]} == {"brightness", "contrast"}
