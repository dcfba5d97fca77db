"""``capsieve.evaluate``: results or scores and labels in, figures and files out."""

import csv
import json
import re
from typing import Any

import numpy as np
import pytest
from PIL import Image

import capsieve
from capsieve import FileError, LeakError, ParameterError
from capsieve.evaluation.results import read_results
from capsieve.frame_table import UNLABELLED
from capsieve.learned.model_file import read_model, write_model
from capsieve.phash import phash
from capsieve.report.comparison_tables import changed_table
from capsieve.statistics.options import EvaluationOptions
from made_models import CARD, brightness_model, spec
from support.label_sets import make_files
from support.paper_study import FALSE_POSITIVES, FOUND, LENGTHS, NORMALS, write_paper_study
from support.results import exam_record, frame_counts, write_results
from support.unfinished import write_unfinished

QUICK = EvaluationOptions(bootstrap_samples=100)


def value_of(point):
    return None if point.rule is None else point.rule.value


def evaluate(*arguments, **more) -> Any:
    return capsieve.evaluate(*arguments, options=QUICK, **more)


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """The counts of the paper, evaluated as in the paper: trained on patient 4."""
    study = tmp_path_factory.mktemp("paper")
    results, labels = write_paper_study(study)
    out = study / "evaluation"
    return capsieve.evaluate(results, labels, out, train_patients=("4",), galleries=False), out


def test_the_papers_counts_give_the_papers_figures(paper):
    evaluation, _ = paper
    assert f"{evaluation.metric('frames.sensitivity').value:.1%}" == "47.4%"
    assert f"{evaluation.metric('polyps.sensitivity').value:.2%}" == "81.25%"
    assert f"{evaluation.metric('frames.specificity').value:.1%}" == "90.2%"
    assert f"{evaluation.metric('frames.specificity', 'train').value:.0%}" == "91%"
    assert f"{evaluation.metric('preselection.normal').value:.2%}" == "47.84%"


def test_a_table_with_the_papers_scores_gives_the_papers_figures(paper, tmp_path):
    frames = paper[0].frames
    score = np.where(np.isinf(frames.score), 0.0, frames.score)
    scores = {"exam": [frames.exam[row] for row in range(len(frames))], "frame": frames.frame}
    labels = paper[1].parent / "labels.csv"
    evaluation = evaluate(scores | {"score": score}, labels, threshold=37)
    assert f"{evaluation.metric('frames.sensitivity').value:.1%}" == "47.4%"
    assert f"{evaluation.metric('polyps.sensitivity').value:.2%}" == "81.25%"
    assert f"{evaluation.metric('frames.specificity').value:.1%}" == "90.2%"


def test_the_papers_threshold_is_chosen_on_its_training_patient(paper):
    evaluation, _ = paper
    assert (evaluation.points[0].key, value_of(evaluation.points[0])) == ("chosen", 37.0)


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
    for figure in ("1,837 in 5", "18,738", "47.4", "81.25", "90.2"):
        assert figure in page


def test_a_threshold_of_40_finds_the_same_polyps_with_the_papers_specificity(paper):
    study = paper[1].parent
    evaluation = evaluate(study / "results", study / "labels.csv", threshold=40)
    assert f"{evaluation.metric('frames.specificity').value:.2%}" == "93.47%"
    assert evaluation.metric("polyps.sensitivity").numerator == 13


def test_every_metric_in_the_file_has_a_definition_and_finite_numbers(paper):
    evaluation, out = paper
    content = json.loads((out / "metrics.json").read_text(), parse_constant=pytest.fail)
    written = [(metric["key"], metric["subset"]) for metric in content["metrics"]]
    assert written == [(metric.key, metric.subset) for metric in evaluation.metrics]
    assert len(set(written)) == len(written)
    assert all(metric.text for metric in evaluation.metrics)


def test_every_table_is_written(paper):
    evaluation, out = paper
    assert len({table.key for table in evaluation.tables}) == len(evaluation.tables)
    for table in evaluation.tables:
        for ending in ("csv", "tex"):
            assert (out / "tables" / f"{table.key}.{ending}").stat().st_size > 0


