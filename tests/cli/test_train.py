import json
import signal
import sys

import pytest

from capsieve.cli import train as command
from capsieve.screening.screen import screen
from capsieve.training import run as training
from support.commands import assert_failed, run_command
from support.training_study import write_study, write_study_labels

pytest.importorskip("sklearn", reason="training needs the extra train")
pytest.importorskip("skl2onnx", reason="training needs the extra train")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    screen(write_study(folder / "exams"), folder / "results", workers=1)
    return folder / "results", write_study_labels(folder / "labels.csv")


def arguments(study, out):
    results, labels = study
    usual = ["--model", "svm", "--workers", "1", "--bootstrap-samples", "100"]
    return ["train", results, "--labels", labels, "-o", out, *usual]


@pytest.mark.slow
def test_it_prints_the_figures_and_what_to_do_next(run, study, tmp_path):
    out, texts = tmp_path / "model.onnx", tmp_path / "texts.toml"
    texts.write_text('name = "mine"\n[[data]]\nname = "frames"\nlicence = "CC0"\n')
    first = [*arguments(study, out), "--folds", "4", "--card", texts]
    result = run(*first)
    assert result.exit_code == 0, result.output
    assert "AUC per frame" in result.stdout
    assert "Sensitivity per polyp, for 90 %" in result.stdout
    assert f"--detector {out}" in result.stdout
    assert "Fold 4 (4 of 4): fitting: 1 of 1" in result.stderr
    assert_failed(run(*first), "model.onnx exists", "--overwrite")
    again = run(*first, "--json", "--quiet", "--overwrite")
    content = json.loads(again.stdout)
    assert content["card"]["name"] == "mine"
    assert content["scores"] == str(tmp_path / "model.scores.csv")
    assert not again.stderr


def test_the_model_must_be_named_and_the_message_says_how_to_choose(run, study, tmp_path):
    results, labels = study
    result = run("train", results, "--labels", labels, "-o", tmp_path / "model.onnx")
    assert_failed(result, "--model", "cnn", "svm", "forest", "carry over", code=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--model", "oracle"], "--model"),
        (["--splits", "folds.csv", "--folds", "3"], "--folds"),
        (["--specificity", "0.9"], "--specificity"),
        (["--licence", "CC0"], "--licence"),
    ],
)
def test_wrong_usage_is_exit_code_2(run, study, tmp_path, more, words):
    result = run(*arguments(study, tmp_path / "model.onnx"), *more)
    assert result.exit_code == 2
    assert words in result.stderr


def test_work_that_fails_is_one_sentence_and_exit_code_1(study, tmp_path):
    labels = write_study_labels(tmp_path / "labels.csv", classes="normal normal")
    result = run_command(*arguments((study[0], labels), tmp_path / "model.onnx"))
    assert result.returncode == 1
    assert "labels no frame as polyp" in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_interrupted_run_says_how_to_continue(run, study, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "train", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    result = run(*arguments(study, tmp_path / "model.onnx"), "--overwrite")
    assert result.exit_code != 0
    assert "the same command without --overwrite" in result.stderr


def told(**options):
    with command._progress(**options) as progress:
        for done in range(3):
            progress("Fold 1", done, 2)
        progress("Fold 2", 0, 2)


def test_progress_is_lines_if_there_is_no_terminal(capsys):
    told(quiet=False)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["Fold 1: 0 of 2", "Fold 1: 2 of 2", "Fold 2: 0 of 2"]


def test_progress_is_a_bar_on_a_terminal_and_nothing_if_quiet(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    told(quiet=False)
    assert "Fold 2" in capsys.readouterr().err
    told(quiet=True)
    assert not capsys.readouterr().err
