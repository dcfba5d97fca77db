"""``capsieve evaluate``."""

import json

import numpy as np
import pytest

from support.commands import assert_failed
from support.results import write_results

LABELS = "exam,frame,label,polyp,patient\na,0,polyp,1,p\na,1,normal,,p\na,2,other,,p\na,3,wart,,p\n"


@pytest.fixture
def study(tmp_path):
    write_results(tmp_path / "results" / "a", score=np.array([50.0, 0.0, 40.0, 0.0]))
    (tmp_path / "labels.csv").write_text(LABELS)
    return tmp_path


def evaluate(run, study, *more):
    usual = ("--labels", study / "labels.csv", "-o", study / "out", "--bootstrap-samples", "100")
    return run("evaluate", study / "results", *usual, "--no-galleries", *more)


def test_the_path_of_the_report_is_printed_last(run, study):
    result = evaluate(run, study)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith(str(study / "out" / "report.html"))


def test_the_reading_of_the_paper_is_named(run, study):
    assert "as printed" in evaluate(run, study).stdout.splitlines()[0]
    metrics = json.loads((study / "out" / "metrics.json").read_text())
    assert metrics["detector"]["preset"] == "printed"


def test_a_threshold_that_does_not_act_is_named(run, study):
    assert "R_P = 37 does not act" in evaluate(run, study).stderr
    assert "does not act" not in evaluate(run, study, "--threshold", "41").stderr


def test_unknown_labels_are_reported_on_stderr(run, study):
    assert "wart" in evaluate(run, study).stderr


def test_json_is_the_metrics_file_and_nothing_else(run, study):
    result = evaluate(run, study, "--json")
    content = json.loads(result.stdout)
    assert content == json.loads((study / "out" / "metrics.json").read_text())
    assert "frames.sensitivity" in {metric["key"] for metric in content["metrics"]}


@pytest.mark.parametrize(
    "more",
    [
        ("--specificity", "0.9"),  # a proportion is not accepted as percent
        ("--bootstrap-samples", "5"),
        ("--train-patient", "p", "--splits", "x"),
        ("--label-format", "foo"),
        ("--threshold", "nan"),
        ("--read", "0.1"),
        ("--read", "10%", "--threshold", "3"),
        ("--train-patient", "q"),
        ("--train-patient", "p"),
        ("--baseline", "results"),
    ],
)
def test_wrong_usage_is_exit_code_2(run, study, more, monkeypatch):
    monkeypatch.chdir(study)
    assert_failed(evaluate(run, study, *more), more[0], code=2)
    assert not (study / "out").exists()


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--regions", "nowhere"), "nowhere"),
        (("--splits", "nowhere"), "nowhere"),
        (("--baseline", "nowhere"), "nowhere"),
    ],
)
def test_a_failure_names_its_cause_in_one_line(run, study, more, named):
    assert_failed(evaluate(run, study, *more), named)
    assert not (study / "out").exists()


def test_a_table_of_scores_is_evaluated(run, study):
    (study / "scores.csv").write_text("exam,frame,score\na,0,0.9\na,1,0.2\na,2,0.1\n")
    usual = ("--labels", study / "labels.csv", "-o", study / "out", "--bootstrap-samples", "100")
    result = run("evaluate", study / "scores.csv", *usual, "--threshold", "0.5")
    assert result.exit_code == 0, result.output
    assert "1 of 1" in result.stdout


def test_a_table_without_scores_is_refused(run, study):
    labels = study / "labels.csv"
    result = run("evaluate", labels, "--labels", labels, "-o", study / "out")
    assert_failed(result, labels)


def test_the_summary_names_the_operating_point_that_was_used(run, study):
    assert "37" in evaluate(run, study).stdout.splitlines()[2]
    assert "45" in evaluate(run, study, "--threshold", "45").stdout.splitlines()[2]


def test_an_exam_keeps_its_report(run, study):
    exam = study / "results" / "a"
    (exam / "report.html").write_text("the report of the exam")
    result = run("evaluate", exam, "--labels", study / "labels.csv", "-o", exam)
    assert_failed(result, exam)
    assert (exam / "report.html").read_text() == "the report of the exam"
    assert not (exam / "tables").exists()


def test_a_file_in_the_place_of_the_folder_is_wrong_usage(run, study):
    (study / "out").touch()
    assert evaluate(run, study).exit_code == 2


def test_outlines_of_which_none_fits_are_refused(run, study):
    boxes = {
        "images": [{"id": 1, "file_name": "z.png", "width": 512, "height": 512}],
        "categories": [{"id": 1, "name": "polyp"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9]}],
    }
    (study / "boxes.json").write_text(json.dumps(boxes))
    result = evaluate(run, study, "--regions", study / "boxes.json")
    assert_failed(result, "boxes.json")


def test_a_comparison_with_a_baseline_is_printed(run, study):
    write_results(study / "other" / "a", score=np.array([0.0, 50.0, 40.0, 0.0]))
    result = evaluate(run, study, "--baseline", study / "other")
    assert result.exit_code == 0, result.output
    assert "Difference" in result.stdout