def test_the_same_input_gives_the_same_numbers(paper, tmp_path):
    _, out = paper
    results, labels = out.parent / "results", out.parent / "labels.csv"
    capsieve.evaluate(results, labels, tmp_path, train_patients=("4",), galleries=False)
    assert (tmp_path / "metrics.json").read_bytes() == (out / "metrics.json").read_bytes()


def test_unknown_metrics_and_tables_are_named_with_those_that_exist(paper):
    with pytest.raises(KeyError, match=r"frames\.auc"):
        paper[0].metric("auc")
    with pytest.raises(KeyError, match="sequences"):
        paper[0].table("roc")
    assert len(repr(paper[0])) < 300


def write_rows(path, rows):
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
    evaluation = evaluate(results, write_rows(tmp_path / "l.csv", rows))
    sensitivity = evaluation.metric("frames.sensitivity")
    assert (sensitivity.numerator, sensitivity.denominator) == (2, 4)
    assert evaluation.metric("polyps.sensitivity").value == 1.0
    assert evaluation.metric("frames.specificity").value == 0.5


def test_labels_in_memory_are_read_as_a_table_is(small):
    results, rows = small
    labels = {name: [row[name] for row in rows] for name in rows[0]}
    assert evaluate(results, labels).metric("frames.sensitivity").denominator == 4


def test_labels_of_other_exams_only_are_refused(small, tmp_path):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", [row | {"exam": "z"} for row in rows[:4]])
    with pytest.raises(FileError, match=r"l\.csv.*a, b"):
        evaluate(results, labels)


def test_labels_that_mostly_fit_no_frame_give_a_warning_first(small, tmp_path):
    results, rows = small
    others = [rows[0] | {"exam": "z", "patient": "z", "frame": frame} for frame in range(9)]
    labels = write_rows(tmp_path / "l.csv", [*rows, *others])
    evaluation = evaluate(results, labels)
    assert "same study" in evaluation.warnings[0]
    assert "same study" not in evaluate(results, write_rows(tmp_path / "m.csv", rows)).warnings


def write_split(path, rows, parts):
    content = [
        {"exam": row["exam"], "frame": row["frame"], "group": row["patient"], "part": part}
        for row, part in zip(rows, parts, strict=True)
    ]
    return write_rows(path, content)


def test_a_patient_in_both_parts_of_a_split_is_a_leak(small, tmp_path):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["train", "test"] * 4)
    with pytest.raises(LeakError, match="2 patients"):
        evaluate(results, labels, splits=split)
    assert "patients" in evaluate(results, labels, splits=split, allow_leaks=True).leaks[0]


def test_a_split_chooses_on_the_training_part_and_evaluates_the_test_part(small, tmp_path):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["train"] * 4 + ["test"] * 4)
    evaluation = evaluate(results, labels, splits=split)
    assert evaluation.leaks == ()
    assert value_of(evaluation.points[0]) == 41.0  # above the training part's normal 40
    assert [point.key for point in evaluation.points] == ["chosen", "screened", "fitted"]
    assert evaluation.metric("frames.specificity", "test").value == 1.0


def test_frames_to_read_of_the_test_part_are_those_of_its_exams(small, tmp_path):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", [row for row in rows if row["frame"] < 3])
    evaluation = evaluate(results, labels, train_patients=("a",))
    to_read = evaluation.metric("effort.frames_per_exam", "test")
    assert (to_read.numerator, to_read.denominator) == (1, 1)
    # The last frame has no label, but it is a frame of the exam.
    assert evaluation.metric("effort.frames_whole_exam", "test").value == 4


def test_a_split_that_divides_exams_has_no_frames_to_read_of_its_parts(small, tmp_path):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["train", "test"] * 4)
    evaluation = evaluate(results, labels, splits=split, allow_leaks=True)
    with pytest.raises(KeyError, match="effort"):
        evaluation.metric("effort.frames_per_exam", "test")
    assert evaluation.metric("effort.frames_per_exam").denominator == 2


