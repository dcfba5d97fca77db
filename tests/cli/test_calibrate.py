"""``capsieve calibrate``: what it prints, and how it fails."""

import json

import numpy as np
import pytest

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


def test_the_threshold_comes_first_and_the_way_to_use_it_last(run, study):
    result = calibrate(run, study, "--train-patient", "a")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("R_P = 25. The smallest R_P whose specificity on the 10 normal")
    assert result.stdout.splitlines()[-1].endswith(str(study / "out" / "calibrated.toml"))
    assert "Training part (optimistic)" in result.stdout
    assert "only 1 patient: too few for an interval" in result.stdout


def test_figures_of_the_frames_that_chose_are_called_optimistic_on_stderr(run, study):
    assert "they are optimistic" in calibrate(run, study).stderr
    assert "they are optimistic" not in calibrate(run, study, "--train-patient", "a").stderr


@pytest.mark.parametrize(
    ("more", "threshold"),
    [
        (("--specificity", "90"), 25),
        (("--frames", "1"), 51),
        (("--sensitivity", "50"), 50),
    ],
)
def test_each_target_chooses_its_threshold(run, study, more, threshold):
    content = json.loads(calibrate(run, study, *more, "--json").stdout)
    assert content["threshold"]["value"] == threshold
    assert f"--{content['target']['kind']}" == more[0]


def test_json_is_the_file_and_nothing_else(run, study):
    result = calibrate(run, study, "--json")
    assert result.stdout == (study / "out" / "calibration.json").read_text()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--specificity", "0.9"), "1<=x<=100"),  # a share is not taken for percent
        (("--sensitivity", "101"), "1<=x<=100"),
        (("--frames", "0"), "x>0"),
        (("--frames", "3", "--specificity", "90"), "say one"),
        (("--splits", "x", "--train-patient", "p"), "say one"),
        (("another",), "another"),
    ],
)
def test_wrong_usage_is_exit_code_2(run, study, more, words):
    result = calibrate(run, study, *more)
    assert result.exit_code == 2
    assert words in result.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--sensitivity", "51"), "2 (50 %) are the most that can be found"),
        (("--frames", "nan"), "frames"),
        (("--train-patient", "z"), "they name a, b"),
        (("--splits", "nowhere"), "nowhere"),
        (("--layout", "foo"), "foo"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_1(run, study, more, words):
    result = calibrate(run, study, *more)
    assert result.exit_code == 1
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (study / "out").exists()


def test_the_folder_of_an_exam_is_left_alone(run, study):
    result = calibrate(run, study, "-o", study / "results" / "a")
    assert result.exit_code == 1
    assert "screened exam" in result.stderr


def test_out_of_fold_results_lead_to_the_trained_model(run, tmp_path):
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
    assert f"--detector {tmp_path / 'mine.onnx'} --parameters" in result.stdout.splitlines()[-1]
    assert "each fold was scored by a model of its own, none of which is kept" in result.stderr
    assert "--detector forest" not in result.output + (tmp_path / "out/calibrated.toml").read_text()
