"""``capsieve calibrate``."""

import json

import numpy as np
import pytest

from support.commands import assert_failed
from support.results import write_results


@pytest.fixture
def study(tmp_path):
    """Two patients, each with a polyp that scores 50 and one that was rejected."""
    rows = ["exam,frame,label,polyp,patient"]
    for exam in ("a", "b"):
        score = np.array([50.0, 60.0, *range(10, 26, 2), 0.0, 0.0])
        write_results(tmp_path / "results" / exam, score=score)
        rows += [f"{exam},0,polyp,1,{exam}", *(f"{exam},{n},normal,,{exam}" for n in range(1, 11))]
        rows.append(f"{exam},11,polyp,2,{exam}")
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def calibrate(run, study, *more):
    usual = ("--labels", study / "labels.csv", "-o", study / "out", "--rounds", "100")
    return run("calibrate", study / "results", *usual, *more)


def content(study):
    return json.loads((study / "out" / "calibration.json").read_text())


def test_the_threshold_is_printed_first_and_the_path_of_its_file_last(run, study):
    result = calibrate(run, study, "--train-patient", "a")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("R_P = 25")
    assert result.stdout.splitlines()[-1].endswith(str(study / "out" / "calibrated.toml"))
    portions = content(study)["portions"]
    assert [(each["key"], each["optimistic"]) for each in portions] == [
        ("train", True),
        ("test", False),
    ]


def test_without_a_test_part_the_figures_are_optimistic_and_a_warning_is_printed(run, study):
    assert "--splits" in calibrate(run, study).stderr
    assert [each["optimistic"] for each in content(study)["portions"]] == [True]
    assert len(content(study)["warnings"]) == 1
    assert calibrate(run, study, "--train-patient", "a").stderr == ""
    assert content(study)["warnings"] == []


@pytest.mark.parametrize(
    ("more", "threshold"),
    [
        (("--specificity", "90"), 25),
        (("--frames", "1"), 51),
        (("--sensitivity", "50"), 50),
    ],
)
def test_each_target_chooses_its_threshold(run, study, more, threshold):
    printed = json.loads(calibrate(run, study, *more, "--json").stdout)
    assert printed["threshold"]["value"] == threshold
    assert f"--{printed['target']['kind']}" == more[0]


def test_json_prints_the_content_of_the_file_only(run, study):
    result = calibrate(run, study, "--json")
    assert result.stdout == (study / "out" / "calibration.json").read_text()


@pytest.mark.parametrize(
    "more",
    [
        ("--specificity", "0.9"),  # a fraction; the option is in percent
        ("--sensitivity", "101"),
        ("--frames", "0"),
        ("--frames", "3", "--specificity", "90"),
        ("--splits", "x", "--train-patient", "p"),
        ("another",),
    ],
)
def test_wrong_usage_has_exit_code_2(run, study, more):
    assert_failed(calibrate(run, study, *more), more[0], code=2)
    assert not (study / "out").exists()


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--sensitivity", "51"), "sensitivity"),
        (("--frames", "nan"), "frames"),
        (("--train-patient", "z"), "'z'"),
        (("--splits", "nowhere"), "nowhere"),
        (("--layout", "foo"), "foo"),
    ],
)
def test_a_failure_names_its_cause_in_one_line(run, study, more, named):
    assert_failed(calibrate(run, study, *more), named)
    assert not (study / "out").exists()


def test_the_folder_of_an_exam_is_not_written_to(run, study):
    exam = study / "results" / "a"
    before = sorted(exam.iterdir())
    assert_failed(calibrate(run, study, "-o", exam), exam)
    assert sorted(exam.iterdir()) == before


def test_out_of_fold_results_name_the_trained_model(run, tmp_path):
    work = tmp_path / "mine.onnx.work"
    (tmp_path / "mine.onnx").touch()
    rows = ["exam,frame,label,polyp,patient"]
    detector = {
        "name": "forest",
        "out of fold": True,
        "threshold": 0.5,
        "trained model": "mine.onnx",
    }
    for exam in ("a", "b"):
        score = np.array([0.9, *np.linspace(0.1, 0.6, 11)])
        folder, record = work / "out-of-fold" / exam, {"detector": detector}
        write_results(folder, score=score, threshold=0.5, record=record)
        rows += [f"{exam},0,polyp,1,{exam}", *(f"{exam},{n},normal,,{exam}" for n in range(1, 12))]
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    usual = ("--labels", tmp_path / "labels.csv", "-o", tmp_path / "out", "--rounds", "100")
    result = run("calibrate", work / "out-of-fold", *usual)
    assert result.exit_code == 0, result.output
    assert f"--detector {tmp_path / 'mine.onnx'} --threshold 0." in result.stdout.splitlines()[-1]
    assert len(result.stderr.splitlines()) >= 1
    assert "--detector forest" not in result.output
    assert not (tmp_path / "out" / "calibrated.toml").exists()