def test_a_split_and_training_patients_are_not_combined(small, tmp_path):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["train"] * 4 + ["test"] * 4)
    with pytest.raises(ParameterError, match="splits") as raised:
        evaluate(results, labels, splits=split, train_patients=("b",))
    assert raised.value.field == "train_patients"


def test_a_fold_is_evaluated_with_the_threshold_of_the_other_folds(small, tmp_path):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["1"] * 4 + ["2"] * 4)
    evaluation = evaluate(results, labels, splits=split)
    assert evaluation.metric("frames.specificity", "cross-fitted").value == 1.0
    assert evaluation.table("cross-fitted").column("fold") == ["1", "2"]
    assert [point.key for point in evaluation.points] == ["screened", "cross-fitted", "fitted"]


def test_scores_with_folds_are_not_evaluated_with_a_threshold_of_their_own_first(small, tmp_path):
    _, rows = small
    labels = write_rows(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["1"] * 4 + ["2"] * 4)
    scores = {
        "exam": [row["exam"] for row in rows],
        "frame": [int(row["frame"]) for row in rows],
        "score": np.arange(len(rows), dtype=float),
    }
    evaluation = evaluate(scores, labels, tmp_path / "out", splits=split)
    assert [point.key for point in evaluation.points] == ["cross-fitted", "fitted"]
    crossed = evaluation.metric("frames.specificity", "cross-fitted")
    assert evaluation.metric("frames.specificity").value == crossed.value


def test_results_without_a_single_score_are_refused(small, tmp_path):
    labels = write_rows(tmp_path / "l.csv", small[1])
    scores = {"exam": ["a"] * 4, "frame": range(4), "score": [None] * 4}
    with pytest.raises(FileError, match="score"):
        evaluate(scores, labels)


def test_the_test_part_alone_is_evaluated_as_it_was_screened(small, tmp_path):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["train"] * 4 + ["test"] * 4)
    evaluation = evaluate(results / "b", labels, splits=split)
    assert [point.key for point in evaluation.points] == ["screened", "fitted"]
    assert any("training part" in warning for warning in evaluation.warnings)


def test_a_single_fold_gives_a_warning_and_no_cross_fitted_figures(small, tmp_path):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["1"] * 4 + ["2"] * 4)
    evaluation = evaluate(results / "b", labels, splits=split)
    assert not [metric for metric in evaluation.metrics if metric.subset == "cross-fitted"]
    assert any("fold 2" in each for each in evaluation.warnings)


def test_an_unknown_training_patient_is_named(small, tmp_path):
    results, rows = small
    with pytest.raises(ParameterError, match="'q'") as raised:
        evaluate(results, write_rows(tmp_path / "l.csv", rows), train_patients=("q",))
    assert raised.value.field == "train_patients"


def test_an_unfinished_exam_is_left_out_and_named(small, tmp_path):
    results, rows = small
    write_unfinished(results / "c")
    evaluation = evaluate(results, write_rows(tmp_path / "l.csv", rows))
    assert any(" c." in warning for warning in evaluation.warnings)
    assert evaluation.metric("frames.sensitivity").denominator == 4


@pytest.mark.parametrize("label", ["polyp", "normal", "other"])
def test_a_study_of_one_class_is_evaluated_without_the_missing_figures(small, tmp_path, label):
    results, rows = small
    rows = [row | {"label": label, "polyp": ""} for row in rows]
    labels = write_rows(tmp_path / "l.csv", rows)
    evaluation = evaluate(results, labels, tmp_path / "out", galleries=False)
    missing = {"polyp": ["specificity"], "normal": ["sensitivity"]}
    for figure in missing.get(label, ["sensitivity", "specificity"]):
        assert any(figure in warning for warning in evaluation.warnings)
        assert evaluation.metric(f"frames.{figure}").value is None
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert not list((tmp_path / "out" / "figures").glob("roc*"))
    assert not re.search(r"\bnan\b", page, re.IGNORECASE)


