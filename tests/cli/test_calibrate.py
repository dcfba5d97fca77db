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
    usual = ("--labels", study / "labels.csv", "-o", study / "out", "--bootstrap-samples", "100")
    return run("calibrate", study / "results", *usual, *more)


def content(study):
    return json.loads((study / "out" / "calibration.json").read_text())


def test_the_threshold_is_printed_first_and_the_path_of_its_file_last(run, study):
    result = calibrate(run, study, "--train-patient", "a")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("R_P = 25")
    assert result.stdout.splitlines()[-1].endswith(str(study / "out" / "calibrated.toml"))
    assert content(study)["optimistic"] == ["train"]
    assert {metric["subset"] for metric in content(study)["metrics"]} == {"train", "test"}


def test_without_a_test_part_a_warning_is_printed(run, study):
    assert "--splits" in calibrate(run, study).stderr
    assert "--splits" not in calibrate(run, study, "--train-patient", "a").stderr


@pytest.mark.parametrize(
    ("more", "value"),
    [
        (("--specificity", "90"), 25),
        (("--sensitivity", "50"), 50),
        (("--sensitivity", "50", "--rule", "share"), 0.1),
    ],
)
def test_each_target_chooses_its_value(run, study, more, value):
    printed = json.loads(calibrate(run, study, *more, "--json").stdout)
    assert printed["value"] == pytest.approx(value, abs=0.08 if value < 1 else 0)
    assert f"--{printed['target']['kind']}" == more[0]
    assert printed["rule"] == ("share" if "--rule" in more else "threshold")


def test_a_share_is_printed_as_the_option_of_screen(run, study):
    result = calibrate(run, study, "--rule", "share")
    option = content(study)["screen_option"]
    assert option.startswith("--read ")
    assert option.endswith("%")
    assert option.split()[1] in result.stdout.splitlines()[0]
    assert 'rule = "share"' in (study / "out" / "calibrated.toml").read_text()


def test_json_prints_the_content_of_the_file_only(run, study):
    assert json.loads(calibrate(run, study, "--json").stdout) == content(study)


@pytest.mark.parametrize(
    "more",
    [
        ("--specificity", "0.9"),  # a fraction; the option is in percent
        ("--sensitivity", "101"),
        ("--sensitivity", "80", "--specificity", "90"),
        ("--train-patient", "p", "--splits", "x"),
        ("--label-format", "foo"),
        ("--rule", "neither"),
        ("--sensitivity", "51"),  # it cannot be reached
        ("another",),
    ],
)
def test_wrong_usage_has_exit_code_2(run, study, more):
    assert_failed(calibrate(run, study, *more), more[0], code=2)
    assert not (study / "out").exists()


@pytest.mark.parametrize(
    ("more", "named"),
    [(("--splits", "nowhere"), "nowhere")],
)
def test_a_failure_names_its_cause_in_one_line(run, study, more, named):
    assert_failed(calibrate(run, study, *more), named)
    assert not (study / "out").exists()


def test_the_folder_of_an_exam_is_not_written_to(run, study):
    exam = study / "results" / "a"
    before = sorted(exam.iterdir())
    labels = study / "labels.csv"
    assert_failed(run("calibrate", study / "results", "--labels", labels, "-o", exam), exam)
    assert sorted(exam.iterdir()) == before


def test_scores_of_another_program_are_calibrated(run, tmp_path):
    rows = [f"a,{n},{n / 100}" for n in range(100)]
    (tmp_path / "scores.csv").write_text("\n".join(["exam,frame,score", *rows]) + "\n")
    labels = [f"a,{n},{'polyp' if n % 10 == 9 else 'normal'}" for n in range(100)]
    (tmp_path / "labels.csv").write_text("\n".join(["exam,frame,label", *labels]) + "\n")
    usual = ("--labels", tmp_path / "labels.csv", "-o", tmp_path / "out")
    result = run("calibrate", tmp_path / "scores.csv", *usual)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith("--threshold 0.89")
