"""``capsieve phantom``."""

import pytest


def test_a_small_study_is_rendered(run, tmp_path):
    out = tmp_path / "study"
    wanted = ("--patients", "1", "--frames", "3", "--polyps", "1", "--size", "64", "--workers", "1")
    result = run("phantom", "-o", out, *wanted, "--format", "png", "--text", "--surround", "blue")
    assert result.exit_code == 0, result.output
    assert "1 exams, 3 frames" in result.stdout
    assert len(list((out / "exams" / "patient-1").glob("*.png"))) == 3
    assert (out / "labels.csv").read_text().count("\n") == 4


@pytest.mark.parametrize(
    "arguments", [(), ("--patients", "2"), ("--study", "huge"), ("--seed", "x")]
)
def test_what_is_missing_or_unknown_is_wrong_usage(run, tmp_path, arguments):
    assert run("phantom", "-o", tmp_path / "study", *arguments).exit_code == 2
    assert not (tmp_path / "study").exists()


def test_a_folder_of_something_else_is_exit_code_1(run, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    wanted = ("--patients", "1", "--frames", "1", "--polyps", "0", "--size", "64")
    result = run("phantom", "-o", tmp_path, *wanted)
    assert result.exit_code == 1
    assert "not empty" in result.stderr