def test_the_test_part_alone_can_be_evaluated_at_a_given_threshold(small, tmp_path):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", rows)
    split = write_split(tmp_path / "s.csv", rows, ["train"] * 4 + ["test"] * 4)
    evaluation = evaluate(results / "b", labels, splits=split, threshold=45.0)
    assert evaluation.metric("frames.specificity", "test").value == 1.0
    assert evaluation.metric("frames.sensitivity", "test").denominator == 2


@pytest.mark.parametrize("place", ["results", "results/a"])
def test_a_folder_of_results_is_not_written_to(small, tmp_path, place):
    results, rows = small
    labels = write_rows(tmp_path / "l.csv", rows)
    before = sorted(results.rglob("*"))
    with pytest.raises(FileError, match="results"):
        evaluate(results, labels, tmp_path / place)
    assert sorted(results.rglob("*")) == before


# Operating points.


def list_record(name, value=0.25):
    """Return the entries of exam.json of a reading list with a share of a model's scores."""
    flagging = {"rule": "share", "value": value, "frames": 1, "last_score": 0.5}
    flagging |= {"score_threshold": 0.5, "share_above_threshold": 0.5}
    return {"detector": {"name": name}, "flagging": flagging}


def test_the_flags_of_the_screening_are_the_first_operating_point(small, tmp_path):
    results, rows = small
    evaluation = evaluate(results, write_rows(tmp_path / "l.csv", rows))
    assert [point.key for point in evaluation.points] == ["screened", "fitted"]
    assert value_of(evaluation.points[0]) == 37.0
    assert evaluation.points[1].optimistic


def test_a_reading_list_is_evaluated_as_it_was_flagged(tmp_path):
    """A list has no threshold: a flagged score may be below one that another exam leaves out."""
    for exam, shift in (("a", 0.0), ("b", 0.4)):
        score = np.array([0.4, 0.1, 0.2, 0.3]) + shift
        flagged = [True, False, False, False]
        write_results(
            tmp_path / "out" / exam,
            score=score,
            flagged=flagged,
            reason="score-low",
            record=list_record("another"),
        )
    labels = {"exam": ["a"] * 4 + ["b"] * 4, "frame": [0, 1, 2, 3] * 2}
    labels |= {"label": ["polyp", "normal", "normal", "normal"] * 2}
    evaluation = evaluate(tmp_path / "out", labels)
    assert evaluation.points[0].key == "screened"
    assert value_of(evaluation.points[0]) == 0.25
    assert evaluation.metric("frames.sensitivity").value == 1.0
    assert evaluation.metric("frames.specificity").value == 1.0


def test_exams_of_different_rules_have_no_single_value(small, tmp_path):
    results, rows = small
    changed = write_results(results / "c", score=np.array([1.0]), threshold=39.0)
    assert changed.is_dir()
    evaluation = evaluate(results, write_rows(tmp_path / "l.csv", rows))
    assert (evaluation.points[0].key, evaluation.points[0].rule) == ("screened", None)


def test_a_given_list_replaces_the_flags(small, tmp_path):
    results, rows = small
    evaluation = evaluate(results, write_rows(tmp_path / "l.csv", rows), read="25%")
    assert (evaluation.points[0].key, value_of(evaluation.points[0])) == ("given", 0.25)
    assert evaluation.metric("frames.sensitivity").numerator == 2
    assert evaluation.metric("frames.specificity").value == 1.0
    with pytest.raises(ParameterError, match="read"):
        evaluate(results, write_rows(tmp_path / "l.csv", rows), read="25%", threshold=3)


VIDEOS = ("04a78ef00c5245e0", "bca26705313a4644", "eb0203196e284797", "2fc3db471f9d44c0")
CLASSES = {
    "kvasir": ("labelled_images", ("Polyp", "Normal clean mucosa", "Ulcer")),
    "capsule vision": ("Dataset/training", ("Polyp/KID", "Normal/KID", "Ulcer/KID")),
}


