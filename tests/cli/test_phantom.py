"""``capsieve phantom``."""

import csv
import json

import pytest

TINY = ("--patients", "1", "--frames", "3", "--polyps", "1", "--size", "64", "--workers", "1")


def test_a_small_study_is_rendered(run, tmp_path):
    out = tmp_path / "study"
    options = ("--format", "png", "--text", "--surround", "blue", "--heads", "2", "--depth")
    result = run("phantom", "-o", out, *TINY, *options)
    assert result.exit_code == 0, result.output
    assert len(list((out / "exams" / "patient-1").glob("*.png"))) == 6
    assert len(list((out / "truth" / "patient-1" / "depth").glob("*.png"))) == 6
    with (out / "labels.csv").open(newline="") as file:
        found = [(row["exam"], row["head"], row["frame"]) for row in csv.DictReader(file)]
    assert found == [("patient-1", head, frame) for frame in "012" for head in "01"]
    assert json.loads((out / "study.json").read_text())["complete"] is True


@pytest.mark.parametrize(
    "arguments", [(), ("--patients", "2"), ("--study", "huge"), ("--seed", "x")]
)
def test_missing_or_unknown_options_are_wrong_usage(run, tmp_path, arguments):
    assert run("phantom", "-o", tmp_path / "study", *arguments).exit_code == 2
    assert not (tmp_path / "study").exists()


def test_a_folder_with_other_files_is_exit_code_1(run, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    assert run("phantom", "-o", tmp_path, *TINY, "--overwrite").exit_code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_overwrite_replaces_another_study(run, tmp_path):
    assert run("phantom", "-o", tmp_path, *TINY).exit_code == 0
    assert run("phantom", "-o", tmp_path, *TINY, "--seed", "1").exit_code == 1
    assert run("phantom", "-o", tmp_path, *TINY, "--seed", "1", "--overwrite").exit_code == 0
    assert json.loads((tmp_path / "study.json").read_text())["seed"] == 1
