"""Training from exams and labels to a model file."""

import csv
import json
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import onnx
import pyarrow.parquet as pq
import pytest

from capsieve.detectors import load_detector
from capsieve.engine import training_models
from capsieve.engine.evaluating import evaluate
from capsieve.engine.training import train
from capsieve.engine.training_card import CardTexts, DataTexts
from capsieve.errors import FileError, LeakError, MissingExtraError, OccupiedError, ParameterError
from capsieve.learned.model_file import read_model
from capsieve.store.record import read_record
from training_study import FRAMES, PATIENTS, SHOWN, study_frame, write_study, write_study_labels

pytest.importorskip("sklearn", reason="training needs the extra train")
pytest.importorskip("onnx", reason="training needs the extra train")

FOLDS = 4
ROUNDS = 100


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return write_study(folder / "exams"), write_study_labels(folder / "labels.csv")


def run(study, out, **options: Any):
    exams, labels = study
    settings: dict[str, Any] = {"folds": FOLDS, "rounds": ROUNDS, "workers": 1} | options
    return train(exams, labels, out, **settings)


def rows_of(labels):
    with labels.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def trained(study, tmp_path_factory):
    return run(study, tmp_path_factory.mktemp("trained") / "model.onnx")


@pytest.fixture
def screened(trained, tmp_path):
    """Return a work folder with the screened frames alone."""
    work = tmp_path / "work"
    own = trained.path.with_name("model.onnx.work")
    shutil.copytree(own / "screened", work / "screened")
    return work


def same_model(one, other):
    """Whether two outcomes are the same model; the day of the training aside."""
    cards = [outcome.card.model_copy(update={"created": ""}) for outcome in (one, other)]
    same_card = cards[0] == cards[1] and one.threshold == other.threshold
    return same_card and onnx.load(one.path).graph == onnx.load(other.path).graph


def values_of(card):
    return {(metric.source, metric.what): metric.value for metric in card.metrics}


@pytest.mark.slow
def test_the_file_holds_card_and_threshold(trained):
    found = read_model(trained.path)
    assert found.card == trained.card
    assert found.spec.threshold == trained.threshold
    assert trained.card.kind == "svm"
    (data,) = trained.card.data
    assert (data.frames, data.groups) == (PATIENTS * FRAMES, PATIENTS)
    assert data.labels == {
        "polyp": PATIENTS * SHOWN,
        "normal": PATIENTS * (FRAMES - SHOWN),
        "other": 0,
    }
    assert trained.card.kept_apart == "patients"


@pytest.mark.slow
def test_the_model_tells_polyps_of_new_patients(trained):
    pytest.importorskip("onnxruntime")
    detector = load_detector(trained.path)
    new = range(10_000, 10_012)
    polyps = [detector.score(study_frame(number, polyp=True)).score for number in new]
    others = [detector.score(study_frame(number, polyp=False)).score for number in new]
    assert np.median(polyps) > max(trained.threshold, 0.5) > np.median(others)


@pytest.mark.slow
def test_an_evaluation_of_the_out_of_fold_results_gives_the_numbers_of_the_card(trained, study):
    evaluation = evaluate(trained.out_of_fold, study[1], splits=trained.splits, rounds=ROUNDS)
    found = {metric.key: metric.value for metric in evaluation.metrics}
    (figures,) = trained.figures
    for metric in figures.metrics:
        if metric.key in found:
            assert found[metric.key] == metric.value
    told = values_of(trained.card)
    assert told["all frames", "Area under the ROC curve per frame"] == found["frames.auc"]
    assert (
        told["all frames", "Sensitivity per frame, for 90 %"]
        == found["frames.cross-fitted.sensitivity"]
    )