def class_folders(tmp_path, layout):
    """Return results and labels of a data set as downloaded, with folders that are classes.

    The detector guesses, and each folder has a reading list of its own. Names of files begin with
    the video in Kvasir-Capsule; nothing names the exams in Capsule Vision 2024.
    """
    rng = np.random.default_rng(0)
    top, folders = CLASSES[layout]
    for place, folder in enumerate(folders):
        numbers = range(40 * place, 40 * place + 40)
        kvasir = layout == "kvasir"
        files = [f"{VIDEOS[n % 4]}_{n}.jpg" if kvasir else f"kid_{n}.jpg" for n in numbers]
        source = make_files(tmp_path / top / folder, *files)
        score = rng.permutation(40) / 40
        exam = folder.replace("/", "-")
        sources = exam_record(exam, [frame_counts(40)], kind="folder")["sources"]
        sources[0]["path"] = str(source)
        write_results(
            tmp_path / "out" / exam,
            score=score,
            flagged=score >= 0.9,
            file=sorted(files),
            reason="score-low",
            record=list_record("another", 0.1) | {"sources": sources},
        )
    return tmp_path / "out", tmp_path / top.split("/")[0]


@pytest.mark.parametrize("layout", CLASSES)
def test_reading_lists_of_class_folders_are_not_the_first_operating_point(tmp_path, layout):
    results, labels = class_folders(tmp_path, layout)
    evaluation = evaluate(results, labels)
    assert not (evaluation.frames.truth == UNLABELLED).any()
    assert evaluation.points[0].key == "fitted"
    assert evaluation.metric("frames.specificity").value == pytest.approx(0.9)
    assert any("reading lists" in warning for warning in evaluation.warnings)


def test_a_list_is_formed_in_the_exams_of_the_labels_and_not_in_class_folders(tmp_path):
    results, labels = class_folders(tmp_path, "kvasir")
    evaluation = evaluate(results, labels, read="10%")
    flagged = evaluation.points[0].flagged
    unit = evaluation.frames.unit
    assert len(unit.names) == 4
    for code in range(4):
        assert flagged[unit.code == code].sum() == 3  # 10 % of 30 frames of three folders
    assert evaluation.effort is not None


def test_a_list_is_refused_if_the_labels_name_no_exam(tmp_path):
    results, labels = class_folders(tmp_path, "capsule vision")
    with pytest.raises(ParameterError, match="exam") as raised:
        evaluate(results, labels, read="10%")
    assert raised.value.field == "read"
    evaluation = evaluate(results, labels)
    assert evaluation.effort is None
    assert evaluation.metric("effort.frames_per_exam").value is None


def test_class_folders_of_one_patient_are_no_exams(tmp_path):
    results, _ = class_folders(tmp_path, "capsule vision")
    files = [
        f"{folder}/KID/kid_{40 * place + n}.jpg"
        for place, folder in enumerate(("Polyp", "Normal", "Ulcer"))
        for n in range(40)
    ]
    labels = {"file": files, "patient": ["p"] * 120}
    labels["label"] = ["polyp"] * 40 + ["normal"] * 80
    assert evaluate(results, labels).points[0].key == "fitted"


def test_the_lists_of_two_videos_of_a_patient_are_an_operating_point(tmp_path):
    labels = {"exam": [], "frame": [], "label": [], "patient": []}
    for exam in "ab":
        score = np.array([0.9, 0.1, 0.2, 0.3])
        write_results(
            tmp_path / exam,
            score=score,
            flagged=score > 0.5,
            reason="score-low",
            record=list_record("another"),
        )
        labels["exam"] += [exam] * 4
        labels["frame"] += range(4)
        labels["label"] += ["polyp"] + ["normal"] * 3
        labels["patient"] += ["p"] * 4
    assert evaluate(tmp_path, labels).points[0].key == "screened"


# Scores of other programs.


SCORES = {"exam": ["a"] * 6, "frame": range(6), "score": [0.9, 0.6, 0.5, 0.2, 0.1, None]}
TRUTH = {"exam": ["a"] * 6, "frame": range(6), "label": ["polyp"] * 2 + ["normal"] * 4}


def test_scores_without_a_threshold_give_areas_and_the_fitted_point():
    evaluation = evaluate(SCORES, TRUTH)
    assert [point.key for point in evaluation.points] == ["fitted"]
    assert evaluation.metric("frames.auc").value == 1.0
    assert evaluation.roc_frames is not None
    assert evaluation.metric("frames.specificity").denominator == 3  # one was not scored
    assert sum("no images" in warning for warning in evaluation.warnings) == 1


