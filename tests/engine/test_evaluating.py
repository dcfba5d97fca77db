"""``capsieve.evaluate``: results and labels in, figures and files out."""

import csv
import json
import re

import numpy as np
import pytest

import capsieve
from capsieve import FileError, LeakError, ParameterError
from support.paper_study import FALSE_POSITIVES, FOUND, LENGTHS, NORMALS, write_paper_study
from support.results import write_results
from support.unfinished import write_unfinished


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """The counts of the paper, evaluated as in the paper: trained on patient 4."""
    study = tmp_path_factory.mktemp("paper")
    results, labels = write_paper_study(study)
    out = study / "evaluation"
    return capsieve.evaluate(results, labels, out, train_patients=["4"], galleries=False), out


def test_the_papers_counts_give_the_papers_figures(paper):
    evaluation, _ = paper
    assert f"{evaluation.metric('frames.all.sensitivity').value:.1%}" == "47.4%"
    assert f"{evaluation.metric('polyps.all.sensitivity').value:.2%}" == "81.25%"
    assert f"{evaluation.metric('frames.all.specificity').value:.1%}" == "90.2%"
    assert f"{evaluation.metric('frames.train.specificity').value:.0%}" == "91%"
    assert f"{evaluation.metric('preselection.normal.passed').value:.2%}" == "47.84%"


def test_the_papers_threshold_is_chosen_on_its_training_patient(paper):
    evaluation, _ = paper
    assert (evaluation.points[0].key, evaluation.points[0].threshold) == ("chosen", 37.0)


def test_the_table_of_sequences_has_the_papers_lengths_and_detections(paper):
    table = paper[0].table("sequences")
    assert sorted(table.column("frames")) == sorted(LENGTHS)
    by_name = {
        int(name.split("/")[-1]): flag
        for name, flag in zip(table.column("polyp"), table.column("detected"), strict=True)
    }
    assert [by_name[number] for number in range(1, 17)] == [bool(flag) for flag in FOUND]


def test_the_false_positive_rates_of_the_paper_are_rounded_not_truncated(paper):
    table = paper[0].table("false-positives-per-patient")
    assert table.column("normal_frames") == list(NORMALS)
    assert table.column("false_positives") == list(FALSE_POSITIVES)
    rates = [f"{100 * rate:.1f}" for rate in table.column("false_positive_rate")]
    assert rates == ["8.1", "5.5", "14.4", "9.0", "7.6"]


def test_the_page_contains_the_figures_of_the_paper(paper):
    page = (paper[1] / "report.html").read_text(encoding="utf-8")
    for figure in ("367", "3,747", "47.4", "81.25", "90.2"):
        assert figure in page


def test_a_threshold_of_40_finds_the_same_polyps_with_the_papers_specificity(tmp_path):
    results, labels = write_paper_study(tmp_path)
    evaluation = capsieve.evaluate(results, labels, threshold=40)
    assert f"{evaluation.metric('frames.all.specificity').value:.2%}" == "93.47%"
    assert evaluation.metric("polyps.all.sensitivity").numerator == 13


def test_every_metric_in_the_file_has_a_definition_and_finite_numbers(paper):
    evaluation, out = paper
    content = json.loads((out / "metrics.json").read_text(), parse_constant=pytest.fail)
    assert {metric["key"] for metric in content["metrics"]} == {m.key for m in evaluation.metrics}
    assert len(content["metrics"]) == len(evaluation.metrics)
    assert all(metric["definition"] for metric in content["metrics"])


def test_every_table_is_written_in_three_formats(paper):
    evaluation, out = paper
    for table in evaluation.tables:
        for ending in ("csv", "md", "tex"):
            assert (out / "tables" / f"{table.key}.{ending}").stat().st_size > 0


def test_the_same_input_gives_the_same_bytes(paper, tmp_path):
    _, out = paper
    results, labels = out.parent / "results", out.parent / "labels.csv"
    capsieve.evaluate(results, labels, tmp_path, train_patients=["4"], galleries=False)
    for path in sorted(out.rglob("*.*")):
        assert (tmp_path / path.relative_to(out)).read_bytes() == path.read_bytes(), path