@pytest.mark.slow
def test_out_of_fold_results_say_what_they_are_and_add_up(trained):
    for number in range(PATIENTS):
        folder = trained.out_of_fold / f"exam{number}"
        record = read_record(folder)
        assert record["detector"]["out of fold"] is True
        counts = record["frame_counts"]
        table = pq.read_table(folder / "frames.parquet")
        flagged = np.asarray(table["score"]) >= trained.threshold
        assert counts["flagged"] == flagged.sum()
        assert counts["scored"] == FRAMES == counts["flagged"] + sum(counts["rejected"].values())
        assert table["flagged"].to_pylist() == flagged.tolist()


@pytest.mark.slow
def test_the_same_seed_gives_the_same_model(trained, study, screened, tmp_path):
    again = run(study, tmp_path / "model.onnx", work=screened)
    assert same_model(again, trained)


@pytest.mark.slow
def test_another_seed_gives_another_model(trained, study, screened, tmp_path):
    other = run(study, tmp_path / "model.onnx", work=screened, seed=1)
    assert onnx.load(other.path).graph != onnx.load(trained.path).graph


@pytest.mark.slow
@pytest.mark.parametrize("stop", [1, 4, 9])
def test_a_run_that_is_stopped_goes_on_to_the_same_model(trained, study, screened, tmp_path, stop):
    told = []

    def tell(what, done, total):
        told.append(what)
        if len(told) == stop:
            raise KeyboardInterrupt

    out = tmp_path / "model.onnx"
    with pytest.raises(KeyboardInterrupt):
        run(study, out, work=screened, tell=tell)
    assert not out.exists()
    assert same_model(run(study, out, work=screened), trained)


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_model(trained, study, tmp_path):
    exams, labels = study
    out = tmp_path / "model.onnx"
    arguments = ["train", exams, "--labels", labels, "-o", out, "--folds", FOLDS, "--quiet"]
    command = [sys.executable, "-m", "capsieve", *map(str, arguments)]
    command += ["--workers", "1", "--rounds", str(ROUNDS)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    fits = tmp_path / "model.onnx.work" / "fits"
    while process.poll() is None and not list(fits.glob("*/*/scored.npz")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists()
    assert same_model(run(study, out), trained)


@pytest.mark.slow
def test_what_the_user_says_of_the_data_stands_in_the_card(study, screened, tmp_path):
    texts = CardTexts(
        name="a name", data=(DataTexts(name="frames", licence="CC0", citation="nobody"),)
    )
    outcome = run(study, tmp_path / "model.onnx", work=screened, card=texts)
    (data,) = outcome.card.data
    assert (outcome.card.name, data.name, data.licence, data.citation) == (
        "a name",
        "frames",
        "CC0",
        "nobody",
    )


@pytest.mark.slow
def test_a_source_without_polyps_is_not_learned_from_but_scored(study, screened, tmp_path):
    """Frames of patient 7 become another source, and lose their polyps."""
    exams, labels = study
    rows = rows_of(labels)
    for row in rows:
        foreign = row["patient"] == "patient7"
        row["file"] = f"{'foreign' if foreign else 'own'}/{row['file']}"
        if foreign:
            row["label"], row["polyp"] = "normal", ""
    changed = tmp_path / "labels.csv"
    with changed.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    outcome = run((exams, changed), tmp_path / "model.onnx", work=screened, folds=4)
    own, foreign = outcome.figures
    assert (own.source, own.trained, foreign.source, foreign.trained) == (
        "own",
        True,
        "foreign",
        False,
    )
    assert [data.name for data in outcome.card.data] == ["own"]
    specificity = foreign.metric("frames.cross-fitted.specificity")
    assert specificity is not None
    assert specificity.denominator == FRAMES
    # They hold domes that the labels deny, which a model that learned from them would know.
    assert specificity.value is not None
    assert specificity.value < 0.9
    assert foreign.metric("frames.auc") is None


@pytest.mark.slow
def test_an_empty_input_is_refused_and_is_not_the_current_folder(study, tmp_path, monkeypatch):
    exams, labels = study
    monkeypatch.chdir(exams)
    with pytest.raises(FileError, match="empty"):
        run(("", labels), tmp_path / "model.onnx")


def test_a_work_folder_with_other_exams_is_refused(study, screened, tmp_path):
    exams, labels = study
    some = [exams / f"exam{number}" for number in range(PATIENTS - 1)]
    with pytest.raises(OccupiedError, match="also holds frames of exam7"):
        run((some, labels), tmp_path / "model.onnx", work=screened)


@pytest.mark.slow
def test_parts_for_training_and_test_are_no_folds(study, screened, tmp_path):
    rows = rows_of(study[1])
    split = tmp_path / "split.csv"
    with split.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "file", "part"])
        for row in rows:
            part = "test" if row["exam"] == "exam0" else "train"
            writer.writerow([row["exam"], row["file"], part])
    with pytest.raises(ParameterError, match="training needs folds"):
        run(study, tmp_path / "model.onnx", work=screened, splits=split)