def numbered(first: int, frames: range, **columns: Any) -> dict[str, Any]:
    numbers = [number + first for number in frames]
    return {"exam": ["a"] * len(numbers), "frame": numbers, **columns}


def shifted_study(first_score: int, first_label: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return scores and labels of 60 frames; a shift by one frame changes the area."""
    truth = ["polyp" if number % 4 < 2 else "normal" for number in range(60)]
    score = [float(word == "polyp") for word in truth]
    return (
        numbered(first_score, range(60), score=score),
        numbered(first_label, range(60), label=truth),
    )


@pytest.mark.parametrize(("first_score", "first_label"), [(1, 0), (0, 1)])
def test_scores_and_labels_with_different_first_frames_give_a_warning_first(
    first_score, first_label
):
    evaluation = evaluate(*shifted_study(first_score, first_label))
    assert evaluation.metric("frames.auc").value < 1
    one, other = ("scores", "labels") if first_score else ("labels", "scores")
    assert f"{one} seem to number frames from 1, and the {other} from 0" in evaluation.warnings[0]
    assert "--first-frame 1" in evaluation.warnings[0] or first_label


def test_another_first_frame_is_named_before_reversed_scores():
    truth = ["polyp", "normal"] * 30
    scores = numbered(1, range(60), score=[float(word == "polyp") for word in truth])
    first, second, *_ = evaluate(scores, numbered(0, range(60), label=truth)).warnings
    assert "number frames from 1" in first
    assert "may be reversed" in second


def test_the_first_frame_of_scores_is_an_option():
    scores, labels = shifted_study(1, 0)
    evaluation = evaluate(scores, labels, first_frame=1, baseline=shifted_study(1, 0)[0])
    assert evaluation.metric("frames.auc").value == 1
    assert not any("from 1" in warning for warning in evaluation.warnings)


def test_a_baseline_with_another_first_frame_gives_a_warning():
    scores, labels = shifted_study(0, 0)
    warnings = evaluate(scores, labels, baseline=shifted_study(1, 0)[0]).warnings
    assert any(each.startswith("Baseline: The scores seem to number") for each in warnings)


@pytest.mark.parametrize(
    ("scored", "labelled"),
    [
        (range(60), range(60)),
        (range(1, 60), range(60)),  # a detector that compares each frame with the one before
        (range(1, 60), range(1, 60)),
        (range(60), range(20, 40)),
    ],
)
def test_frames_that_are_missing_are_not_another_numbering(scored, labelled):
    truth = ["polyp" if number % 4 < 2 else "normal" for number in labelled]
    scores = numbered(0, scored, score=[float(number % 4 < 2) for number in scored])
    evaluation = evaluate(scores, numbered(0, labelled, label=truth))
    assert not any("number frames from 1" in warning for warning in evaluation.warnings)


def test_the_first_frame_of_screened_exams_is_not_an_option(small, tmp_path):
    results, rows = small
    with pytest.raises(ParameterError, match="first_frame"):
        evaluate(results, write_rows(tmp_path / "l.csv", rows), first_frame=1)


def test_an_area_well_below_a_half_is_named_first():
    scores, labels = shifted_study(0, 0)
    scores["score"] = [-value for value in scores["score"]]
    assert "may be reversed" in evaluate(scores, labels).warnings[0]
    scores["score"] = [value % 3 for value in range(60)]
    warnings = evaluate(scores, labels).warnings
    assert not any("reversed" in warning for warning in warnings)


def test_a_threshold_of_scores_is_evaluated_as_given():
    evaluation = evaluate(SCORES, TRUTH, threshold=0.55)
    assert [point.key for point in evaluation.points] == ["given", "fitted"]
    assert evaluation.metric("frames.sensitivity").value == 1.0
    assert evaluation.metric("frames.specificity").value == 1.0


def test_scores_may_be_negative_or_zero():
    scores = SCORES | {"score": [0.0, -1.0, -2.0, -3.0, -4.0, -5.0]}
    evaluation = evaluate(scores, TRUTH, threshold=-1.0)
    assert evaluation.metric("frames.sensitivity").value == 1.0
    assert evaluation.metric("frames.specificity").value == 1.0


def test_scores_of_polyps_alone_need_a_threshold():
    labels = TRUTH | {"label": ["polyp"] * 6}
    with pytest.raises(ParameterError) as raised:
        evaluate(SCORES, labels)
    assert raised.value.field == "threshold"
    assert evaluate(SCORES, labels, threshold=0.5).metric("frames.sensitivity").value == 0.5


def test_scores_are_written_and_read_from_files(tmp_path):
    rows = [dict(zip(SCORES, row, strict=True)) for row in zip(*SCORES.values(), strict=True)]
    scores = write_rows(tmp_path / "scores.csv", rows)
    evaluation = evaluate(scores, TRUTH, tmp_path / "out", threshold=0.5)
    assert evaluation.results == str(scores)
    assert (tmp_path / "out" / "report.html").exists()


def test_the_source_of_scores_is_used_if_the_labels_name_none():
    evaluation = evaluate(SCORES | {"source": ["x", "y"] * 3}, TRUTH, threshold=0.5)
    assert evaluation.frames.source.names == ("x", "y")
    assert evaluation.metric("frames.sensitivity", "source: x").denominator == 1
    assert any("2 sources" in warning for warning in evaluation.warnings)


# Two detectors.


def test_two_results_are_compared_frame_by_frame(small, tmp_path):
    results, rows = small
    for exam in ("a", "b"):
        write_results(tmp_path / "others" / exam, score=np.array([50.0, 45.0, 0.0, 0.0]))
    labels = write_rows(tmp_path / "l.csv", rows)
    evaluation = evaluate(results, labels, baseline=tmp_path / "others")
    comparison = evaluation.comparison
    differences = {metric.key: metric.value for metric in comparison.differences}
    assert differences["frames.sensitivity"] == -0.5
    assert differences["frames.specificity"] == -0.5
    assert changed_table(comparison).column("frame") == [1, 2, 1, 2]
    assert comparison.changes["frames.sensitivity"][:2] == (0, 2)


def test_the_baseline_is_flagged_to_the_same_share_of_each_exam(tmp_path):
    frame = list(range(10)) * 2
    exam = ["a"] * 10 + ["b"] * 10
    labels = {"exam": exam, "frame": frame, "label": (["polyp"] * 2 + ["normal"] * 8) * 2}
    score = np.concatenate([np.linspace(1, 0.1, 10), np.linspace(0.5, 0.05, 10)])
    first = {"exam": exam, "frame": frame, "score": score}
    # Another scale, and the scores of b are all higher than those of a.
    second = first | {"score": 100 * np.concatenate([score[9::-1], 7 + score[:10]])}
    evaluation = evaluate(first, labels, threshold=0.38, baseline=second)
    flagged = evaluation.points[0].flagged
    assert (flagged[:10].sum(), flagged[10:].sum()) == (7, 3)
    # In b both flag the same three frames; in a the baseline flags the seven others.
    assert changed_table(evaluation.comparison).column("frame") == [0, 1, 2, 7, 8, 9]
    assert set(changed_table(evaluation.comparison).column("exam")) == {"a"}


def test_a_table_of_scores_is_compared_with_results(small, tmp_path):
    results, rows = small
    scores = {name: [row[name] for row in rows] for name in ("exam", "frame")}
    labels = write_rows(tmp_path / "l.csv", rows)
    evaluation = evaluate(results, labels, baseline=scores | {"score": [9, 8, 1, 2] * 2})
    assert evaluation.comparison.changes["frames.sensitivity"].lost == 2


def test_tables_of_files_without_numbers_are_compared_by_file():
    files = [f"{number}.png" for number in range(6)]
    labels = {"file": files, "label": TRUTH["label"]}
    first = {"file": files, "score": [9, 8, 3, 2, 1, 0]}
    second = {"file": files[::-1], "score": [0, 1, 2, 3, 8, 9]}  # the same in another order
    evaluation = evaluate(first, labels, threshold=5, baseline=second)
    assert changed_table(evaluation.comparison).rows == ()


def test_results_of_other_frames_are_not_compared(small, tmp_path):
    results, rows = small
    for exam in ("a", "b"):
        write_results(
            tmp_path / "others" / exam,
            score=np.array([50.0, 45.0, 0.0, 0.0]),
            pixel_hash=[f"other {i}" for i in range(4)],
        )
    labels = write_rows(tmp_path / "l.csv", rows)
    with pytest.raises(FileError, match="others"):
        evaluate(results, labels, baseline=tmp_path / "others")


# Frames that trained the model.


@pytest.fixture
def trained(tmp_path):
    """Return results of a model that was trained on one of their frames."""
    phashes = [np.random.default_rng(seed).bytes(32) for seed in range(6)]
    model = tmp_path / "model.onnx"
    known = np.frombuffer(phashes[1] + bytes(32), np.uint8).reshape(1, 2, 32)
    write_model(model, brightness_model(), spec(), CARD, known)
    detector = {"name": "model.onnx", "model": read_model(model).sha256}
    record = {"detector": detector, "run": {"model": str(model)}}
    score = np.array([0.9, 0.6, 0.5, 0.2, 0.1, 0.3])
    write_results(
        tmp_path / "out" / "a", score=score, phash=phashes, reason="score-low", record=record
    )
    return tmp_path / "out", model


def test_frames_that_trained_the_model_stop_the_evaluation(trained):
    results, _ = trained
    with pytest.raises(LeakError, match="a frame 1"):
        evaluate(results, TRUTH, results.with_name("evaluation"))
    (row,) = (results.with_name("evaluation") / "leaks.csv").read_text().splitlines()[1:]
    assert row == "training,a,0,1,,,"
    leaks = evaluate(results, TRUTH, allow_leaks=True).leaks
    assert len(leaks) == 1
    assert "trained on 1 of the 6" in leaks[0]


def test_a_model_is_found_again_by_the_record_of_the_screening(tmp_path):
    pytest.importorskip("onnxruntime")
    images = np.random.default_rng(0).integers(0, 256, (3, 8, 8, 3)).astype(np.uint8)
    images = images.repeat(16, axis=1).repeat(16, axis=2)
    (tmp_path / "exams" / "a").mkdir(parents=True)
    for number, image in enumerate(images):
        Image.fromarray(image).save(tmp_path / "exams" / "a" / f"{number}.png")
    model = tmp_path / "models" / "model.onnx"
    model.parent.mkdir()
    known = np.frombuffer((phash(images[1]) or b"") + bytes(32), np.uint8).reshape(1, 2, 32)
    write_model(model, brightness_model(), spec(), CARD, known)
    capsieve.screen(tmp_path / "exams", tmp_path / "out", detector=model, workers=1)
    labels = {"file": ["0.png", "1.png", "2.png"], "label": ["polyp", "normal", "normal"]}
    with pytest.raises(LeakError, match=r"a/1\.png"):
        evaluate(tmp_path / "out", labels)


def test_scores_with_the_mark_of_allowed_leaks_stop_the_evaluation():
    scores = {name: TRUTH[name] for name in ("exam", "frame")} | {"score": [9, 8, 3, 2, 1, 0]}
    marked = scores | {"leak": ["", "patient", "", "", "", ""]}
    with pytest.raises(LeakError, match="a frame 1"):
        evaluate(marked, TRUTH)
    (leak,) = evaluate(marked, TRUTH, threshold=5, allow_leaks=True).leaks
    assert "1 score" in leak
    assert evaluate(scores | {"leak": [""] * 6}, TRUTH, threshold=5).leaks == ()


def test_training_may_read_results_of_a_model_that_knows_the_frames(trained):
    assert read_results(trained[0], TRUTH, check_model=False).leaks == ()


def test_a_model_that_is_not_found_gives_a_warning(trained):
    results, model = trained
    model.unlink()
    warnings = evaluate(results, TRUTH).warnings
    assert any(warning.startswith("Training data unknown") for warning in warnings)
