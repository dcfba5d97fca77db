"""Calibration: results and labels in, a threshold and its files out."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import capsieve
from capsieve import LeakError, ParameterError, Parameters
from support.calibration import calibrate
from support.exams import read_frames, write_exam_images
from support.paper_study import write_paper_study
from support.results import write_results

NAMES = ("calibrated.toml", "calibration.json", "calibration.csv", "calibration.md")


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """Results and labels with the counts of the paper."""
    return write_paper_study(tmp_path_factory.mktemp("paper"))


def write_rows(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Twenty patients in four folds; a quarter of each exam has no label."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(1)
    rows, parts = [], []
    for number in range(20):
        exam = f"exam-{number}"
        score = np.rint(rng.normal(25 + number % 7, 10, 80)).clip(0, 85)
        score[:6] += 12
        write_results(folder / "results" / exam, score=score, time_s=np.arange(80) / 2)
        for frame in range(60):
            label, polyp = ("polyp", frame // 3) if frame < 6 else ("normal", "")
            key = {"exam": exam, "frame": frame}
            rows.append(key | {"label": label, "polyp": polyp, "patient": number})
            parts.append(key | {"part": number % 4 + 1})
    labels = write_rows(folder / "labels.csv", rows)
    return folder / "results", labels, write_rows(folder / "folds.csv", parts)


def test_the_papers_training_patient_gives_the_papers_threshold_and_figures(paper):
    found = calibrate(*paper, train_patients=["4"])
    assert found.parameters == Parameters(radius_threshold=37)
    assert f"{found.metric('frames.train.specificity').value:.0%}" == "91%"
    test = found.metric("frames.test.specificity")
    assert (test.numerator, test.denominator) == (18738 - 1837 - (8567 - 767), 18738 - 8567)
    assert [portion.optimistic for portion in found.portions] == [True, False]


def test_with_five_patients_the_reason_replaces_the_interval(paper):
    threshold = calibrate(*paper).metric("choice.threshold")
    assert threshold.intervals[0].low is None
    assert "5 patients" in threshold.intervals[0].why


def test_the_threshold_and_the_cross_fitted_figures_agree_with_the_evaluation(study):
    results, labels, folds = study
    found = calibrate(results, labels, splits=folds)
    evaluation = capsieve.evaluate(results, labels, splits=folds, rounds=100)
    fitted = next(point for point in evaluation.points if point.key == "fitted")
    assert found.threshold == fitted.threshold
    for key in ("frames.cross-fitted.specificity", "polyps.cross-fitted.sensitivity"):
        mine, theirs = found.metric(key), evaluation.metric(key)
        assert (mine.numerator, mine.denominator) == (theirs.numerator, theirs.denominator)
    rows = evaluation.table("cross-fitted")
    assert dict(zip(rows.column("fold"), rows.column("threshold"), strict=True)) == dict(
        found.fold_thresholds
    )


def test_frames_to_read_include_frames_without_a_label(study):
    results, labels, folds = study
    found = calibrate(results, labels, splits=folds, frames=12)
    scores = np.concatenate(
        [read_frames(folder)["score"].to_numpy() for folder in results.iterdir()]
    )
    counts = [np.count_nonzero(scores >= found.threshold + step) / 20 for step in (0, -1)]
    assert counts[0] <= 12 < counts[1]
    assert found.metric("effort.all.frames_per_exam").value == counts[0]
    assert found.metric("effort.cross-fitted.frames_per_exam").value is not None


def test_the_threshold_and_the_target_have_intervals(study):
    results, labels, _ = study
    found = calibrate(results, labels, sensitivity=0.8)
    low, high = (getattr(found.metric("choice.threshold").intervals[0], n) for n in ("low", "high"))
    assert low <= found.threshold <= high
    assert low < high
    assert (found.metric("polyps.all.sensitivity").value or 0) >= 0.8
    assert (found.metric("choice.new").intervals[0].low or 1) < 0.8


def test_the_files_are_reproducible(study, tmp_path):
    results, labels, folds = study
    for out in ("one", "two"):
        calibrate(results, labels, tmp_path / out, splits=folds)
    for name in (*NAMES, "calibration.tex"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    content = json.loads((tmp_path / "one" / "calibration.json").read_text())
    assert content["schema"] == 1
    assert all(metric["definition"] for metric in content["metrics"])
    assert [portion["optimistic"] for portion in content["portions"]] == [True, False]


def test_the_toml_contains_the_threshold_and_how_it_was_chosen(study, tmp_path):
    results, labels, folds = study
    found = calibrate(results, labels, tmp_path, splits=folds)
    text = (tmp_path / "calibrated.toml").read_text()
    assert Parameters.load(tmp_path / "calibrated.toml") == found.parameters
    assert found.parameters == replace(found.base, radius_threshold=int(found.threshold))
    comment = " ".join(line.removeprefix("#").strip() for line in text.splitlines())
    assert found.how in comment
    assert not re.search(r"\b20\d\d-\d\d", text)


def test_a_path_with_a_line_break_stays_in_the_comment(study, tmp_path):
    results, labels, _ = study
    odd = tmp_path / "la\nradius_threshold = 1\nbels.csv"
    odd.write_bytes(labels.read_bytes())
    found = calibrate(results, odd, tmp_path / "out")
    assert Parameters.load(tmp_path / "out" / "calibrated.toml") == found.parameters


def test_without_a_split_the_figures_are_optimistic(study, tmp_path):
    results, labels, _ = study
    found = calibrate(results, labels, tmp_path)
    assert [portion.optimistic for portion in found.portions] == [True]
    assert any("--splits" in warning for warning in found.warnings)
    for name in ("calibrated.toml", "calibration.md"):
        assert "optimistic" in (tmp_path / name).read_text()


@pytest.mark.slow
def test_screening_with_the_file_flags_the_frames_from_the_threshold_on(tmp_path):
    exam = write_exam_images(tmp_path / "exam", 40)
    capsieve.screen([exam], tmp_path / "before", workers=1)
    before = read_frames(tmp_path / "before" / "exam")
    rows = [{"exam": "exam", "frame": frame, "label": "normal"} for frame in range(before.num_rows)]
    labels = write_rows(tmp_path / "labels.csv", rows)
    found = calibrate(tmp_path / "before", labels, tmp_path / "out", frames=7)
    parameters = Parameters.load(tmp_path / "out" / "calibrated.toml")
    capsieve.screen([exam], tmp_path / "after", parameters=parameters, workers=1)
    after = read_frames(tmp_path / "after" / "exam")
    expected = before["score"].to_numpy() >= found.threshold
    assert 0 < expected.sum() <= 7
    assert found.threshold != found.base.radius_threshold
    assert np.array_equal(after["flagged"].to_numpy(), expected)


def test_frames_per_exam_cannot_be_the_target_if_exams_are_split(study, tmp_path):
    results, labels, _ = study
    rows = [
        {"exam": f"exam-{exam}", "frame": frame, "part": ("train", "test")[frame >= 30]}
        for exam in range(20)
        for frame in range(60)
    ]
    torn = write_rows(tmp_path / "torn.csv", rows)
    with pytest.raises(LeakError):
        calibrate(results, labels, splits=torn)
    with pytest.raises(ParameterError) as raised:
        calibrate(results, labels, splits=torn, frames=5, allow_leaks=True)
    assert raised.value.field == "frames"
    found = calibrate(results, labels, splits=torn, allow_leaks=True)
    assert found.leaks
    assert found.metric("effort.test.frames_per_exam").value is None


def test_results_of_another_detector_get_a_score_threshold(tmp_path):
    score = np.arange(1, 101) / 300
    record = {"detector": {"name": "learned"}}
    write_results(tmp_path / "results" / "a", score=score, threshold=0.5, record=record)
    rows = [{"exam": "a", "frame": frame, "label": "normal"} for frame in range(100)]
    found = calibrate(tmp_path / "results", write_rows(tmp_path / "l.csv", rows), tmp_path / "out")
    assert np.count_nonzero(score >= found.threshold) == 10
    assert found.threshold == 0.303  # between 90 / 300 and 91 / 300
    assert found.parameters == found.base
    assert not (tmp_path / "out" / "calibrated.toml").exists()
    assert found.screened == 0.5


def test_a_threshold_that_flags_nothing_is_a_warning(tmp_path):
    write_results(tmp_path / "results" / "a", score=np.array([40.0, 30.0, 0.0]))
    rows = [{"exam": "a", "frame": frame, "label": "normal"} for frame in range(3)]
    labels = write_rows(tmp_path / "l.csv", rows)
    found = calibrate(tmp_path / "results", labels, specificity=1.0)
    assert found.threshold == 41
    assert any("R_P = 41" in warning for warning in found.warnings)