@pytest.mark.slow
def test_a_patient_in_two_folds_is_a_leak(study, screened, tmp_path):
    rows = rows_of(study[1])
    split = tmp_path / "split.csv"
    with split.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "file", "part"])
        for number, row in enumerate(rows):
            writer.writerow([row["exam"], row["file"], 1 + number % 3])
    with pytest.raises(LeakError):
        run(study, tmp_path / "model.onnx", work=screened, splits=split)


@pytest.mark.slow
def test_the_outcome_is_plain_json(trained):
    content = json.loads(json.dumps(trained.to_dict(), allow_nan=False))
    assert content["card"]["kind"] == "svm"
    assert content["threshold"] == trained.threshold


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ("polyp other", "no frame is labelled normal"),
        ("normal normal", "no frame is labelled polyp"),
    ],
)
def test_labels_with_one_class_are_refused_before_any_work(study, tmp_path, classes, words):
    labels = write_study_labels(tmp_path / "labels.csv", classes=classes)
    with pytest.raises(FileError, match=words):
        run((study[0], labels), tmp_path / "model.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_frames_that_nobody_can_keep_apart_are_refused(study, tmp_path):
    labels = write_study_labels(tmp_path / "labels.csv", named=False)
    with pytest.raises(FileError, match="add a column patient or block"):
        run((study[0] / "exam0", labels), tmp_path / "model.onnx")


def test_a_handful_of_frames_is_refused(study, tmp_path):
    labels = write_study_labels(tmp_path / "labels.csv", patients=1)
    with pytest.raises(FileError, match="only 6 frames polyp, too few"):
        run((study[0], labels), tmp_path / "model.onnx")


def test_fewer_patients_than_folds_are_refused(study, tmp_path):
    with pytest.raises(ParameterError, match="9 parts need as many groups, and there are 8"):
        run(study, tmp_path / "model.onnx", folds=9)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("folder", FileError, "it is a folder"),
        ("absent/model.onnx", FileError, "there is no folder"),
        ("model.pkl", ParameterError, "must end in .onnx"),
        ("beside.onnx", FileError, "would be taken for the description"),
    ],
)
def test_a_place_where_no_model_can_be_written_is_refused(study, tmp_path, name, error, words):
    (tmp_path / "folder").mkdir()
    (tmp_path / "beside.toml").touch()
    with pytest.raises(error, match=words):
        run(study, tmp_path / name)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "oracle"}, "there is no 'oracle'; choose from svm"),
        ({"target_specificity": 1.0}, "must be above 0 and below 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(study, tmp_path, options, words):
    with pytest.raises(ParameterError, match=words):
        run(study, tmp_path / "model.onnx", **options)


def test_a_missing_package_is_named_with_its_extra(study, tmp_path, monkeypatch):
    monkeypatch.setattr(training_models, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"torch; pip install \"capsieve\[train,torch\]\""):
        run(study, tmp_path / "model.onnx", model="cnn")