def write_labels(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def small(tmp_path):
    """Two exams of two patients, one polyp each."""
    rows = []
    for exam in ("a", "b"):
        write_results(tmp_path / "results" / exam, score=np.array([50.0, 0.0, 40.0, 0.0]))
        rows += [
            {"exam": exam, "frame": i, "label": label, "polyp": polyp, "patient": exam}
            for i, (label, polyp) in enumerate(
                [("polyp", "1"), ("polyp", "1"), ("normal", ""), ("normal", "")]
            )
        ]
    return tmp_path / "results", rows


def test_counts_of_a_small_study_equal_those_by_hand(small, tmp_path):
    results, rows = small
    evaluation = capsieve.evaluate(results, write_labels(tmp_path / "l.csv", rows), rounds=100)
    sensitivity = evaluation.metric("frames.all.sensitivity")
    assert (sensitivity.numerator, sensitivity.denominator) == (2, 4)
    assert evaluation.metric("polyps.all.sensitivity").value == 1.0
    assert evaluation.metric("frames.all.specificity").value == 0.5


def test_labels_of_other_exams_only_are_rejected(small, tmp_path):
    results, rows = small
    labels = write_labels(tmp_path / "l.csv", [row | {"exam": "z"} for row in rows[:4]])
    with pytest.raises(FileError, match=r"l\.csv"):
        capsieve.evaluate(results, labels)


def test_exams_screened_with_different_parameters_are_rejected(small, tmp_path):
    results, rows = small
    parameters = capsieve.Parameters(radius_threshold=40).to_dict()
    write_results(results / "c", score=np.array([1.0]), record={"parameters": parameters})
    with pytest.raises(FileError, match="parameters"):
        capsieve.evaluate(results, write_labels(tmp_path / "l.csv", rows))


def write_split(path, rows, parts):
    content = [
        {"exam": row["exam"], "frame": row["frame"], "group": row["patient"], "part": part}
        for row, part in zip(rows, parts, strict=True)
    ]
    return write_labels(path, content)


def test_a_patient_in_both_parts_of_a_split_is_a_leak(small, tmp_path):
    results, rows = small
    labels = write_labels(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["train", "test"] * 4)
    with pytest.raises(LeakError, match="2 patients"):
        capsieve.evaluate(results, labels, splits=split)
    evaluation = capsieve.evaluate(results, labels, splits=split, allow_leaks=True, rounds=100)
    assert "patients" in evaluation.leaks[0]


def test_a_split_chooses_on_the_training_part_and_evaluates_the_test_part(small, tmp_path):
    results, rows = small
    labels = write_labels(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["train"] * 4 + ["test"] * 4)
    evaluation = capsieve.evaluate(results, labels, splits=split, rounds=100)
    assert evaluation.leaks == ()
    assert evaluation.points[0].threshold == 41.0  # above the training part's normal 40
    assert evaluation.metric("frames.test.specificity").value == 1.0


def test_a_fold_is_evaluated_with_the_threshold_of_the_other_folds(small, tmp_path):
    results, rows = small
    labels = write_labels(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["1"] * 4 + ["2"] * 4)
    evaluation = capsieve.evaluate(results, labels, splits=split, rounds=100)
    assert evaluation.metric("frames.cross-fitted.specificity").value == 1.0


def test_an_unknown_training_patient_is_named(small, tmp_path):
    results, rows = small
    with pytest.raises(ParameterError, match="'q'") as raised:
        capsieve.evaluate(results, write_labels(tmp_path / "l.csv", rows), train_patients=["q"])
    assert raised.value.field == "train_patients"


def test_two_results_are_compared_frame_by_frame(small, tmp_path):
    results, rows = small
    for exam in ("a", "b"):
        write_results(tmp_path / "others" / exam, score=np.array([50.0, 45.0, 0.0, 0.0]))
    labels = write_labels(tmp_path / "l.csv", rows)
    evaluation = capsieve.evaluate(results, labels, against=tmp_path / "others", rounds=100)
    assert evaluation.metric("difference.frames.sensitivity").value == -0.5
    assert evaluation.metric("difference.frames.specificity").value == -0.5
    assert evaluation.table("changed-sides").column("frame") == [1, 2, 1, 2]


def test_results_of_other_frames_are_not_compared(small, tmp_path):
    results, rows = small
    for exam in ("a", "b"):
        write_results(
            tmp_path / "others" / exam,
            score=np.array([50.0, 45.0, 0.0, 0.0]),
            pixel_hash=[f"other {i}" for i in range(4)],
        )
    labels = write_labels(tmp_path / "l.csv", rows)
    with pytest.raises(FileError, match="others"):
        capsieve.evaluate(results, labels, against=tmp_path / "others")


def test_an_unfinished_exam_is_left_out_and_named(small, tmp_path):
    results, rows = small
    write_unfinished(results / "c")
    evaluation = capsieve.evaluate(results, write_labels(tmp_path / "l.csv", rows), rounds=100)
    assert any(" c." in warning for warning in evaluation.warnings)
    assert evaluation.metric("frames.all.sensitivity").denominator == 4


@pytest.mark.parametrize("label", ["polyp", "normal", "other"])
def test_a_study_of_one_class_is_evaluated_without_the_missing_figures(small, tmp_path, label):
    results, rows = small
    rows = [row | {"label": label, "polyp": ""} for row in rows]
    labels = write_labels(tmp_path / "l.csv", rows)
    evaluation = capsieve.evaluate(results, labels, tmp_path / "out", rounds=100, galleries=False)
    missing = {"polyp": ["specificity"], "normal": ["sensitivity"]}
    for figure in missing.get(label, ["sensitivity", "specificity"]):
        assert any(figure[:4] in warning for warning in evaluation.warnings)
        assert evaluation.metric(f"frames.all.{figure}").value is None
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert not list((tmp_path / "out" / "figures").glob("roc*"))
    assert not re.search(r"\bnan\b", page, re.IGNORECASE)


def test_the_test_part_alone_can_be_evaluated_at_a_given_threshold(small, tmp_path):
    results, rows = small
    labels = write_labels(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["train"] * 4 + ["test"] * 4)
    evaluation = capsieve.evaluate(
        results / "b", labels, tmp_path / "e", splits=split, threshold=45.0, rounds=100
    )
    assert evaluation.metric("frames.test.specificity").value == 1.0
    assert evaluation.metric("frames.test.sensitivity").denominator == 2
    page = re.sub(r"<[^>]+>", "", (tmp_path / "e" / "report.html").read_text())
    assert "1 exam, 1 patient, 1 polyp, 4 frames" in page  # not those of the labels


def test_a_single_fold_gives_a_warning_and_no_cross_fitted_figures(small, tmp_path):
    results, rows = small
    labels = write_labels(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["1"] * 4 + ["2"] * 4)
    evaluation = capsieve.evaluate(results / "b", labels, splits=split, rounds=100)
    assert not [m for m in evaluation.metrics if "cross-fitted" in m.key]
    assert any("fold 2" in each for each in evaluation.warnings)


def test_a_given_threshold_is_not_applied_to_another_detector(small, tmp_path):
    results, rows = small
    labels = write_labels(tmp_path / "l.csv", rows)
    hashes = {exam: [f"{exam}-{number}" for number in range(4)] for exam in "ab"}
    for exam, pixel_hash in hashes.items():
        write_results(
            tmp_path / "other" / exam,
            score=np.array([0.9, 0.1, 0.2, 0.1]),
            threshold=0.5,
            pixel_hash=pixel_hash,
            record={"detector": {"name": "another"}},
        )
    evaluation = capsieve.evaluate(
        results, labels, against=tmp_path / "other", threshold=45.0, rounds=100
    )
    assert evaluation.comparison is not None
    assert (
        "results (threshold 45) and other (threshold 0.5)" in evaluation.comparison.values.caption
    )


@pytest.mark.parametrize(("model", "threshold"), [("a" * 64, "0.5"), ("b" * 64, "0.4")])
def test_two_models_of_one_name_are_distinguished_by_their_hash(small, tmp_path, model, threshold):
    _, rows = small
    labels = write_labels(tmp_path / "l.csv", rows)
    for name, sha256 in (("one", "a" * 64), ("other", model)):
        for exam in "ab":
            write_results(
                tmp_path / name / exam,
                score=np.array([0.9, 0.1, 0.2, 0.1]),
                threshold=0.4,
                pixel_hash=[f"{exam}-{number}" for number in range(4)],
                record={"detector": {"name": "model.onnx", "model": sha256, "threshold": 0.4}},
            )
    evaluation = capsieve.evaluate(
        tmp_path / "one", labels, against=tmp_path / "other", threshold=0.5, rounds=100
    )
    assert evaluation.comparison is not None
    assert f"other (threshold {threshold})" in evaluation.comparison.values.caption
