"""``capsieve search``."""

import csv
import json

import pytest

from capsieve.parameters import Parameters
from support.commands import assert_failed
from support.exams import write_exam_images


@pytest.fixture
def study(tmp_path):
    """Two short exams: polyp frames and normal frames."""
    rows = []
    for exam in "ab":
        write_exam_images(tmp_path / "exams" / exam, 12)
        for number in range(12):
            label = "polyp" if number < 6 else "normal"
            rows.append([exam, f"frame{number}.png", label, exam])
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["exam", "file", "label", "patient"], *rows])
    return tmp_path


def search(run, study, *more):
    usual = ("--labels", study / "labels.csv", "-o", study / "out", "--workers", "1", "--quiet")
    return run("search", study / "exams", *usual, "--folds", "2", "--settings", "4", *more)


def test_it_prints_held_out_figures_and_the_path_of_the_parameters(run, study):
    result = search(run, study)
    assert result.exit_code == 0, result.output
    path = study / "out" / "best.toml"
    assert result.stdout.splitlines()[-1].endswith(str(path))
    best = json.loads((study / "out" / "search.json").read_text())["best"]
    assert Parameters.load(path).radius_threshold == best["radius_threshold"]
    printed = json.loads(search(run, study, "--json").stdout)
    assert printed == json.loads((study / "out" / "search.json").read_text())


def test_a_frame_that_does_not_decode_is_named_and_exit_code_1(run, study):
    (study / "exams" / "a" / "frame8.png").write_bytes(b"rubbish")
    result = search(run, study)
    assert result.exit_code == 1
    assert "a/frame8.png" in result.stderr
    assert (study / "out" / "best.toml").exists()


@pytest.mark.parametrize(
    "more",
    [
        ("--frames", "3"),
        ("--train-patient", "p"),
        ("--settings", "1"),
        ("--specificity", "0.9"),
        ("--folds", "1"),
        ("--folds", "3"),  # there are two patients
    ],
)
def test_wrong_usage_has_exit_code_2(run, study, more):
    assert_failed(search(run, study, *more), more[0], code=2)
    assert not (study / "out").exists()


def test_another_seed_needs_another_folder(run, study):
    assert search(run, study).exit_code == 0
    assert_failed(search(run, study, "--seed", "1"), study / "out")
    assert search(run, study, "--seed", "1", "--overwrite").exit_code == 0
